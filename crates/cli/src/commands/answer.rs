//! A person's answers: `baton approve`, `reject`, `modify` and `answer`.

use baton_api::{AnswerWord, PersonsWord};
use serde_json::value::RawValue;

use super::outcome::tell;
use crate::api::{Api, Ask};
use crate::args::{self, AnswerChoice, Say, Which, WriteArgs};
use crate::failure::Failure;
use crate::payload;

pub(crate) async fn run(api: &Api, args: &args::AnswerArgs) -> Result<(), Failure> {
    let answer = match args.choice {
        Some(AnswerChoice::HandTo) => AnswerWord::HandTo,
        None => AnswerWord::Answer,
        Some(AnswerChoice::Continue) => AnswerWord::Continue,
        Some(AnswerChoice::Accept) => AnswerWord::Accept,
        Some(AnswerChoice::Abort) => AnswerWord::Abort,
        Some(AnswerChoice::Approve) => AnswerWord::Approve,
        Some(AnswerChoice::Reject) => AnswerWord::Reject,
        Some(AnswerChoice::Question) => AnswerWord::Question,
    };
    let is_handed = matches!(args.choice, Some(AnswerChoice::HandTo));
    if args.agent.is_some() && !is_handed {
        return Err(Failure::Usage("only `hand-to` takes an agent".to_owned()));
    }
    let word = PersonsWord {
        answer,
        to_agent: args.agent.clone(),
        comment: payload::words(args.comment.as_ref())?,
        package: None,
    };
    say(api, &args.which, &args.write, &word).await
}

pub(crate) async fn approve(api: &Api, args: &Say) -> Result<(), Failure> {
    say(api, &args.which, &args.write, &word(args, AnswerWord::Approve, None)?).await
}

pub(crate) async fn reject(api: &Api, args: &Say) -> Result<(), Failure> {
    say(api, &args.which, &args.write, &word(args, AnswerWord::Reject, None)?).await
}

pub(crate) async fn modify(api: &Api, args: &args::Modify) -> Result<(), Failure> {
    let package = payload::package(&args.payload)?;
    let word = word(&args.say, AnswerWord::Modify, Some(package))?;
    say(api, &args.say.which, &args.say.write, &word).await
}

fn word(
    args: &Say,
    answer: AnswerWord,
    package: Option<Box<RawValue>>,
) -> Result<PersonsWord, Failure> {
    let comment = payload::words(args.comment.as_ref())?;
    Ok(PersonsWord { answer, to_agent: None, comment, package })
}

async fn say(
    api: &Api,
    which: &Which,
    write: &WriteArgs,
    word: &PersonsWord,
) -> Result<(), Failure> {
    let ask = Ask::post(["inbox", &which.handoff, "answer"], word).of(which);
    tell(api, &ask.writing(write)).await
}

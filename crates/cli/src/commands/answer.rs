//! A person's answers: `baton approve`, `reject`, `modify` and `answer`.

use baton_api::PersonsWord;
use baton_core::gate::AnswerKind;
use serde_json::value::RawValue;

use super::outcome::tell;
use crate::api::{Api, Ask};
use crate::args::{self, Say, Which, WriteArgs};
use crate::failure::Failure;
use crate::payload;

pub(crate) async fn run(api: &Api, args: &args::AnswerArgs) -> Result<(), Failure> {
    let answer = args.choice.unwrap_or(AnswerKind::Reply);
    let is_handed = answer == AnswerKind::HandTo;
    if args.agent.is_some() && !is_handed {
        return Err(Failure::Usage("only `hand-to` takes an agent".to_owned()));
    }
    let word = PersonsWord {
        answer: answer.into(),
        to_agent: args.agent.clone(),
        comment: payload::words(args.comment.as_ref())?,
        package: None,
    };
    say(api, &args.which, &args.write, &word).await
}

pub(crate) async fn approve(api: &Api, args: &Say) -> Result<(), Failure> {
    say(api, &args.which, &args.write, &word(args, AnswerKind::Approve, None)?).await
}

pub(crate) async fn reject(api: &Api, args: &Say) -> Result<(), Failure> {
    say(api, &args.which, &args.write, &word(args, AnswerKind::Reject, None)?).await
}

pub(crate) async fn modify(api: &Api, args: &args::Modify) -> Result<(), Failure> {
    let package = payload::package(&args.payload)?;
    let word = word(&args.say, AnswerKind::Modify, Some(package))?;
    say(api, &args.say.which, &args.say.write, &word).await
}

fn word(
    args: &Say,
    answer: AnswerKind,
    package: Option<Box<RawValue>>,
) -> Result<PersonsWord, Failure> {
    let comment = payload::words(args.comment.as_ref())?;
    Ok(PersonsWord { answer: answer.into(), to_agent: None, comment, package })
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

//! A person's answers: `baton approve`, `delegate`, `reject`, `modify` and `answer`.

use baton_api::{PersonsWord, VoteDelegation};
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
        content_hash: None,
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

/// Passes the caller's vote on.
pub(crate) async fn delegate(api: &Api, args: &args::DelegateArgs) -> Result<(), Failure> {
    let comment = payload::words(args.comment.as_ref())?;
    let to = VoteDelegation { to: args.to.clone(), comment };
    let ask = Ask::post(["inbox", &args.which.handoff, "delegate"], &to).of(&args.which);
    tell(api, &ask.writing(&args.write)).await
}

fn word(
    args: &Say,
    answer: AnswerKind,
    package: Option<Box<RawValue>>,
) -> Result<PersonsWord, Failure> {
    let comment = payload::words(args.comment.as_ref())?;
    let content_hash = args.content_hash.clone();
    Ok(PersonsWord { answer: answer.into(), to_agent: None, comment, content_hash, package })
}

async fn say(
    api: &Api,
    which: &Which,
    write: &WriteArgs,
    word: &PersonsWord,
) -> Result<(), Failure> {
    let ask = Ask::post(["inbox", &which.handoff, "answer"], word).of(which);
    let said = tell(api, &ask.writing(write)).await;
    said.map_err(|failure| failure.with_hint("not_a_gate", || for_agents(which, word)))
}

/// The commands of agents for the same words: people answer gates, agents handoffs.
fn for_agents(which: &Which, word: &PersonsWord) -> String {
    let handoff = which.typed();
    match *word.answer {
        AnswerKind::Reject => format!(
            "`baton reject` answers a gate; `baton handoff reject {handoff} --reason TEXT` gives an \
             agent's work back"
        ),
        AnswerKind::Approve | AnswerKind::Modify | AnswerKind::Accept => format!(
            "`baton approve` answers a gate; an agent takes work with `baton handoff accept {handoff}` and \
             finishes it with `baton handoff complete {handoff}`"
        ),
        AnswerKind::Reply
        | AnswerKind::Question
        | AnswerKind::Continue
        | AnswerKind::HandTo
        | AnswerKind::Abort => format!(
            "`baton answer` answers what waits for a person; an agent answers a question with \
             `baton handoff answer {handoff} --text TEXT`"
        ),
    }
}

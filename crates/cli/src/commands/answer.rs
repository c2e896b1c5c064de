//! What a person says: `baton approve`, `reject`, `modify` and `answer`.

use baton_core::command::{Command, GateAnswer};
use baton_core::gate::Answer;
use baton_core::names::AgentId;
use baton_core::package::Package;

use super::outcome::tell;
use crate::args::{self, Choice, Say, Which, Write};
use crate::failure::Failure;
use crate::names::find_handoff;
use crate::payload;
use crate::session::Session;

pub(crate) async fn run(session: &Session, args: &args::Answer) -> Result<(), Failure> {
    let answer = match (args.choice, &args.agent) {
        (Some(Choice::HandTo), agent) => {
            Answer::HandTo(AgentId::parse(agent.as_deref().unwrap_or_default())?)
        }
        (_, Some(_)) => return Err(Failure::Usage("only `hand-to` takes an agent".to_owned())),
        (None, None) => Answer::Reply,
        (Some(Choice::Continue), None) => Answer::Continue,
        (Some(Choice::Accept), None) => Answer::Accept,
        (Some(Choice::Abort), None) => Answer::Abort,
        (Some(Choice::Approve), None) => Answer::Approve,
        (Some(Choice::Reject), None) => Answer::Reject,
        (Some(Choice::Question), None) => Answer::Question,
    };
    say(session, &args.which, &args.write, answer, args.comment.as_ref(), None).await
}

pub(crate) async fn approve(session: &Session, args: &Say) -> Result<(), Failure> {
    let Say { which, comment, write } = args;
    say(session, which, write, Answer::Approve, comment.as_ref(), None).await
}

pub(crate) async fn reject(session: &Session, args: &Say) -> Result<(), Failure> {
    let Say { which, comment, write } = args;
    say(session, which, write, Answer::Reject, comment.as_ref(), None).await
}

pub(crate) async fn modify(session: &Session, args: &args::Modify) -> Result<(), Failure> {
    let Say { which, comment, write } = &args.say;
    let package = payload::package(&args.payload)?;
    say(session, which, write, Answer::Modify, comment.as_ref(), Some(package)).await
}

async fn say(
    session: &Session,
    which: &Which,
    write: &Write,
    answer: Answer,
    comment: Option<&String>,
    package: Option<Package>,
) -> Result<(), Failure> {
    let comment = payload::words(comment)?;
    let words = comment.as_ref().map_or("", |it| it.as_str());
    let text = package.as_ref().map_or("", |it| it.text.as_ref());
    let caller = session.caller_with(write, &format!("{words}\0{text}"));
    let by = session.principal().clone();
    let handoff = find_handoff(&session.engine, which).await?;
    let command = |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment, package });
    let outcome = session.engine.on_handoff(&caller, &handoff, command).await?;
    tell(session, write, &outcome).await
}

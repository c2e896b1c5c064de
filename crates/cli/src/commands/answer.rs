//! A person's answers: `baton approve`, `delegate`, `reject`, `modify` and `answer`.

use baton_api::{ApprovalsDocument, GateDocument, HandoffDetail, PersonsWord, VoteDelegation};
use baton_core::gate::AnswerKind;
use serde_json::value::RawValue;

use super::outcome::{Deed, show_deed, tell_deed};
use crate::api::{Api, Ask};
use crate::args::{self, Say, Which, WriteArgs};
use crate::failure::Failure;
use crate::payload;
use crate::show::OutputFormat;

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
    let object = format!("your vote at handoff {} on to {}", args.which.typed(), args.to);
    tell_deed(api, &ask.writing(&args.write), &Deed::new("passed", "pass", &object)).await
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
    let reply = api.send(&ask.writing(write)).await;
    let reply =
        reply.map_err(|failure| failure.with_hint("not_a_gate", || for_agents(which, word)))?;
    let mut deed = deed(which, word);
    let is_vote = api.format == OutputFormat::Table && *word.answer == AnswerKind::Approve;
    if is_vote && let Some(missing) = missing_approvals(api, which).await {
        deed = deed.but(&missing);
    }
    show_deed(api, &reply, &deed)
}

fn deed(which: &Which, word: &PersonsWord) -> Deed {
    let handoff = format!("handoff {}", which.typed());
    match *word.answer {
        AnswerKind::Approve => Deed::new("approved", "approve", &handoff),
        AnswerKind::Reject => Deed::new("rejected", "reject", &handoff),
        AnswerKind::Modify => {
            Deed::new("approved", "approve", &format!("{handoff} with your package in its place"))
        }
        AnswerKind::Accept => Deed::new("accepted", "accept", &format!("{handoff} as it is")),
        AnswerKind::Reply => Deed::new("answered", "answer", &handoff),
        AnswerKind::Question => {
            Deed::new("asked", "ask", &format!("the sender of {handoff}, before you decide"))
        }
        AnswerKind::Continue => Deed::new("let", "let", &format!("{handoff} go on")),
        AnswerKind::HandTo => {
            let agent = word.to_agent.as_deref().unwrap_or("another agent");
            Deed::new("gave", "give", &format!("{handoff} to {agent}"))
        }
        AnswerKind::Abort => {
            Deed::new("cancelled", "cancel", &format!("the run, by an answer to {handoff}"))
        }
    }
}

/// What a gate still needs after an approval, such as `1 of 2 approvals; ben or carl may approve`.
/// The approval is recorded in any case, so that a failure here is none of the command.
async fn missing_approvals(api: &Api, which: &Which) -> Option<String> {
    let ask = Ask::get(["handoffs", &which.handoff]).of(which);
    let detail: HandoffDetail = api.get(&ask).await.ok()?;
    match detail.beside.question? {
        GateDocument::Open(gate) => {
            let ApprovalsDocument { need, given, open, any_person, .. } = gate.approvals?;
            let who = match open.as_slice() {
                _ if any_person => "any other person may approve".to_owned(),
                [] => {
                    "nobody else may approve, so reject it, or waive the gate with `baton run goto`"
                        .to_owned()
                }
                open => format!("{} may approve", open.join(" or ")),
            };
            Some(format!("{} of {need} approvals; {who}", given.len()))
        }
        GateDocument::Answered(_) => None,
    }
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

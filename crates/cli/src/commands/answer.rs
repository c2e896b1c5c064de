//! `baton answer`: a person says how a run goes on.

use baton_core::command::{Command, GateAnswer};
use baton_core::gate::Answer;
use baton_core::names::AgentId;

use super::handoff::reason_of;
use super::outcome::tell;
use crate::args::{self, Choice};
use crate::failure::Failure;
use crate::names::find_handoff;
use crate::session::Session;

pub(crate) async fn run(session: &Session, args: &args::Answer) -> Result<(), Failure> {
    let answer = match (args.choice, &args.agent) {
        (Choice::HandTo, agent) => {
            Answer::HandTo(AgentId::parse(agent.as_deref().unwrap_or_default())?)
        }
        (_, Some(_)) => return Err(Failure::Usage("only `hand-to` takes an agent".to_owned())),
        (Choice::Continue, None) => Answer::Continue,
        (Choice::Accept, None) => Answer::Accept,
        (Choice::Abort, None) => Answer::Abort,
        (Choice::Approve, None) => Answer::Approve,
        (Choice::Reject, None) => Answer::Reject,
    };
    let comment = reason_of(args.comment.as_ref())?;
    let by = session.principal().clone();
    let handoff = find_handoff(&session.engine, &args.which).await?;
    let command = |handoff| Command::Answer(GateAnswer { handoff, answer, by, comment });
    let caller = session.caller(&args.write);
    let outcome = session.engine.on_handoff(&caller, &handoff, command).await?;
    tell(session, &args.write, &outcome).await
}

//! A part of held work: delegate it, give it back, ask a person; and say that one is alive.

use baton_core::command::{Create, Token, Way};
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_engine::In;
use baton_store::{HandoffRow, RunRef};

use super::{profile_of, reason_of};
use crate::args::{Part, Which};
use crate::commands::outcome::tell;
use crate::failure::Failure;
use crate::names::find_handoff;
use crate::payload;
use crate::session::Session;
use crate::show::{self, Format};

pub(super) async fn delegate(session: &Session, part: &Part, to: &str) -> Result<(), Failure> {
    let row = held(session, part).await?;
    let to = AgentId::parse(to)?;
    send(session, part, &row, to, Way::Delegation, None).await
}

pub(super) async fn escalate(session: &Session, part: &Part) -> Result<(), Failure> {
    let row = held(session, part).await?;
    send(session, part, &row, AgentId::human(), Way::Escalation, None).await
}

pub(super) async fn give_back(
    session: &Session,
    part: &Part,
    outcome: Outcome,
) -> Result<(), Failure> {
    let row = held(session, part).await?;
    let run = session.engine.run(&RunRef::Id(row.run)).await?;
    // Where nobody waits for it the rules will say so, whoever is named.
    let caller = run.run.caller_of(row.no).map_or(&row.from.agent, |it| &it.to.agent).clone();
    send(session, part, &row, caller, Way::Return, Some(outcome)).await
}

async fn held(session: &Session, part: &Part) -> Result<HandoffRow, Failure> {
    let which = find_handoff(&session.engine, &part.which).await?;
    Ok(session.engine.handoff(&which).await?)
}

async fn send(
    session: &Session,
    part: &Part,
    row: &HandoffRow,
    to: AgentId,
    way: Way,
    outcome: Option<Outcome>,
) -> Result<(), Failure> {
    let package = payload::package(&part.payload)?;
    let caller = session.caller_with(&part.write, &package.text);
    let create = Create {
        from: row.to.agent.clone(),
        to,
        package,
        outcome,
        reason: reason_of(part.reason.as_ref())?,
        supersedes: None,
        way: Some(way),
        token: part.fence.fence.map(|fence| Token { handoff: row.no, fence }),
        profile: profile_of(session, &part.profile),
    };
    let within = In::Run(RunRef::Id(row.run));
    let outcome = session.engine.create(&caller, within, create).await?;
    tell(session, &part.write, &outcome).await
}

pub(super) async fn heartbeat(session: &Session, which: &Which, fence: u32) -> Result<(), Failure> {
    let handoff = find_handoff(&session.engine, which).await?;
    let until = session.engine.heartbeat(&handoff, fence).await?;
    match session.format {
        Format::Json => show::answer_json(&baton_core::document::Node::map([(
            "leaseUntil",
            baton_core::document::Node::text(until.to_string()),
        )])),
        Format::Table => show::answer(&format!("yours until {}", show::Times::local().show(until))),
    }
    Ok(())
}

//! Handoffs as rows of seed 000's table: its columns, its words, its times.

use baton_core::document::{Node, Number};
use baton_core::run::{Ended, State};
use baton_engine::{EngineError, Texts};
use baton_store::{HandoffRow, HandoffState};
use baton_wire::json;
use jiff::Timestamp;

use crate::App;

/// The seed has five words; ours are finer, and stand in `state`.
pub(crate) fn status(state: HandoffState) -> &'static str {
    match state {
        HandoffState::Open(State::Pending | State::Clarification) => "pending",
        HandoffState::Open(State::Accepted | State::Parked)
        | HandoffState::Ended(Ended::Completed) => "accepted",
        HandoffState::Ended(Ended::Rejected) => "rejected",
        HandoffState::Ended(Ended::TimedOut) => "timed_out",
        HandoffState::Ended(Ended::Cancelled | Ended::Superseded) => "cancelled",
    }
}

pub(super) fn row(row: &HandoffRow, texts: &Texts) -> Node {
    let payload = row.package.and_then(|it| texts.get(it));
    let payload =
        payload.map_or(Node::Null, |it| json::parse(it).unwrap_or_else(|_| Node::text(it)));
    let is_rejected = row.state == HandoffState::Ended(Ended::Rejected);
    let rejection = row.ended_reason.filter(|_| is_rejected).and_then(|it| texts.get(it));
    let processed_at = row.accepted_at.or(row.ended_at);
    Node::map([
        ("id", number(row.number)),
        ("story_id", Node::text(row.story.as_str())),
        ("from_agent", Node::text(row.from.agent.as_str())),
        ("to_agent", Node::text(row.to.agent.as_str())),
        ("status", Node::text(status(row.state))),
        ("payload", payload),
        ("rejection_reason", rejection.map_or(Node::Null, Node::text)),
        ("created_at", time(row.created_at)),
        ("processed_at", processed_at.map_or(Node::Null, time)),
        ("state", Node::text(row.state.name())),
        ("kind", Node::text(row.kind.name())),
        ("reason", texts.get(row.reason).map_or(Node::Null, Node::text)),
    ])
}

pub(super) async fn one(app: &App, it: &HandoffRow) -> Result<Node, EngineError> {
    let texts = app.engine.texts_of(std::slice::from_ref(it)).await?;
    Ok(row(it, &texts))
}

pub(super) async fn all(app: &App, rows: &[HandoffRow]) -> Result<Node, EngineError> {
    let texts = app.engine.texts_of(rows).await?;
    Ok(Node::List(rows.iter().map(|it| row(it, &texts)).collect()))
}

pub(crate) fn number(number: u64) -> Node {
    Node::Number(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// UTC with milliseconds, which sort as text.
pub(crate) fn time(at: Timestamp) -> Node {
    Node::Text(format!("{at:.3}"))
}

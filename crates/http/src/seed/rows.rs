//! Handoffs as rows of seed 000's table: its columns, its words, its times.

use baton_core::content::ContentId;
use baton_core::document::{Node, Number};
use baton_core::run::{Ended, State};
use baton_engine::{EngineError, Texts};
use baton_store::{HandoffRow, HandoffState};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

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

/// A row of seed 000's table.
#[derive(Serialize, ToSchema)]
#[schema(as = SeedRow)]
pub(super) struct Row {
    id: u64,
    story_id: String,
    from_agent: String,
    to_agent: String,
    #[schema(example = "pending")]
    status: &'static str,
    /// Any JSON, as it was sent.
    #[schema(value_type = serde_json::Value)]
    payload: Option<Box<RawValue>>,
    rejection_reason: Option<String>,
    created_at: String,
    processed_at: Option<String>,
    /// The native word.
    state: &'static str,
    kind: &'static str,
    reason: Option<String>,
}

impl Row {
    fn new(row: &HandoffRow, texts: &Texts) -> Self {
        let words = |id: ContentId| texts.get(id).map(str::to_owned);
        let is_rejected = row.state == HandoffState::Ended(Ended::Rejected);
        Self {
            id: row.number,
            story_id: row.story.to_string(),
            from_agent: row.from.agent.to_string(),
            to_agent: row.to.agent.to_string(),
            status: status(row.state),
            payload: row.package.and_then(|it| texts.get(it)).and_then(raw_json),
            rejection_reason: row.ended_reason.filter(|_| is_rejected).and_then(words),
            created_at: time_text(row.created_at),
            processed_at: row.accepted_at.or(row.ended_at).map(time_text),
            state: row.state.name(),
            kind: row.kind.name(),
            reason: words(row.reason),
        }
    }
}

pub(super) async fn one(app: &App, row: &HandoffRow) -> Result<Row, EngineError> {
    let texts = app.engine.texts_of(std::slice::from_ref(row)).await?;
    Ok(Row::new(row, &texts))
}

pub(super) async fn all(app: &App, rows: &[HandoffRow]) -> Result<Vec<Row>, EngineError> {
    let texts = app.engine.texts_of(rows).await?;
    Ok(rows.iter().map(|it| Row::new(it, &texts)).collect())
}

/// JSON as it stands; another format as a text.
pub(crate) fn raw_json(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).or_else(|_| serde_json::value::to_raw_value(text)).ok()
}

pub(crate) fn number(number: u64) -> Node {
    Node::Number(Number::from(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// UTC with milliseconds, which sort as text.
pub(crate) fn time(at: Timestamp) -> Node {
    Node::Text(time_text(at))
}

fn time_text(at: Timestamp) -> String {
    format!("{at:.3}")
}

//! Handoffs as rows of the pipeline document's table: its columns, its values, its times.

use baton_api::pipeline::PipelineRow;
use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::names::Reason;
use baton_core::run::{Ended, HandoffState, State};
use baton_engine::{EngineError, Texts};
use baton_store::HandoffRow;
use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// The pipeline API has five statuses; our states are finer, and are in `state`.
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

/// How much of a reason a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasonLength {
    /// One handoff by itself.
    Whole,
    /// A handoff among others.
    Excerpt,
}

impl ReasonLength {
    /// The text, and whether it is cut.
    pub(crate) fn of(self, text: Option<&str>) -> (Option<String>, bool) {
        let excerpt = match self {
            ReasonLength::Whole => None,
            ReasonLength::Excerpt => text.and_then(Reason::excerpt),
        };
        let is_cut = excerpt.is_some();
        (excerpt.or_else(|| text.map(str::to_owned)), is_cut)
    }
}

fn pipeline_row(row: &HandoffRow, texts: &Texts, shown: ReasonLength) -> PipelineRow {
    let (reason, reason_truncated) = shown.of(texts.get(row.reason).whole());
    let ended = row.ended_reason.and_then(|it: ContentId| texts.get(it).whole());
    let (ended_reason, ended_reason_truncated) = shown.of(ended);
    let is_rejected = row.state == HandoffState::Ended(Ended::Rejected);
    PipelineRow {
        id: row.number,
        story_id: row.story.to_string(),
        from_agent: row.from.agent.to_string(),
        to_agent: row.to.agent.to_string(),
        status: status(row.state).into(),
        payload: row.package.and_then(|it| texts.get(it).whole()).and_then(raw_json),
        rejection_reason: ended_reason.clone().filter(|_| is_rejected),
        created_at: time_text(row.created_at),
        processed_at: processed_at(row).map(time_text),
        state: row.state.name().into(),
        kind: row.kind.name().into(),
        reason,
        ended_reason,
        reason_truncated,
        ended_reason_truncated,
        payload_left_out: false,
        damaged: [
            ("reason", Some(row.reason)),
            ("rejection_reason", row.ended_reason.filter(|_| is_rejected)),
            ("ended_reason", row.ended_reason),
            ("payload", row.package),
        ]
        .into_iter()
        .filter(|(_, id)| id.is_some_and(|it| texts.get(it).is_damaged()))
        .map(|(name, _)| name.to_owned())
        .collect(),
    }
}

/// When the receiver dealt with it: its answer, and not an acceptance that came to nothing.
fn processed_at(row: &HandoffRow) -> Option<Timestamp> {
    match row.state {
        HandoffState::Open(_) | HandoffState::Ended(Ended::Completed) => {
            row.accepted_at.or(row.ended_at)
        }
        HandoffState::Ended(
            Ended::Rejected | Ended::TimedOut | Ended::Cancelled | Ended::Superseded,
        ) => row.ended_at,
    }
}

pub(super) async fn one(app: &RequestScope, row: &HandoffRow) -> Result<PipelineRow, EngineError> {
    let texts = app.read().texts_of(std::slice::from_ref(row)).await?;
    Ok(pipeline_row(row, &texts, ReasonLength::Whole))
}

/// How many rows a response has at most.
pub(super) const MOST_ROWS: u32 = 500;
/// How many bytes of payloads a response has at most.
const MOST_PAYLOADS: usize = 8 * 1024 * 1024;
/// Rows whose payloads are read at once.
const AT_ONCE: usize = 8;

/// Which end of a list keeps its payloads if not all fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    First,
    Last,
}

/// The rows of a list, and how many of them lack their payload.
pub(super) async fn all(
    app: &RequestScope,
    found: Vec<HandoffRow>,
    keeps: Keeps,
) -> Result<(Vec<PipelineRow>, usize), ApiProblem> {
    let words = app.read().words_of(&found).await?;
    let mut rows: Vec<PipelineRow> =
        found.iter().map(|it| pipeline_row(it, &words, ReasonLength::Excerpt)).collect();
    let mut places: Vec<usize> = (0..found.len()).collect();
    if keeps == Keeps::Last {
        places.reverse();
    }
    let (mut n_bytes, mut n_left_out) = (0, 0);
    for places in places.chunks(AT_ONCE) {
        let with_package: Vec<HandoffRow> = places
            .iter()
            .filter(|_| n_bytes <= MOST_PAYLOADS)
            .map(|it| found[*it].clone())
            .collect();
        let texts = app.read().packages_of(&with_package).await?;
        let mut packages = Vec::new();
        for &place in places {
            let Some(id) = found[place].package else { continue };
            let text = texts.get(id);
            match text.whole().filter(|it| n_bytes + it.len() <= MOST_PAYLOADS) {
                Some(text) => {
                    n_bytes += text.len();
                    packages.push((place, text.to_owned()));
                }
                None if text.whole().is_some() || with_package.is_empty() => {
                    // The newest row of a story always has its payload, but then no other payload
                    // follows.
                    n_bytes = n_bytes.max(MOST_PAYLOADS + 1);
                    rows[place].payload_left_out = true;
                    n_left_out += 1;
                }
                // A payload that was lost in a recovery is not there at all.
                None if text.is_damaged() => rows[place].damaged.push("payload".to_owned()),
                None => {}
            }
        }
        let size = packages.iter().map(|(_, text)| text.len()).sum();
        let parse = move || -> Vec<(usize, Option<Box<RawValue>>)> {
            packages.into_iter().map(|(place, text)| (place, raw_json(&text))).collect()
        };
        for (place, payload) in app.heavy.render(size, parse).await? {
            rows[place].payload = payload;
        }
    }
    Ok((rows, n_left_out))
}

/// JSON as it stands; another format as a string.
pub(crate) fn raw_json(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).or_else(|_| serde_json::value::to_raw_value(text)).ok()
}

/// UTC with milliseconds, which sorts as text.
pub(crate) fn time(at: Timestamp) -> Node {
    Node::Text(time_text(at))
}

pub(super) fn time_text(at: Timestamp) -> String {
    format!("{at:.3}")
}

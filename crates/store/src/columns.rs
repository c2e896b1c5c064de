//! How values stand in the columns of both SQL backends.

use baton_core::names::{AgentId, StepId};
use baton_core::outcome::Outcome;
use baton_core::workflow::Place;
use jiff::Timestamp;

use crate::{StoreError, StoreResult};

const STEP: &str = "step:";
const DELEGATE: &str = "delegate:";

/// For a time to be stored.
pub fn nanoseconds(at: Timestamp) -> StoreResult<i64> {
    i64::try_from(at.as_nanosecond()).map_err(|_| StoreError::Damaged {
        what: "a time outside the years 1678 to 2261".to_owned(),
    })
}

/// For a time to compare with: a time out of range sorts before or after all stored ones.
pub fn nearest_nanoseconds(at: Timestamp) -> i64 {
    let nearest = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(nearest).unwrap_or(i64::MAX)
}

/// For a number to look up: one too large for the database matches no row.
pub fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub fn place_text(place: &Place) -> String {
    match place {
        Place::Orchestrator | Place::Human => place.to_string(),
        Place::Step(id) => format!("{STEP}{id}"),
        Place::Delegate(agent) => format!("{DELEGATE}{agent}"),
    }
}

pub fn parse_place(text: &str) -> Option<Place> {
    if let Some(id) = text.strip_prefix(STEP) {
        return Some(Place::Step(StepId::parse(id).ok()?));
    }
    if let Some(agent) = text.strip_prefix(DELEGATE) {
        return Some(Place::Delegate(AgentId::parse(agent).ok()?));
    }
    [Place::Orchestrator, Place::Human].into_iter().find(|it| it.to_string() == text)
}

/// Unlike [`Outcome::parse`], which reads what senders write, it accepts only our own words.
pub fn parse_outcome(name: &str) -> Option<Outcome> {
    Outcome::CLAIMABLE.into_iter().chain([Outcome::Unknown]).find(|it| it.name() == name)
}

/// A list of texts as JSON.
pub fn list_text(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

pub fn parse_list(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

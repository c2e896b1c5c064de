//! What a document states of itself: its sender, its outcome, its reason.

use baton_core::names::{AgentId, NameError, Reason};
use baton_core::outcome::Outcome as StepOutcome;
use baton_core::view::{Meaning, OutcomeClaim, View};

use super::DocumentHints;
use crate::EngineError;

/// An unknown status could mean anything, so it is not taken for a success.
pub(super) fn outcome_of(view: &View) -> Result<Option<StepOutcome>, EngineError> {
    match &view.claim {
        Some(OutcomeClaim { word, meaning: Meaning::Unknown }) => {
            let known: Vec<&str> = StepOutcome::CLAIMABLE.iter().map(|it| it.name()).collect();
            let why = format!("its status `{word}` is none of {}", known.join(", "));
            Err(EngineError::BadDocument { why })
        }
        Some(claim) => Ok(claim.outcome()),
        // An error document of the XML handoff may leave its status out.
        None => Ok(view.error.as_ref().map(|_| StepOutcome::Failure)),
    }
}

pub(super) fn named_sender(
    view: &View,
    hints: &DocumentHints,
) -> Result<Option<AgentId>, EngineError> {
    match (&view.sender, &hints.agent) {
        (Some(named), _) => agent("the sender", named).map(Some),
        (None, agent) => Ok(agent.clone()),
    }
}

pub(super) fn agent(side: &str, name: &str) -> Result<AgentId, EngineError> {
    AgentId::parse(name)
        .map_err(|error| EngineError::BadDocument { why: format!("{side}: {error}") })
}

pub(super) fn reason_of(view: &View) -> Result<Option<Reason>, EngineError> {
    view.reason.as_deref().map(Reason::parse).transpose().map_err(bad)
}

pub(super) fn bad(error: NameError) -> EngineError {
    EngineError::BadDocument { why: error.to_string() }
}

//! Blocked work on its way to an agent that can resolve what blocks it.

use serde::{Deserialize, Serialize};

use crate::gate::Gate;
use crate::named::named;
use crate::run::Party;

/// Why a handoff goes to a resolver, and what comes after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detour {
    /// The word of the blocked agent's document, as the workflow's table has it.
    pub reason: String,
    /// The domain of the blocked agent, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// What a person is asked if the resolver does not resolve it. Its worker is the blocked agent,
    /// which works on from `given` once the blockers are resolved.
    pub gate: Gate,
}

impl Detour {
    /// The agent that is blocked, at its step.
    pub fn blocked(&self) -> &Party {
        &self.gate.worker
    }
}

named! {
    /// Why blockers may go elsewhere than the workflow's table says. Nothing else is a reason.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RerouteCause {
        /// Several agents are blocked by one matter, which one of them resolves for all.
        Consolidate = "consolidate",
        /// The decision is too large for an agent.
        MajorDecision = "major_decision",
        /// The matter does not belong to this phase.
        OutsidePhase = "outside_phase",
        /// The resolver has tried as often as it may.
        RetriesExhausted = "retries_exhausted",
    }
}

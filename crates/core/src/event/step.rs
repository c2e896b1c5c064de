//! Events of the steps of a workflow: begun, ended, left out, and work sent back to one.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::hash::Hash;
use crate::names::{AgentId, StepId};
use crate::outcome::Outcome;
use crate::run::{EdgeKey, is_false, is_first_branch};

event_family! {
    pub enum StepEvent => Step {
        "step.started" => Started { step: StepId, agent: AgentId },
        "step.completed" => Completed {
            step: StepId,
            agent: AgentId,
            outcome: Outcome,
            /// The agent rejected the work instead of doing it: the step has ended, but is not done.
            #[serde(default, skip_serializing_if = "is_false")]
            is_rejected: bool,
        },
        "step.skipped" => Skipped { step: StepId, reason: Option<ContentId> },
        /// Work was sent back where no handoff was rejected: the round is counted by this event.
        "round.counted" => RoundCounted {
            forward: EdgeKey,
            findings: Option<Hash>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
    }
}

impl EventFamily for StepEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Skipped { reason, .. } => EventTexts::words(*reason),
            Self::Started { .. } | Self::Completed { .. } | Self::RoundCounted { .. } => {
                EventTexts::default()
            }
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Started { step, agent } => {
                format!("{} begins the step {step}", style.agent(agent))
            }
            Self::Completed { step, agent, is_rejected: true, .. } => {
                format!("{} leaves the step {step}: the work is rejected", style.agent(agent))
            }
            Self::Completed { step, agent, outcome, is_rejected: false } => {
                format!("{} ends the step {step}: {}", style.agent(agent), outcome.name())
            }
            Self::Skipped { step, .. } => format!("the step {step} is skipped"),
            Self::RoundCounted { forward, .. } => {
                format!("work from {} to {} goes back", forward.from, forward.to)
            }
        }
    }
}

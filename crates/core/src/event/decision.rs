//! Events of decisions: recorded, replaced by another, locked.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::collaboration::DecisionItem;
use crate::content::ContentId;
use crate::names::{AgentId, Principal};
use crate::run::{HandoffNo, is_false};

event_family! {
    pub enum DecisionEvent => Decision {
        /// What a package decides, or one decision on its own.
        "decision.recorded" => Recorded {
            /// `human` for a person.
            by: AgentId,
            decisions: Vec<DecisionItem>,
            /// The handoff whose package states them.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            handoff: Option<HandoffNo>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            package: Option<ContentId>,
            /// The decision, where no package states it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            text: Option<ContentId>,
            /// What is shown of the agent. Where that is new to the run (`is_new_cast`), handoffs are
            /// shown so from the next one on. Earlier versions did not say that it was new.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            portrait: Option<ContentId>,
            #[serde(default, skip_serializing_if = "is_false")]
            is_new_cast: bool,
            /// The text that fingerprints are salted with from here on, where the run has none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            salt: Option<ContentId>,
        },
        "decision.superseded" => Superseded { decision: u32, replaced_by: u32 },
        "decision.locked" => Locked { decision: u32, by: Principal, reason: Option<ContentId> },
    }
}

impl EventFamily for DecisionEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Recorded { text, package, portrait, salt, .. } => EventTexts {
                package: *package,
                salt: *salt,
                portraits: [*portrait, None, None],
                ..EventTexts::words(*text)
            },
            Self::Superseded { .. } => EventTexts::default(),
            Self::Locked { reason, .. } => EventTexts::words(*reason),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Recorded { by, decisions, handoff, .. } => {
                let numbers: Vec<String> = decisions.iter().map(|it| it.no.to_string()).collect();
                let noun = if numbers.len() == 1 { "decision" } else { "decisions" };
                let within =
                    handoff.map_or_else(String::new, |it| format!(" with {}", style.handoff(it)));
                format!("{} records {noun} {}{within}", style.agent(by), numbers.join(", "))
            }
            Self::Superseded { decision, replaced_by } => {
                format!("decision {replaced_by} supersedes decision {decision}")
            }
            Self::Locked { decision, by, .. } => {
                format!("{} locks decision {decision}", style.principal(by))
            }
        }
    }
}

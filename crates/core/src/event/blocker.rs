//! Events of a blocker: raised by an agent, settled by a person.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::names::{AgentId, Principal};
use crate::run::HandoffNo;

event_family! {
    pub enum BlockerEvent => Blocker {
        "blocker.raised" => Raised { blocker: u32, handoff: HandoffNo, by: AgentId, about: ContentId },
        "blocker.resolved" => Resolved { blocker: u32, by: Principal, how: Option<ContentId> },
        /// The blocker was not resolved; the run goes on another way.
        "blocker.waived" => Waived { blocker: u32, by: Principal, why: Option<ContentId> },
    }
}

impl EventFamily for BlockerEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Raised { handoff, .. } => Some(*handoff),
            Self::Resolved { .. } | Self::Waived { .. } => None,
        }
    }

    fn texts(&self) -> EventTexts {
        match self {
            Self::Raised { about, .. } => EventTexts::words(*about),
            Self::Resolved { how: words, .. } | Self::Waived { why: words, .. } => {
                EventTexts::words(*words)
            }
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Raised { blocker, handoff, by, .. } => {
                let [by, handoff] = [style.agent(by), style.handoff(*handoff)];
                format!("{by} is blocked at {handoff} (blocker {blocker})")
            }
            Self::Resolved { blocker, by, .. } => {
                format!("{} resolves blocker {blocker}", style.principal(by))
            }
            Self::Waived { blocker, by, .. } => {
                format!("{} waives blocker {blocker}", style.principal(by))
            }
        }
    }
}

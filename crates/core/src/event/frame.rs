//! Events of a frame: a holder waits for a part of its work, and goes on.

use super::family::{EventFamily, SentenceStyle, event_family};
use crate::outcome::Outcome;
use crate::run::{HandoffNo, HandoffState, State, is_false};

event_family! {
    pub enum FrameEvent => Frame {
        /// The holder waits for a delegate or a person.
        "frame.opened" => Opened {
            caller: HandoffNo,
            /// A part was delegated, which is counted; not where a person is asked.
            #[serde(default, skip_serializing_if = "is_false")]
            is_delegation: bool,
        },
        /// What the holder waited for has arrived or will not come: the holder goes on.
        "frame.closed" => Closed { caller: HandoffNo, outcome: Outcome },
    }
}

impl EventFamily for FrameEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Opened { caller, .. } | Self::Closed { caller, .. } => Some(*caller),
        }
    }

    fn state_after(&self) -> Option<HandoffState> {
        Some(HandoffState::Open(match self {
            Self::Opened { .. } => State::Parked,
            Self::Closed { .. } => State::Accepted,
        }))
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Opened { caller, .. } => {
                format!("{} waits with {}", style.receiver(*caller), style.handoff(*caller))
            }
            Self::Closed { caller, outcome } => {
                let [receiver, handoff] = [style.receiver(*caller), style.handoff(*caller)];
                format!("{receiver} goes on with {handoff}: {}", outcome.name())
            }
        }
    }
}

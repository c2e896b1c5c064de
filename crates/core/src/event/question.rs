//! Events of a question about a handoff. On disk they are named after the handoff in question.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::names::AgentId;
use crate::run::{HandoffNo, HandoffState, State};

event_family! {
    pub enum QuestionEvent => Question {
        /// The receiver asked a question, which is a handoff of its own.
        "handoff.clarified" => Asked { handoff: HandoffNo, question: HandoffNo, by: AgentId },
        "handoff.answered" => Answered { handoff: HandoffNo, question: HandoffNo, answer: ContentId },
    }
}

impl EventFamily for QuestionEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Asked { handoff, .. } | Self::Answered { handoff, .. } => Some(*handoff),
        }
    }

    fn state_after(&self) -> Option<HandoffState> {
        Some(HandoffState::Open(match self {
            Self::Asked { .. } => State::Clarification,
            Self::Answered { .. } => State::Pending,
        }))
    }

    fn texts(&self) -> EventTexts {
        match self {
            Self::Asked { .. } => EventTexts::default(),
            Self::Answered { answer, .. } => EventTexts::words(*answer),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Asked { handoff, by, .. } => {
                format!("{} asks about {}", style.agent(by), style.handoff(*handoff))
            }
            Self::Answered { handoff, .. } => {
                format!("{} is answered, and offered again", style.handoff(*handoff))
            }
        }
    }
}

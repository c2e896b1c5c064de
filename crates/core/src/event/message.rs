//! Events of messages: an agent or an external system says how it goes, or an agent asks another one.

use jiff::Timestamp;

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::collaboration::CorrelationId;
use crate::content::ContentId;
use crate::names::AgentId;
use crate::run::is_false;

event_family! {
    pub enum MessageEvent => Message {
        "message.posted" => Posted {
            by: Option<AgentId>,
            text: ContentId,
            /// What is shown of the agent. Where that is new to the run (`is_new_cast`), handoffs are
            /// shown so from the next one on. Earlier versions did not say that it was new.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            portrait: Option<ContentId>,
            #[serde(default, skip_serializing_if = "is_false")]
            is_new_cast: bool,
        },
        /// One agent asks another inside a step.
        "message.asked" => Asked {
            ask: u32,
            correlation: CorrelationId,
            by: AgentId,
            to: AgentId,
            text: ContentId,
            due: Timestamp,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            portrait: Option<ContentId>,
            #[serde(default, skip_serializing_if = "is_false")]
            is_new_cast: bool,
        },
        "message.replied" => Replied {
            ask: u32,
            by: AgentId,
            text: ContentId,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            portrait: Option<ContentId>,
            #[serde(default, skip_serializing_if = "is_false")]
            is_new_cast: bool,
        },
        /// No answer came in time: the question is put once more.
        "message.repeated" => Repeated { ask: u32, due: Timestamp },
        "message.unanswered" => Unanswered { ask: u32 },
    }
}

impl EventFamily for MessageEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Posted { text, portrait, .. }
            | Self::Asked { text, portrait, .. }
            | Self::Replied { text, portrait, .. } => {
                EventTexts { portraits: [*portrait, None, None], ..EventTexts::words(*text) }
            }
            Self::Repeated { .. } | Self::Unanswered { .. } => EventTexts::default(),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Posted { by: Some(by), .. } => format!("{} posts a message", style.agent(by)),
            Self::Posted { by: None, .. } => "a message is posted".to_owned(),
            Self::Asked { ask, by, to, .. } => {
                format!("{} asks {} (question {ask})", style.agent(by), style.agent(to))
            }
            Self::Replied { ask, by, .. } => {
                format!("{} answers question {ask}", style.agent(by))
            }
            Self::Repeated { ask, .. } => {
                format!("question {ask} is not answered in time and put again")
            }
            Self::Unanswered { ask } => format!("question {ask} stays without an answer"),
        }
    }
}

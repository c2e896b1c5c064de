//! Events of messages: an agent or an external system says how it goes.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::names::AgentId;

event_family! {
    pub enum MessageEvent => Message {
        "message.posted" => Posted { by: Option<AgentId>, text: ContentId },
    }
}

impl EventFamily for MessageEvent {
    fn texts(&self) -> EventTexts {
        let Self::Posted { text, .. } = self;
        EventTexts::words(*text)
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let Self::Posted { by, .. } = self;
        match by {
            Some(by) => format!("{} posts a message", style.agent(by)),
            None => "a message is posted".to_owned(),
        }
    }
}

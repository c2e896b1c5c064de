//! Events of texts themselves.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;

event_family! {
    pub enum ContentEvent => Content {
        /// A text was taken out of the store, with its nonce. It is named by the events that it
        /// belongs to; this one has the reason.
        "content.redacted" => Redacted { text: ContentId, reason: ContentId },
    }
}

impl ContentEvent {
    /// The text that is gone.
    pub fn redacted(&self) -> ContentId {
        let Self::Redacted { text, .. } = self;
        *text
    }
}

impl EventFamily for ContentEvent {
    fn texts(&self) -> EventTexts {
        let Self::Redacted { reason, .. } = self;
        EventTexts::words(*reason)
    }

    fn sentence(&self, _: &dyn SentenceStyle) -> String {
        "a text is redacted".to_owned()
    }
}

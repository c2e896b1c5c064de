//! Events of texts themselves.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use super::{Event, FileEvent, MessageEvent};
use crate::content::ContentId;
use crate::run::is_false;

event_family! {
    pub enum ContentEvent => Content {
        /// A text was taken out of the store, with its nonce. It is named by the events that it
        /// belongs to; this one has the reason.
        "content.redacted" => Redacted {
            text: ContentId,
            reason: ContentId,
            /// It is the salt of decisions, which goes with every redaction and which is never shown.
            #[serde(default, skip_serializing_if = "is_false")]
            is_salt: bool,
        },
        /// What was said in the run was taken out of the store, because it was kept for long enough.
        "content.expired" => Expired {
            /// The texts of all messages, and the bytes of all files, up to this event of the run, counted from 1.
            up_to: u64,
            n_texts: u64,
            /// How long messages are kept.
            kept_seconds: u64,
        },
    }
}

impl EventFamily for ContentEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Redacted { reason, .. } => EventTexts::words(*reason),
            Self::Expired { .. } => EventTexts::default(),
        }
    }

    fn sentence(&self, _: &dyn SentenceStyle) -> String {
        match self {
            Self::Redacted { .. } => "a text is redacted".to_owned(),
            Self::Expired { n_texts: 1, .. } => "1 message or file is old and dropped".to_owned(),
            Self::Expired { n_texts, .. } => {
                format!("{n_texts} messages and files are old and dropped")
            }
        }
    }
}

/// The text of a message, or the bytes of a file, where the event is one: what retention drops.
pub fn expiring_text(event: &Event) -> Option<ContentId> {
    if let Event::File(FileEvent::Sent { text, .. }) = event {
        return *text;
    }
    let Event::Message(message) = event else { return None };
    match message {
        MessageEvent::Posted { .. } | MessageEvent::Asked { .. } | MessageEvent::Replied { .. } => {
            message.texts().words
        }
        MessageEvent::Repeated { .. } | MessageEvent::Unanswered { .. } => None,
    }
}

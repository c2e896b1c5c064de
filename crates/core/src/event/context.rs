//! Events of the shared context: a document changed, an agent read.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::collaboration::ContextVersion;
use crate::content::ContentId;
use crate::names::{AgentId, ContextKey};

event_family! {
    pub enum ContextEvent => Context {
        "context.changed" => Changed {
            key: ContextKey,
            version: u32,
            /// The agent that changed it, or the principal.
            by: String,
            text: ContentId,
            n_bytes: u32,
        },
        "context.read" => Read { by: AgentId, documents: Vec<ContextVersion> },
    }
}

impl EventFamily for ContextEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Changed { text, .. } => EventTexts::words(*text),
            Self::Read { .. } => EventTexts::default(),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Changed { key, version, by, .. } => {
                format!("{} changes the context `{key}` to version {version}", style.escaped(by))
            }
            Self::Read { by, documents } => {
                let keys: Vec<String> =
                    documents.iter().map(|it| format!("`{}`", it.key)).collect();
                format!("{} reads the context {}", style.agent(by), keys.join(", "))
            }
        }
    }
}

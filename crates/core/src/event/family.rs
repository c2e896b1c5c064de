//! What every family of events can say about each of its events.

use crate::content::{Content, ContentId, ContentKind};
use crate::names::{AgentId, Principal};
use crate::run::{HandoffNo, HandoffState};

/// A family of events: one file each, with everything that is known of an event but what it does
/// to a run, which is `evolve.rs`.
pub(super) trait EventFamily: NamedEvent {
    /// The handoff that the event is about, if any.
    fn handoff(&self) -> Option<HandoffNo> {
        None
    }

    /// The state of that handoff after the event, where the event sets it.
    fn state_after(&self) -> Option<HandoffState> {
        None
    }

    fn texts(&self) -> EventTexts {
        EventTexts::default()
    }

    /// Whether a person or another system may want to be notified: someone has to act, or something
    /// has ended.
    fn needs_notification(&self) -> bool {
        false
    }

    /// One English sentence without the texts: lower case, no full stop.
    fn sentence(&self, style: &dyn SentenceStyle) -> String;
}

/// Implemented by [`event_family!`].
pub(super) trait NamedEvent {
    fn name(&self) -> &'static str;
}

/// The texts that an event refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventTexts {
    /// A reason, an answer, a comment or a message.
    pub words: Option<ContentId>,
    /// The receiver's own words or document when it accepted.
    pub acknowledgement: Option<ContentId>,
    pub package: Option<ContentId>,
    /// The package that the worker before a gate had been given.
    pub given: Option<ContentId>,
    /// What is shown of all agents, of the sender and of the receiver, where the event says it.
    pub portraits: [Option<ContentId>; 3],
    /// What fingerprints are salted with: random letters, which are never shown.
    pub salt: Option<ContentId>,
    /// What is known of a file that was sent back.
    pub file_record: Option<ContentId>,
    /// Its bytes. They may be many: what shows or copies whole runs leaves them out.
    pub file: Option<ContentId>,
}

/// What an event uses a text as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    Package,
    Words,
}

impl TextRole {
    pub fn fits(self, content: &Content) -> bool {
        match content.kind {
            ContentKind::Package { .. } => self == Self::Package,
            ContentKind::Words => self == Self::Words,
        }
    }
}

impl EventTexts {
    pub(super) fn words(words: impl Into<Option<ContentId>>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }

    /// All but the bytes of files.
    #[must_use]
    pub fn without_file(self) -> Self {
        Self { file: None, ..self }
    }

    pub fn iter(self) -> impl Iterator<Item = (ContentId, TextRole)> {
        let words = [self.words, self.acknowledgement, self.salt, self.file_record, self.file]
            .map(|it| it.map(|it| (it, TextRole::Words)));
        let words =
            words.into_iter().chain(self.portraits.map(|it| it.map(|it| (it, TextRole::Words))));
        let packages = [self.package, self.given].map(|it| it.map(|it| (it, TextRole::Package)));
        words.chain(packages).flatten()
    }
}

/// How a sentence shows what it names: plain in a file, in colour on a terminal.
pub trait SentenceStyle {
    fn handoff(&self, no: HandoffNo) -> String {
        no.label()
    }

    fn agent(&self, id: &AgentId) -> String {
        id.to_string()
    }

    /// The receiver of a handoff, which no event but its creation contains.
    fn receiver(&self, no: HandoffNo) -> String;

    /// A text without a fixed alphabet, such as the name of a principal.
    fn escaped(&self, text: &str) -> String;

    fn principal(&self, by: &Principal) -> String {
        self.escaped(by.as_str())
    }

    /// Words that a reader must not miss.
    fn warning(&self, words: &str) -> String {
        words.to_owned()
    }

    fn success(&self, words: &str) -> String {
        words.to_owned()
    }
}

/// Declares a family: each event's name on disk stands beside its variant, once.
macro_rules! event_family {
    (
        $(#[$doc:meta])*
        pub enum $family:ident => $of:ident {
            $( $(#[$meta:meta])* $name:literal => $variant:ident $({ $($fields:tt)* })? $(($inner:ty))?, )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "type")]
        pub enum $family {
            $( $(#[$meta])* #[serde(rename = $name)] $variant $({ $($fields)* })? $(($inner))?, )+
        }

        impl crate::event::family::NamedEvent for $family {
            fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant { .. } => $name, )+
                }
            }
        }

        impl $family {
            pub(super) const NAMES: &[&str] = &[$( $name ),+];

            pub(super) fn has_name(name: &str) -> bool {
                matches!(name, $( $name )|+)
            }
        }

        impl From<$family> for crate::event::Event {
            fn from(event: $family) -> Self {
                crate::event::Event::$of(event)
            }
        }
    };
}
pub(super) use event_family;

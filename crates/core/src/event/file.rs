//! Events of files that are kept with a handoff.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::run::HandoffNo;
use crate::sent_file::SentFileKind;

event_family! {
    pub enum FileEvent => File {
        /// A runner sent back a file of an attempt or of a check.
        "file.sent" => Sent {
            handoff: HandoffNo,
            fence: u32,
            kind: SentFileKind,
            /// The text with its name, its hash and what was cut.
            record: ContentId,
            /// The text with its bytes; none where it was left out.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            text: Option<ContentId>,
            n_bytes: u64,
        },
    }
}

impl EventFamily for FileEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        let Self::Sent { handoff, .. } = self;
        Some(*handoff)
    }

    fn texts(&self) -> EventTexts {
        let Self::Sent { record, text, .. } = self;
        EventTexts { file_record: Some(*record), file: *text, ..EventTexts::default() }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let Self::Sent { handoff, kind, text, n_bytes, .. } = self;
        let (handoff, kind) = (style.handoff(*handoff), kind.name());
        match text {
            Some(_) => format!("a file of {handoff} is kept: {kind}, {n_bytes} bytes"),
            None => format!("a file of {handoff} is left out: {kind}"),
        }
    }
}

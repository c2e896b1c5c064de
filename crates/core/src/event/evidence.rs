//! Events of evidence: the result of a check was recorded.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::evidence::{CheckRun, Verdict};
use crate::names::CheckName;
use crate::run::HandoffNo;

event_family! {
    pub enum EvidenceEvent => Evidence {
        "evidence.recorded" => Recorded {
            handoff: HandoffNo,
            check: CheckName,
            verdict: Verdict,
            detail: Option<ContentId>,
            /// The recording holder's fencing token; the result does not count for a later holder.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            fence: Option<u32>,
            /// How Baton's runner ran it, where it did.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            ran: Option<CheckRun>,
        },
    }
}

impl EventFamily for EvidenceEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        let Self::Recorded { handoff, .. } = self;
        Some(*handoff)
    }

    fn texts(&self) -> EventTexts {
        let Self::Recorded { detail, .. } = self;
        EventTexts::words(*detail)
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let Self::Recorded { handoff, check, verdict, .. } = self;
        format!("{check} {} for {}", verdict.name(), style.handoff(*handoff))
    }
}

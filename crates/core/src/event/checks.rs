//! Events of checks: work is parked until Baton's runner has run the checks of its edge. What came of
//! them is in the evidence, and by how the handoff ends.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::checked_work::CheckedWork;
use crate::names::CheckName;
use crate::run::HandoffNo;

event_family! {
    pub enum ChecksEvent => Checks {
        "checks.requested" => Requested { handoff: HandoffNo, work: CheckedWork },
    }
}

impl EventFamily for ChecksEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        let Self::Requested { handoff, .. } = self;
        Some(*handoff)
    }

    fn texts(&self) -> EventTexts {
        let Self::Requested { work, .. } = self;
        EventTexts { package: work.package, ..EventTexts::words(work.reason) }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let Self::Requested { handoff, work } = self;
        let checks: Vec<&str> = work.checks.iter().map(CheckName::as_str).collect();
        let worker = style.agent(&work.worker.agent);
        format!(
            "{} waits for {} before {worker} gets it",
            style.handoff(*handoff),
            checks.join(", ")
        )
    }
}

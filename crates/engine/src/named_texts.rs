//! Which texts an event refers to, and what each is used as.

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::event::Event;

/// What an event uses a text as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedAs {
    Package,
    Words,
}

impl NamedAs {
    pub fn fits(self, content: &Content) -> bool {
        match content.kind {
            ContentKind::Package { .. } => self == Self::Package,
            ContentKind::Words => self == Self::Words,
        }
    }
}

/// Every text that an event refers to.
pub fn named(event: &Event) -> Vec<(ContentId, NamedAs)> {
    let (words, packages): ([Option<ContentId>; 1], [Option<ContentId>; 2]) = match event {
        Event::HandoffCreated(created) => ([Some(created.reason)], [created.package, None]),
        Event::HandoffCompleted { package, answer, .. } => ([*answer], [*package, None]),
        Event::GateOpened { gate, .. } => ([gate.reason], [gate.package, gate.given]),
        Event::HandoffRejected { reason: text, .. }
        | Event::HandoffAnswered { answer: text, .. }
        | Event::MessagePosted { text, .. }
        | Event::BlockerRaised { about: text, .. } => ([Some(*text)], [None, None]),
        Event::HandoffAccepted { acknowledgement: text, .. }
        | Event::RunPaused { reason: text }
        | Event::RunCancelled { reason: text }
        | Event::HandoffReleased { reason: text, .. }
        | Event::EvidenceRecorded { detail: text, .. }
        | Event::BlockerResolved { how: text, .. }
        | Event::BlockerWaived { why: text, .. }
        | Event::HandoffTimedOut { reason: text, .. }
        | Event::HandoffCancelled { reason: text, .. }
        | Event::HandoffSuperseded { reason: text, .. }
        | Event::StepSkipped { reason: text, .. }
        | Event::GateWaived { reason: text, .. }
        | Event::GateAnswered { comment: text, .. } => ([*text], [None, None]),
        Event::RunStarted { .. }
        | Event::RunAdopted { .. }
        | Event::RunResumed
        | Event::RunCompleted
        | Event::RoundCounted { .. }
        | Event::HandoffClarified { .. }
        | Event::HandoffWoken { .. }
        | Event::FrameOpened { .. }
        | Event::FrameClosed { .. }
        | Event::LeaseGranted { .. }
        | Event::LeaseLost { .. }
        | Event::LeaseReleased { .. }
        | Event::GatePassed { .. }
        | Event::GateLost { .. }
        | Event::GateCarried { .. }
        | Event::SignalPassed
        | Event::SignalMerged { .. }
        | Event::HandoffStale { .. }
        | Event::StepStarted { .. }
        | Event::StepCompleted { .. }
        | Event::BatonLoose { .. } => ([None], [None, None]),
    };
    let words = words.into_iter().flatten().map(|it| (it, NamedAs::Words));
    words.chain(packages.into_iter().flatten().map(|it| (it, NamedAs::Package))).collect()
}

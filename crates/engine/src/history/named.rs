//! Which texts an event names.

use baton_core::content::ContentId;
use baton_core::event::Event;

pub(crate) fn named(event: &Event) -> Vec<ContentId> {
    let named: [Option<ContentId>; 2] = match event {
        Event::HandoffCreated(created) => [Some(created.reason), created.package],
        Event::HandoffCompleted { package, answer, .. } => [*package, *answer],
        Event::GateOpened { gate, .. } => [gate.reason, gate.package],
        Event::HandoffRejected { reason, .. } => [Some(*reason), None],
        Event::HandoffAnswered { answer, .. } => [Some(*answer), None],
        Event::MessagePosted { text, .. } => [Some(*text), None],
        Event::BlockerRaised { about, .. } => [Some(*about), None],
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
        | Event::GateAnswered { comment: text, .. } => [*text, None],
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
        | Event::BatonLoose { .. } => [None, None],
    };
    named.into_iter().flatten().collect()
}

//! A holder releases the work, or its lease expires.

use jiff::SignedDuration;

use super::draft::{Draft, check_fence, require_agent, wrong_state};
use super::gate::{gate_when_stuck, human, open_gate};
use super::offer::{Offer, offer};
use crate::command::Release;
use crate::event::{HandoffEvent, LeaseEvent, StepEvent};
use crate::gate::GateCause;
use crate::names::Reason;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, State};
use crate::workflow::Place;

pub(super) fn release(draft: &mut Draft<'_>, release: &Release) -> Result<(), Refusal> {
    let handoff = draft.open_task(release.handoff)?;
    require_agent(&handoff.to.agent, release.by.as_ref(), "release", handoff.no)?;
    check_fence(&handoff, release.fence)?;
    match handoff.state {
        State::Accepted => {
            let reason = draft.keep_some(release.reason.as_ref());
            if handoff.lease.is_some() {
                let fence = handoff.fence;
                draft.emit(LeaseEvent::Released { handoff: handoff.no, fence });
            }
            let by = handoff.to.agent.clone();
            draft.emit(HandoffEvent::Released { handoff: handoff.no, by, reason });
            draft.done.handoff = Some(handoff.no);
            Ok(())
        }
        State::Pending | State::Clarification => {
            Err(wrong_state("release", &handoff, "it is not held"))
        }
        State::Parked => {
            Err(wrong_state("release", &handoff, "what it waits for has to come back first"))
        }
    }
}

/// The holder's lease is lost. The work is retried; after the last retry a person is asked.
pub(super) fn lose(
    draft: &mut Draft<'_>,
    no: HandoffNo,
    fence: u32,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let handoff = draft.open_task(no)?;
    if handoff.lease.is_none() {
        return Err(Refusal::NoLease { handoff: no });
    }
    if handoff.fence != fence {
        return Err(Refusal::StaleFence { handoff: no, fence, current: Some(handoff.fence) });
    }
    draft.emit(LeaseEvent::Lost { handoff: no, fence });
    let reason = reason.map_or("Its holder was not heard of any more", Reason::as_str);
    let reason = Some(draft.keep(reason));
    draft.emit(HandoffEvent::TimedOut { handoff: no, reason });
    if handoff.kind == Kind::Question {
        ask_again(draft, &handoff);
        return Ok(());
    }
    if let Place::Step(step) = &handoff.to.place {
        let (step, agent) = (step.clone(), handoff.to.agent.clone());
        draft.emit(StepEvent::Completed { step, agent, outcome: Outcome::Unknown });
    }
    if handoff.attempt > draft.workflow().limits.retries {
        let gate = gate_when_stuck(GateCause::LostLease, &handoff, handoff.package, None);
        draft.done.handoff = Some(open_gate(draft, gate, Some(no)));
        return Ok(());
    }
    let again = Offer {
        reason,
        has_lost_lease: true,
        held_back_until: draft.ground.now.checked_add(back_off(handoff.attempt)).ok(),
        ..Offer::retry(&handoff)
    };
    draft.done.handoff = Some(offer(draft, again));
    Ok(())
}

/// Exponential: one second, then two, then four.
fn back_off(attempt: u32) -> SignedDuration {
    SignedDuration::from_secs(1 << (attempt - 1).min(10))
}

/// The lease on a question was lost: it is asked again; after the last retry a person is asked.
fn ask_again(draft: &mut Draft<'_>, question: &Handoff) {
    let again = if question.attempt > draft.workflow().limits.retries {
        Offer { attempt: 1, to: human(), has_lost_lease: false, ..Offer::retry(question) }
    } else {
        Offer { has_lost_lease: true, ..Offer::retry(question) }
    };
    let again = Offer { reason: question.asks, follows: question.about, ..again };
    draft.done.question = Some(offer(draft, again));
    draft.done.handoff = question.about;
}

//! A holder releases the work, or its lease expires.

use jiff::{SignedDuration, Timestamp};

use super::checked;
use super::detour;
use super::draft::{Draft, check_fence, require_agent, wrong_state};
use super::gate::{gate_when_stuck, human, open_gate};
use super::limit;
use super::offer::{Offer, offer};
use super::usage::{self, BudgetedWork};
use crate::command::{LoseLease, Release};
use crate::content::ContentId;
use crate::event::{HandoffEvent, LeaseEvent, StepEvent};
use crate::gate::{Gate, GateCause, ReachedLimit};
use crate::names::Reason;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Handoff, Kind, State};
use crate::workflow::Place;

pub(super) fn release(draft: &mut Draft<'_>, release: &Release) -> Result<(), Refusal> {
    if let Some(row) = draft.run.handoff(release.handoff).filter(|it| it.checks.is_some()).cloned()
    {
        return checked::release(draft, &row, release.fence, release.reason.as_ref());
    }
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
            draft.done.handoff = Some(handoff.no);
            match limit::releases_reached(draft, &handoff) {
                Some(limit) => ask_instead(draft, &handoff, limit, reason),
                None => {
                    let (handoff, by) = (handoff.no, handoff.to.agent.clone());
                    draft.emit(HandoffEvent::Released { handoff, by, reason, is_counted: true });
                }
            }
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

/// The work was released too often to be offered again: a person is asked in its place.
fn ask_instead(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    limit: ReachedLimit,
    reason: Option<ContentId>,
) {
    draft.emit(HandoffEvent::Superseded { handoff: handoff.no, reason });
    if handoff.kind == Kind::Question {
        ask_person(draft, handoff);
        return;
    }
    if let Some(detour) = &handoff.detour {
        detour::ask_a_person(draft, detour, reason, handoff.no);
        return;
    }
    lose_step(draft, handoff);
    let gate = gate_when_stuck(GateCause::Releases, handoff, handoff.package, reason);
    open_gate(draft, Gate { limit: Some(limit), ..gate }, Some(handoff.no));
}

/// The receiver leaves its step without a result.
pub(super) fn lose_step(draft: &mut Draft<'_>, handoff: &Handoff) {
    if let (State::Accepted | State::Parked, Place::Step(step)) = (handoff.state, &handoff.to.place)
    {
        draft.emit(StepEvent::Completed {
            step: step.clone(),
            agent: handoff.to.agent.clone(),
            outcome: Outcome::Unknown,
            is_rejected: false,
        });
    }
}

/// So that an agent which claims to be at a limit is not started over and over.
const LEAST_RETRY_WAIT: SignedDuration = SignedDuration::from_mins(1);
/// The longest that work waits for its agent to be able to work again.
const MOST_RETRY_WAIT: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The holder's lease is lost. The work is retried; after the last retry a person is asked.
pub(super) fn lose(draft: &mut Draft<'_>, lose: &LoseLease) -> Result<(), Refusal> {
    let (no, fence, reason) = (lose.handoff, lose.fence, lose.reason.as_ref());
    let (output, retry_at) = (lose.output, lose.retry_at);
    if let Some(row) = draft.run.handoff(no).filter(|it| it.checks.is_some()).cloned() {
        return checked::lose(draft, &row, lose);
    }
    let handoff = draft.open_task(no)?;
    if handoff.lease.is_none() {
        return Err(Refusal::NoLease { handoff: no });
    }
    if handoff.fence != fence {
        return Err(Refusal::StaleFence { handoff: no, fence, current: Some(handoff.fence) });
    }
    draft.emit(LeaseEvent::Lost { handoff: no, fence });
    let lost = reason.map_or("Its holder stopped answering", Reason::as_str);
    let lost = draft.keep(lost);
    draft.emit(HandoffEvent::TimedOut { handoff: no, reason: Some(lost) });
    if handoff.kind == Kind::Question {
        ask_again(draft, &handoff);
        return Ok(());
    }
    lose_step(draft, &handoff);
    if let Some(budget) = usage::reached(draft, BudgetedWork::of(&handoff.from, &handoff.to)) {
        draft.done.handoff = Some(match &handoff.detour {
            Some(detour) => detour::ask_a_person(draft, detour, Some(lost), no),
            None => {
                let gate = gate_when_stuck(GateCause::Budget, &handoff, handoff.package, None);
                open_gate(draft, Gate { budget: Some(budget), ..gate }, Some(no))
            }
        });
        return Ok(());
    }
    let is_last = handoff.attempt > draft.workflow().retries_at(&handoff.to.place);
    let is_last = lose.asks || (is_last && retry_at.is_none());
    // The same again is no progress, and the next attempt would print it too.
    let is_same = output.is_some() && handoff.lost_output == output && retry_at.is_none();
    if let (true, Some(detour)) = (is_last || is_same, &handoff.detour) {
        draft.done.handoff = Some(detour::ask_a_person(draft, detour, Some(lost), no));
        return Ok(());
    }
    if is_same {
        let gate = gate_when_stuck(GateCause::NoProgress, &handoff, handoff.package, Some(lost));
        draft.done.handoff = Some(open_gate(draft, gate, Some(no)));
        return Ok(());
    }
    if is_last {
        // A runner knows what happened; otherwise the cause says all there is.
        let reason = reason.map(|_| lost);
        let gate = gate_when_stuck(GateCause::LostLease, &handoff, handoff.package, reason);
        draft.done.handoff = Some(open_gate(draft, gate, Some(no)));
        return Ok(());
    }
    let again = Offer::retry(draft, &handoff);
    let back_off = after_back_off(draft, handoff.attempt);
    // An attempt that could not begin is not one of the retries.
    let (attempt, held_back_until) = match retry_at {
        Some(at) => {
            let now = draft.ground.now;
            let earliest = now.checked_add(LEAST_RETRY_WAIT).unwrap_or(at);
            let latest = now.checked_add(MOST_RETRY_WAIT).unwrap_or(at);
            (handoff.attempt, Some(at.min(latest).max(earliest)))
        }
        None => (again.attempt, back_off),
    };
    // Work that came back is offered with the reason for that: the next holder has to know it.
    let why = match (again.rework_reason, reason) {
        (Some(rework), _) => rework,
        (None, Some(_)) => lost,
        (None, None) => draft.keep("Offered again: the last holder stopped answering"),
    };
    let again = Offer {
        attempt,
        reason: Some(why),
        has_lost_lease: true,
        lost_output: output,
        held_back_until,
        ..again
    };
    draft.done.handoff = Some(offer(draft, again));
    Ok(())
}

/// When the work of this attempt may be tried again.
pub(super) fn after_back_off(draft: &Draft<'_>, attempt: u32) -> Option<Timestamp> {
    draft.ground.now.checked_add(back_off(attempt)).ok()
}

/// Exponential: one second, then two, then four.
fn back_off(attempt: u32) -> SignedDuration {
    SignedDuration::from_secs(1 << (attempt - 1).min(10))
}

/// The lease on a question was lost: it is asked again; after the last retry a person is asked.
fn ask_again(draft: &mut Draft<'_>, question: &Handoff) {
    if question.attempt > draft.workflow().limits.retries {
        ask_person(draft, question);
        return;
    }
    let again = Offer { has_lost_lease: true, ..Offer::retry(draft, question) };
    put_question(draft, question, again);
}

/// The question goes to a person instead of the agent that was asked.
fn ask_person(draft: &mut Draft<'_>, question: &Handoff) {
    let again = Offer::retry(draft, question);
    let again = Offer { attempt: 1, to: human(), has_lost_lease: false, ..again };
    put_question(draft, question, again);
}

fn put_question(draft: &mut Draft<'_>, question: &Handoff, again: Offer) {
    let again = Offer { reason: question.asks, follows: question.about, ..again };
    draft.done.question = Some(offer(draft, again));
    draft.done.handoff = question.about;
}

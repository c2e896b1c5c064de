//! Time-driven commands: a handoff becomes stale, is offered after a back-off, or expires.

use jiff::{SignedDuration, Timestamp};

use super::approvals::remind_at;
use super::checked;
use super::detour;
use super::draft::{Draft, wrong_state};
use super::end::{self, EndedBy};
use super::frame;
use super::gate::{gate_when_stuck, open_gate};
use super::lease::lose_step;
use super::offer::give_back;
use super::passed;
use crate::event::HandoffEvent;
use crate::gate::GateCause;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, Run, State};
use crate::workflow::{OnExpire, Workflow};

/// Only marks the handoff: a late receiver or holder may still answer.
pub(super) fn mark_stale(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    let handoff = draft.open_task(no)?;
    if handoff.is_stale {
        return Err(Refusal::AlreadyStale { handoff: no });
    }
    check_due(draft, no, stale_at(draft.workflow(), &handoff))?;
    draft.emit(HandoffEvent::Stale { handoff: no, is_no_move: true });
    draft.done.handoff = Some(no);
    Ok(())
}

/// Offers a handoff that was held back after a lost lease.
pub(super) fn wake(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    if let Some(row) = draft.run.handoff(no).filter(|it| it.checks.is_some()).cloned() {
        return match row.held_back_until {
            None => Err(Refusal::NotHeldBack { handoff: no }),
            Some(until) if draft.ground.now < until => Err(Refusal::NotYet { handoff: no, until }),
            Some(_) => checked::nobody_came(draft, &row),
        };
    }
    let handoff = draft.open_task(no)?;
    match handoff.held_back_until {
        None => Err(Refusal::NotHeldBack { handoff: no }),
        Some(until) if draft.ground.now < until => Err(Refusal::NotYet { handoff: no, until }),
        Some(_) => {
            draft.emit(HandoffEvent::Woken { handoff: no });
            draft.done.handoff = Some(no);
            Ok(())
        }
    }
}

/// The receiver did not accept in time: the workflow says what happens.
pub(super) fn expire(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    if let Some(row) = draft.run.handoff(no).filter(|it| it.checks.is_some()).cloned() {
        check_due(draft, no, expires_at(draft.workflow(), &row))?;
        return checked::nobody_came(draft, &row);
    }
    let handoff = draft.open_work(no)?;
    if let Some(at) = stalls_at(draft.workflow(), &handoff)
        && at <= draft.ground.now
    {
        escalate(draft, &handoff);
        return Ok(());
    }
    match handoff.state {
        State::Pending => {}
        State::Clarification => {
            return Err(wrong_state("expire", &handoff, "a question waits for its answer"));
        }
        State::Accepted | State::Parked => {
            return Err(wrong_state("expire", &handoff, "it has been accepted"));
        }
    }
    check_due(draft, no, expires_at(draft.workflow(), &handoff))?;
    let policy = draft.workflow().expiry_at(&handoff.to.place).map(|it| it.then);
    let reason = draft.keep("It was not accepted in time");
    draft.emit(HandoffEvent::TimedOut { handoff: no, reason: Some(reason) });
    draft.done.handoff = Some(no);
    let given = draft.given(&handoff.to.place);
    let came_back = given.is_some_and(|it| it.rework_reason.is_some());
    let is_return = handoff.kind == Kind::Return || came_back;
    let is_in_frame = draft.run.caller_of(&handoff).is_some();
    let sender = handoff.reject_to.as_ref().unwrap_or(&handoff.from).clone();
    match policy {
        Some(OnExpire::Ask | OnExpire::Return) if handoff.detour.is_some() => {
            if let Some(detour) = &handoff.detour {
                detour::ask_a_person(draft, detour, Some(reason), no);
            }
        }
        Some(OnExpire::Ask) if !frame::is_return(draft, &handoff) => {
            let gate = gate_when_stuck(GateCause::Expired, &handoff, handoff.package, Some(reason));
            open_gate(draft, gate, Some(no));
        }
        // A return that expires as well would go back and forth for ever, and so would its new offer.
        Some(OnExpire::Return)
            if !is_return
                && !is_in_frame
                && sender.place.is_work()
                && passed::is_open_to(draft, &sender.place) =>
        {
            let from = handoff.to.clone();
            let forward = handoff.forward.clone();
            let package = handoff.package;
            let back = give_back(draft, from, sender, package, reason, forward, no);
            draft.done.returned = Some(back);
        }
        Some(OnExpire::Ask | OnExpire::Return | OnExpire::Loose) | None => {
            end::let_go(draft, &handoff, Some(reason), EndedBy::Other);
        }
    }
    Ok(())
}

/// A step that was marked as stale and stayed silent: a person is asked.
fn escalate(draft: &mut Draft<'_>, handoff: &Handoff) {
    let reason = draft.keep(GateCause::Stalled.sentence());
    draft.emit(HandoffEvent::TimedOut { handoff: handoff.no, reason: Some(reason) });
    draft.done.handoff = Some(handoff.no);
    lose_step(draft, handoff);
    if let Some(detour) = &handoff.detour {
        detour::ask_a_person(draft, detour, Some(reason), handoff.no);
        return;
    }
    let gate = gate_when_stuck(GateCause::Stalled, handoff, handoff.package, Some(reason));
    open_gate(draft, gate, Some(handoff.no));
}

/// When a person is asked about a handoff that is stale, where the workflow says so. Never inside a
/// frame: its caller gets nothing that it waits for from a person.
fn stalls_at(workflow: &Workflow, handoff: &Handoff) -> Option<Timestamp> {
    let after = workflow.limits.escalate_after.filter(|_| handoff.is_stale)?;
    if matches!(handoff.kind, Kind::Question | Kind::Delegation) || handoff.brings.is_some() {
        return None;
    }
    stale_at(workflow, handoff)?.checked_add(after).ok()
}

fn check_due(draft: &Draft<'_>, no: HandoffNo, due: Option<Timestamp>) -> Result<(), Refusal> {
    match due {
        Some(due) if due <= draft.ground.now => Ok(()),
        due => Err(Refusal::NotDue { handoff: no, due }),
    }
}

/// When the run's next time-out is due: the first of its handoffs becomes stale or expires then, or
/// people are reminded of it, if nothing happens before. Depends only on the run.
pub fn due_at(workflow: &Workflow, run: &Run) -> Option<Timestamp> {
    let of_handoff = |it: &Handoff| {
        let stale_at = if it.is_stale { None } else { stale_at(workflow, it) };
        stale_at.into_iter().chain(expires_at(workflow, it)).chain(remind_at(it)).min()
    };
    let asks = run.asks.iter().map(|it| it.due);
    run.handoffs.iter().filter_map(of_handoff).chain(asks).min()
}

/// When a handoff becomes stale, if nothing happens to it. Never for a handoff to a person, and
/// never while its holder sends heartbeats.
pub fn stale_at(workflow: &Workflow, handoff: &Handoff) -> Option<Timestamp> {
    if handoff.to.agent.is_human() || handoff.lease.is_some() || handoff.checks.is_some() {
        return None;
    }
    let (since, within) = match handoff.state {
        State::Pending => (waits_since(handoff), workflow.limits.stale_after),
        State::Accepted if handoff.kind == Kind::Question => {
            (handoff.working_since?, workflow.limits.stale_after)
        }
        State::Accepted => {
            let step = handoff.to.place.as_step().and_then(|it| workflow.step(it));
            let within = step.map(|it| it.work_within);
            (handoff.working_since?, within.unwrap_or(SignedDuration::from_mins(30)))
        }
        // In these states the question waits, or the delegate.
        State::Clarification | State::Parked => return None,
    };
    since.checked_add(within).ok()
}

/// When a handoff expires because it was not accepted, or a person is asked because it was stale for
/// too long. Never for a handoff to a person.
pub fn expires_at(workflow: &Workflow, handoff: &Handoff) -> Option<Timestamp> {
    if let Some(at) = stalls_at(workflow, handoff) {
        let expires = expires_unaccepted(workflow, handoff);
        return Some(expires.map_or(at, |it| it.min(at)));
    }
    expires_unaccepted(workflow, handoff)
}

fn expires_unaccepted(workflow: &Workflow, handoff: &Handoff) -> Option<Timestamp> {
    let is_waiting = handoff.state == State::Pending && handoff.held_back_until.is_none();
    if handoff.to.agent.is_human() || !is_waiting || handoff.kind == Kind::Question {
        return None;
    }
    if handoff.checks.is_some() {
        // A runner has done its part; the other results have to be posted in time.
        return waits_since(handoff).checked_add(workflow.limits.checks_within).ok();
    }
    let expiry = workflow.expiry_at(&handoff.to.place)?;
    waits_since(handoff).checked_add(expiry.after).ok()
}

fn waits_since(handoff: &Handoff) -> Timestamp {
    handoff.waiting_since.unwrap_or(handoff.created_at)
}

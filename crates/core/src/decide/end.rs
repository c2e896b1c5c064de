//! Cancel, time out, clean up: a handoff ends without an answer. A caller that waited for it goes
//! on; otherwise the baton becomes loose, at the sender's step if the handoff was not accepted, at
//! the receiver's if it was. Work that was sent back is the receiver's either way, unless its sender
//! itself takes it back.

use super::draft::{Draft, require_agent, wrong_state};
use super::frame::{self, Brought};
use super::lease::lose_step;
use super::offer::lie_loose;
use crate::content::ContentId;
use crate::event::{FrameEvent, HandoffEvent};
use crate::names::{AgentId, Reason};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, State};
use crate::workflow::Place;

pub(super) fn cancel(
    draft: &mut Draft<'_>,
    no: HandoffNo,
    by: Option<&AgentId>,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let handoff = draft.open_unanswered(no)?;
    // The orchestrator stands for the operator, who may take anything back.
    if let Some(by) = by
        && !by.is_orchestrator()
    {
        require_agent(&handoff.from.agent, Some(by), "cancel", no)?;
    }
    match handoff.state {
        State::Pending | State::Clarification => {}
        State::Accepted => {
            let hint = "its holder may reject it, the operator may time it out";
            return Err(wrong_state("cancel", &handoff, hint));
        }
        State::Parked => {
            return Err(wrong_state("cancel", &handoff, "cancel what it waits for, or the run"));
        }
    }
    let reason = draft.keep_some(reason);
    frame::clear_inside(draft, no, reason);
    draft.emit(HandoffEvent::Cancelled { handoff: no, reason });
    let ended_by = match by {
        Some(by) if *by == handoff.from.agent => EndedBy::Sender,
        Some(_) | None => EndedBy::Other,
    };
    let_go(draft, &handoff, reason, ended_by);
    draft.done.handoff = Some(no);
    draft.done.cancelled.push(no);
    Ok(())
}

pub(super) fn time_out(
    draft: &mut Draft<'_>,
    no: HandoffNo,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let handoff = match draft.open(no)? {
        handoff if handoff.checks.is_some() => handoff,
        _ => draft.open_work(no)?,
    };
    match handoff.state {
        State::Pending | State::Accepted => {}
        State::Clarification => {
            return Err(wrong_state("time_out", &handoff, "a question waits for its answer"));
        }
        State::Parked => {
            return Err(wrong_state("time_out", &handoff, "what it waits for has its own time"));
        }
    }
    let reason = draft.keep_some(reason);
    draft.emit(HandoffEvent::TimedOut { handoff: no, reason });
    lose_step(draft, &handoff);
    let_go(draft, &handoff, reason, EndedBy::Other);
    draft.done.handoff = Some(no);
    Ok(())
}

/// No pending handoff is not an error: there is nothing to clean up.
pub(super) fn clean_up(draft: &mut Draft<'_>, reason: Option<&Reason>) {
    let reason = draft.keep_some(reason);
    for handoff in draft.run.handoffs.clone() {
        // Already cancelled, with the handoff it asked about.
        if draft.run.handoff(handoff.no).is_none() {
            continue;
        }
        draft.branch = handoff.branch;
        match handoff.state {
            State::Pending | State::Clarification if is_ours(draft, &handoff) => {
                frame::clear_inside(draft, handoff.no, reason);
                draft.emit(HandoffEvent::Cancelled { handoff: handoff.no, reason });
                draft.done.cancelled.push(handoff.no);
                match draft.run.caller_of(&handoff).map(|it| it.no) {
                    Some(caller) => {
                        draft.emit(FrameEvent::Closed { caller, outcome: Outcome::Failure });
                    }
                    None => drop_baton(draft, &handoff, EndedBy::Other),
                }
            }
            State::Pending | State::Clarification | State::Accepted | State::Parked => {
                draft.done.kept.push(handoff.no);
            }
        }
    }
}

/// Clean-up leaves alone what people are asked and what they ask.
fn is_ours(draft: &Draft<'_>, handoff: &Handoff) -> bool {
    let question = handoff.question.and_then(|it| draft.run.handoff(it));
    let asks_person = question.is_some_and(|it| it.gate.is_some());
    handoff.kind != Kind::Question && handoff.gate.is_none() && !asks_person
}

/// Who ended a handoff without an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedBy {
    Sender,
    /// An operator, or a time limit.
    Other,
}

/// Sets the baton's position once `handoff` has ended without a successor.
pub(super) fn let_go(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    reason: Option<ContentId>,
    ended_by: EndedBy,
) {
    let Some(caller) = draft.run.caller_of(handoff).cloned() else {
        drop_baton(draft, handoff, ended_by);
        return;
    };
    match handoff.kind {
        // It was a return: its receiver goes on without it.
        Kind::Return => {
            let outcome = handoff.brings.unwrap_or(Outcome::Failure);
            draft.emit(FrameEvent::Closed { caller: caller.no, outcome });
        }
        Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => {
            let reason = match reason {
                Some(reason) => reason,
                None => draft.keep("Nothing came of it"),
            };
            let brought = Brought {
                outcome: Outcome::Failure,
                package: handoff.package,
                reason: Some(reason),
                warnings: Vec::new(),
            };
            let returned = frame::give_back(draft, handoff, &caller, brought);
            draft.done.returned = Some(returned);
        }
    }
}

fn drop_baton(draft: &mut Draft<'_>, handoff: &Handoff, ended_by: EndedBy) {
    // A resolver has no step: the work is still the blocked agent's.
    if let Some(detour) = &handoff.detour {
        let blocked = detour.blocked().clone();
        lie_loose(draft, blocked.place.clone(), Place::Orchestrator, &blocked);
        return;
    }
    // The orchestrator only has it checked: the work is still its sender's.
    if let Some(work) = &handoff.checks {
        let (at, other) = (work.sender.place.clone(), work.worker.place.clone());
        lie_loose(draft, at, other, &work.sender);
        return;
    }
    // The sender of a return is done with the work: it must not get its own rejection back.
    let is_back = handoff.kind == Kind::Return && ended_by == EndedBy::Other;
    let (at, other) = match handoff.state {
        State::Accepted | State::Parked => (&handoff.to, &handoff.from),
        State::Pending | State::Clarification if is_back => (&handoff.to, &handoff.from),
        State::Pending | State::Clarification => (&handoff.from, &handoff.to),
    };
    let had_by = if at.place.is_step() { at } else { other };
    lie_loose(draft, at.place.clone(), other.place.clone(), had_by);
}

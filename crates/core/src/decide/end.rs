//! Cancel, time out, clean up: a handoff ends and nobody has the baton. It lies loose at the
//! sender's step if nobody had accepted, at the receiver's if somebody had.

use super::draft::Draft;
use crate::event::Event;
use crate::names::{AgentId, Reason};
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, State};

pub(super) fn cancel(
    draft: &mut Draft<'_>,
    no: HandoffNo,
    by: Option<&AgentId>,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let handoff = draft.open_work(no)?;
    // The orchestrator stands for the operator, who may take anything back.
    if let Some(by) = by
        && !by.is_orchestrator()
    {
        super::draft::only(&handoff.from.agent, Some(by), "cancel", no)?;
    }
    let wrong = |hint| {
        Err(Refusal::WrongState {
            command: "cancel",
            handoff: no,
            state: handoff.state.name(),
            hint,
        })
    };
    match handoff.state {
        State::Pending | State::Clarification => {}
        State::Accepted => {
            return wrong("its holder may reject it, the operator may time it out");
        }
        State::Parked => return wrong("cancel what it waits for, or the run"),
    }
    let reason = draft.keep_some(reason);
    draft.emit(Event::HandoffCancelled { handoff: no, reason });
    drop_at_sender(draft, &handoff);
    draft.done.handoff = Some(no);
    draft.done.cancelled.push(no);
    Ok(())
}

pub(super) fn time_out(
    draft: &mut Draft<'_>,
    no: HandoffNo,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let handoff = draft.open_work(no)?;
    let wrong = |hint| {
        let state = handoff.state.name();
        Err(Refusal::WrongState { command: "time_out", handoff: no, state, hint })
    };
    match handoff.state {
        State::Pending | State::Accepted => {}
        State::Clarification => return wrong("a question waits for its answer"),
        State::Parked => return wrong("what it waits for has its own time"),
    }
    let reason = draft.keep_some(reason);
    draft.emit(Event::HandoffTimedOut { handoff: no, reason });
    match handoff.state {
        State::Accepted | State::Parked => drop_at_receiver(draft, &handoff),
        State::Pending | State::Clarification => drop_at_sender(draft, &handoff),
    }
    draft.done.handoff = Some(no);
    Ok(())
}

/// Nothing pending is no reason to complain: then there is nothing to clean up.
pub(super) fn clean_up(draft: &mut Draft<'_>, reason: Option<&Reason>) {
    let open = draft.run.handoffs.clone();
    let reason = draft.keep_some(reason);
    for handoff in open {
        let is_ours = handoff.gate.is_none();
        match handoff.state {
            State::Pending | State::Clarification if is_ours => {
                draft.emit(Event::HandoffCancelled { handoff: handoff.no, reason });
                drop_at_sender(draft, &handoff);
                draft.done.cancelled.push(handoff.no);
            }
            State::Pending | State::Clarification | State::Accepted | State::Parked => {
                draft.done.kept.push(handoff.no);
            }
        }
    }
}

fn drop_at_sender(draft: &mut Draft<'_>, handoff: &Handoff) {
    let (at, other) = (handoff.from.place.clone(), handoff.to.place.clone());
    draft.emit(Event::BatonLoose { at, other });
}

fn drop_at_receiver(draft: &mut Draft<'_>, handoff: &Handoff) {
    let (at, other) = (handoff.to.place.clone(), handoff.from.place.clone());
    draft.emit(Event::BatonLoose { at, other });
}

//! The program of a holder asks a person whether it may do something, and waits: a gate beside the work,
//! which the baton does not go to.

use super::draft::{Draft, check_fence, wrong_state};
use super::gate::{gate_between, open_gate};
use crate::command::AskPermission;
use crate::event::HandoffEvent;
use crate::gate::{Gate, GateCause, GateKind};
use crate::refusal::Refusal;
use crate::run::{EdgeKey, HandoffNo, State};
use crate::workflow::Place;

/// Opens the gate. One at a time: a person answers one question after the other.
pub(super) fn ask(draft: &mut Draft<'_>, asked: &AskPermission) -> Result<(), Refusal> {
    let held = draft.open_work(asked.handoff)?;
    check_fence(&held, Some(asked.fence))?;
    match held.state {
        State::Accepted => {}
        State::Pending | State::Clarification | State::Parked => {
            let hint = "only the program of its holder asks for permission";
            return Err(wrong_state("ask_permission", &held, hint));
        }
    }
    let is_same = |gate: &Gate| gate.cause == GateCause::Permission && gate.beside == Some(held.no);
    if draft.run.gates().any(|(_, gate)| is_same(gate)) {
        let hint = "the permission that it asked for before has to be answered first";
        return Err(wrong_state("ask_permission", &held, hint));
    }
    let reason = Some(draft.keep(asked.question.as_str()));
    let party = held.to.clone();
    let forward = EdgeKey { from: party.place.clone(), to: Place::Human };
    let gate = Gate {
        kind: GateKind::Advisory,
        beside: Some(held.no),
        ..gate_between(GateCause::Permission, party.clone(), party, None, reason, &forward)
    };
    draft.done.handoff = Some(open_gate(draft, gate, Some(held.no)));
    Ok(())
}

/// The program does not wait any more: there is nothing left to decide.
pub(super) fn withdraw(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    let row = draft.open(no)?;
    match &row.gate {
        Some(gate) if gate.cause == GateCause::Permission => {
            let reason = Some(draft.keep("No person answered in time, so it was denied"));
            draft.emit(HandoffEvent::Cancelled { handoff: no, reason });
            draft.done.handoff = Some(no);
            Ok(())
        }
        Some(_) | None => Err(Refusal::NotAGate { handoff: no }),
    }
}

//! What the clock says: a handoff has waited long. That is a mark and no more; whoever is late
//! may still answer.

use jiff::{SignedDuration, Timestamp};

use super::draft::Draft;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, State};
use crate::workflow::{Place, Workflow};

pub(super) fn mark_stale(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    let handoff = draft.open_work(no)?;
    if handoff.is_stale {
        return Err(Refusal::AlreadyStale { handoff: no });
    }
    match stale_at(draft.workflow(), &handoff) {
        Some(due) if due <= draft.ground.now => {
            draft.emit(Event::HandoffStale { handoff: no });
            draft.done.handoff = Some(no);
            Ok(())
        }
        Some(due) => Err(Refusal::NotDue { handoff: no, due }),
        None => Err(Refusal::NotDue { handoff: no, due: Timestamp::MAX }),
    }
}

/// When a handoff becomes stale, if nothing happens to it. Never, where a person is asked.
pub fn stale_at(workflow: &Workflow, handoff: &Handoff) -> Option<Timestamp> {
    if handoff.gate.is_some() || handoff.to.agent.is_human() {
        return None;
    }
    let (since, within) = match handoff.state {
        State::Pending | State::Clarification => (handoff.created_at, workflow.limits.stale_after),
        State::Accepted => {
            let within = match &handoff.to.place {
                Place::Step(step) => workflow.step(step).map(|it| it.work_within),
                Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
            };
            (handoff.accepted_at?, within.unwrap_or(SignedDuration::from_mins(30)))
        }
        State::Parked => return None,
    };
    since.checked_add(within).ok()
}

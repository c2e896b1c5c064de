//! Accept: the receiver takes the baton, and from now on it is the one to move.

use super::draft::{Draft, only};
use crate::command::Accept;
use crate::event::Event;
use crate::names::AgentId;
use crate::refusal::Refusal;
use crate::run::{Handoff, RunStatus, State};
use crate::workflow::Place;

pub(super) fn decide(draft: &mut Draft<'_>, accept: &Accept) -> Result<(), Refusal> {
    let handoff = draft.open_work(accept.handoff)?;
    match handoff.state {
        State::Pending => {
            only(&handoff.to.agent, accept.by.as_ref(), "accept", handoff.no)?;
            if draft.run.status == RunStatus::Paused {
                return Err(Refusal::Paused);
            }
            let acknowledgement = accept.acknowledgement.as_ref().map(|it| draft.keep(&it.text));
            draft.emit(Event::HandoffAccepted {
                handoff: handoff.no,
                by: handoff.to.agent.clone(),
                is_implicit: false,
                acknowledgement,
            });
            start_step(draft, &handoff);
            draft.done.handoff = Some(handoff.no);
            Ok(())
        }
        State::Clarification => Err(Refusal::WrongState {
            command: "accept",
            handoff: handoff.no,
            state: handoff.state.name(),
            hint: "its sender has to answer the question first",
        }),
        State::Accepted | State::Parked => {
            Err(Refusal::AlreadyAccepted { handoff: handoff.no, holder: handoff.to.agent })
        }
    }
}

/// Accepts for a receiver that handed on without a word: that it did says enough.
pub(super) fn implicitly(draft: &mut Draft<'_>, handoff: &Handoff, by: &AgentId) {
    draft.emit(Event::HandoffAccepted {
        handoff: handoff.no,
        by: by.clone(),
        is_implicit: true,
        acknowledgement: None,
    });
    start_step(draft, handoff);
}

fn start_step(draft: &mut Draft<'_>, handoff: &Handoff) {
    match &handoff.to.place {
        Place::Step(step) => {
            let agent = handoff.to.agent.clone();
            draft.emit(Event::StepStarted { step: step.clone(), agent });
        }
        Place::Orchestrator | Place::Human | Place::Delegate(_) => {}
    }
}

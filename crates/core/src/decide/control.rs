//! What an operator does to a run as a whole: pause, resume, cancel, goto, skip.

use super::draft::Draft;
use super::offer::{AtOrchestrator, Offer, again, hand_over};
use crate::event::Event;
use crate::names::{AgentId, Reason, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Party, RunStatus};
use crate::workflow::{Place, Target, Workflow};

pub(super) fn pause(draft: &mut Draft<'_>, reason: Option<&Reason>) -> Result<(), Refusal> {
    match draft.run.status {
        RunStatus::Open => {
            let reason = draft.keep_some(reason);
            draft.emit(Event::RunPaused { reason });
            Ok(())
        }
        RunStatus::Paused | RunStatus::Completed | RunStatus::Cancelled => Err(Refusal::Paused),
    }
}

pub(super) fn resume(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    match draft.run.status {
        RunStatus::Paused => {
            draft.emit(Event::RunResumed);
            Ok(())
        }
        RunStatus::Open | RunStatus::Completed | RunStatus::Cancelled => Err(Refusal::NotPaused),
    }
}

pub(super) fn cancel(draft: &mut Draft<'_>, reason: Option<&Reason>) {
    let reason = draft.keep_some(reason);
    for handoff in draft.run.handoffs.clone() {
        draft.emit(Event::HandoffCancelled { handoff: handoff.no, reason });
        draft.done.cancelled.push(handoff.no);
    }
    draft.emit(Event::RunCancelled { reason });
}

pub(super) fn goto(draft: &mut Draft<'_>, step: &StepId, reason: &Reason) -> Result<(), Refusal> {
    no_gate(draft)?;
    if !draft.run.visited.contains(step) {
        let visited: Vec<&str> = draft.run.visited.iter().map(StepId::as_str).collect();
        return Err(Refusal::NotVisited { step: step.clone(), visited: visited.join(", ") });
    }
    supersede_open(draft, reason);
    move_to(draft, &Target::Step(step.clone()), reason, &Move::Again);
    Ok(())
}

pub(super) fn skip(draft: &mut Draft<'_>, reason: &Reason) -> Result<(), Refusal> {
    no_gate(draft)?;
    let place = draft.run.current_place().cloned();
    let step = place.as_ref().and_then(|it| draft.step_at(it));
    let Some(step) = step else {
        return Err(Refusal::NothingToSkip { whereabouts: draft.whereabouts() });
    };
    if !step.is_optional {
        return Err(Refusal::NotOptional { step: step.id.clone() });
    }
    let Some(edge) = step.edges_on(Outcome::Success).next() else {
        return Err(Refusal::NothingToSkip { whereabouts: draft.whereabouts() });
    };
    supersede_open(draft, reason);
    let words = draft.keep(reason.as_str());
    draft.emit(Event::StepSkipped { step: step.id.clone(), reason: Some(words) });
    move_to(draft, &edge.to, reason, &Move::On);
    Ok(())
}

/// A question to a person is not to be walked around.
fn no_gate(draft: &Draft<'_>) -> Result<(), Refusal> {
    match draft.run.gate() {
        Some((handoff, gate)) => {
            Err(Refusal::GateOpen { handoff: handoff.no, choices: gate.choices().join(", ") })
        }
        None => Ok(()),
    }
}

fn supersede_open(draft: &mut Draft<'_>, reason: &Reason) {
    for handoff in draft.run.handoffs.clone() {
        let reason = Some(draft.keep(reason.as_str()));
        draft.emit(Event::HandoffSuperseded { handoff: handoff.no, reason });
    }
}

/// How the orchestrator moves a run.
enum Move {
    /// Back to where it has been: the step gets again what it had.
    Again,
    /// Past a step: the next one gets what that step had.
    On,
}

fn move_to(draft: &mut Draft<'_>, target: &Target, reason: &Reason, how: &Move) {
    let place = Workflow::target_place(target);
    let agent = draft.workflow().agents_at(&place).into_iter().next();
    let to = Party { agent: agent.unwrap_or_else(AgentId::orchestrator), place };
    let reason = Some(draft.keep(reason.as_str()));
    let offer = match how {
        Move::Again => Offer { reason, ..again(draft, to) },
        Move::On => {
            let from = Party { agent: AgentId::orchestrator(), place: Place::Orchestrator };
            Offer { reason, ..Offer::new(from, to, draft.run.package) }
        }
    };
    draft.done.handoff = Some(hand_over(draft, offer, AtOrchestrator::of(target)));
}

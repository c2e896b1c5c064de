//! Operator commands on a whole run: pause, resume, cancel, goto, start at a step, skip.

use super::create::not_holder;
use super::draft::Draft;
use super::fork;
use super::gate::{Onward, onward, orchestrator};
use super::lease::lose_step;
use super::offer::{AtOrchestrator, Offer, hand_over, reoffer};
use super::passed;
use super::person::only_a_person;
use crate::command::StartAt;
use crate::event::{HandoffEvent, RunEvent, StepEvent};
use crate::gate::GateKind;
use crate::names::{AgentId, Principal, Reason, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Baton, Handoff, Kind, Party, RunStatus};
use crate::workflow::{Place, Target, Workflow};

pub(super) fn pause(draft: &mut Draft<'_>, reason: Option<&Reason>) -> Result<(), Refusal> {
    match draft.run.status {
        RunStatus::Open => {
            let reason = draft.keep_some(reason);
            draft.emit(RunEvent::Paused { reason });
            Ok(())
        }
        RunStatus::Paused | RunStatus::Completed | RunStatus::Cancelled => Err(Refusal::Paused),
    }
}

pub(super) fn resume(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    match draft.run.status {
        RunStatus::Paused => {
            draft.emit(RunEvent::Resumed);
            Ok(())
        }
        RunStatus::Open | RunStatus::Completed | RunStatus::Cancelled => Err(Refusal::NotPaused),
    }
}

pub(super) fn cancel(draft: &mut Draft<'_>, reason: Option<&Reason>) {
    let reason = draft.keep_some(reason);
    // The innermost first, so that no holder is left waiting for a handoff that has ended.
    for handoff in draft.run.handoffs.clone().iter().rev() {
        draft.emit(HandoffEvent::Cancelled { handoff: handoff.no, reason });
        draft.done.cancelled.push(handoff.no);
    }
    draft.emit(RunEvent::Cancelled { reason });
}

pub(super) fn goto(
    draft: &mut Draft<'_>,
    step: &StepId,
    reason: &Reason,
    by: &Principal,
) -> Result<(), Refusal> {
    only_a_person(draft, by)?;
    if draft.workflow().step(step).is_none() {
        no_gate(draft, MoveScope::All)?;
        return Err(no_such_step(draft, step));
    }
    // To a step of a branch that is under way: the others are left alone.
    let own = draft.workflow().branch_of(step).map(|(_, branch)| branch);
    let scope = own.map_or(MoveScope::All, MoveScope::Branch);
    no_gate(draft, scope)?;
    if !draft.run.visited.contains(step) {
        let visited: Vec<&str> = draft.run.visited.iter().map(StepId::as_str).collect();
        let visited =
            if visited.is_empty() { "no step yet".to_owned() } else { visited.join(", ") };
        return Err(Refusal::NotVisited { step: step.clone(), visited });
    }
    if let Some(branch) = own {
        fork::check_place(draft, branch, &Place::Step(step.clone()))?;
        if draft.run.branch(branch).is_none() {
            return Err(Refusal::OutsideBranch {
                step: step.clone(),
                hint: "its branch has arrived at the join already".to_owned(),
            });
        }
        draft.branch = branch;
    }
    let is_work = |it: &&Handoff| it.kind != Kind::Question && scope.has(it);
    let left: Vec<Handoff> = draft.run.handoffs.iter().filter(is_work).cloned().collect();
    supersede_open(draft, reason, scope);
    for handoff in &left {
        lose_step(draft, handoff);
    }
    let to = first_at(draft, &Target::Step(step.clone()));
    let words = draft.keep(reason.as_str());
    let reason = Some(words);
    if own.is_none() && draft.run.fork.is_some() {
        fork::leave(draft, step, words);
    }
    passed::waive(draft, &to.place, by, reason);
    let offer = Offer { reason, ..reoffer(draft, to) };
    draft.done.handoff = Some(hand_over(draft, offer, AtOrchestrator::LiesLoose));
    Ok(())
}

/// No contract: the step gets the operator's package, or the run's.
pub(super) fn start_at(draft: &mut Draft<'_>, start: &StartAt) -> Result<(), Refusal> {
    only_a_person(draft, &start.by)?;
    match draft.baton() {
        Baton::Loose { .. } => {}
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
            return Err(not_holder(draft, &AgentId::orchestrator()));
        }
    }
    let place = Place::Step(start.step.clone());
    let agents = draft.workflow().agents_at(&place);
    let Some(first) = agents.first() else {
        return Err(no_such_step(draft, &start.step));
    };
    let agent = start.to.as_ref().unwrap_or(first).clone();
    if !agents.contains(&agent) {
        let (step, outcome) = (start.step.clone(), Refusal::START);
        return Err(Refusal::ChooseReceiver { step, outcome, choices: agents });
    }
    fork::check_place(draft, draft.branch, &place)?;
    let reason = Some(draft.keep(start.reason.as_str()));
    passed::waive(draft, &place, &start.by, reason);
    let offer = Offer { reason, ..reoffer(draft, Party { agent, place }) };
    let offer = if start.package.document.is_blank() {
        offer
    } else {
        Offer { package: Some(draft.keep_package(&start.package)), ..offer }
    };
    draft.done.handoff = Some(hand_over(draft, offer, AtOrchestrator::LiesLoose));
    Ok(())
}

pub(super) fn skip(draft: &mut Draft<'_>, reason: &Reason) -> Result<(), Refusal> {
    let scope = MoveScope::Branch(draft.branch);
    no_gate(draft, scope)?;
    let place = draft.run.current_place_in(draft.branch).cloned();
    // A handoff that a caller waits for is a part of a step, and no part is optional.
    let place = place.filter(|_| draft.run.frames_in(draft.branch).next().is_none());
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
    supersede_open(draft, reason, scope);
    let words = draft.keep(reason.as_str());
    draft.emit(StepEvent::Skipped { step: step.id.clone(), reason: Some(words) });
    let to = first_at(draft, &edge.to);
    let offer =
        Offer { reason: Some(words), ..Offer::new(orchestrator(), to, draft.newest_package()) };
    let came_by = offer.forward.clone();
    let then = AtOrchestrator::of(&edge.to);
    let from = Place::Step(step.id.clone());
    let work = Onward { offer, then, came_by, evidence: &[], asker: None, from, doubt: None };
    draft.done.handoff = Some(onward(draft, edge, work));
    Ok(())
}

fn first_at(draft: &Draft<'_>, target: &Target) -> Party {
    let place = Workflow::target_place(target);
    let agent = draft.workflow().agents_at(&place).into_iter().next();
    Party { agent: agent.unwrap_or_else(AgentId::orchestrator), place }
}

/// The branches that a move is about.
#[derive(Clone, Copy)]
enum MoveScope {
    All,
    Branch(u16),
}

impl MoveScope {
    fn has(self, handoff: &Handoff) -> bool {
        match self {
            Self::All => true,
            Self::Branch(branch) => handoff.branch == branch,
        }
    }
}

/// Refuses to bypass an open gate.
fn no_gate(draft: &Draft<'_>, scope: MoveScope) -> Result<(), Refusal> {
    let blocking =
        draft.run.gates().find(|(row, gate)| gate.kind != GateKind::Advisory && scope.has(row));
    match blocking {
        Some((handoff, gate)) => {
            Err(Refusal::GateOpen { handoff: handoff.no, choices: gate.choices().join(", ") })
        }
        None => Ok(()),
    }
}

/// Supersedes all but advisory gates: those end with the handoff they are about.
fn supersede_open(draft: &mut Draft<'_>, reason: &Reason, scope: MoveScope) {
    let is_advice =
        |it: &Handoff| it.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Advisory);
    for handoff in
        draft.run.handoffs.clone().iter().rev().filter(|it| !is_advice(it) && scope.has(it))
    {
        let reason = Some(draft.keep(reason.as_str()));
        draft.emit(HandoffEvent::Superseded { handoff: handoff.no, reason });
    }
}

fn no_such_step(draft: &Draft<'_>, step: &StepId) -> Refusal {
    let steps: Vec<&str> = draft.workflow().steps.iter().map(|it| it.id.as_str()).collect();
    Refusal::NoSuchStep { step: step.clone(), known: format!("it has: {}", steps.join(", ")) }
}

//! `handoff.next_phase` of the metadata block: it picks among edges, and work does not go to another
//! phase than the one that its own document names.

use super::route::FinishedWork;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::workflow::{Edge, Place, Step, Target, Workflow};

/// The word of a document for the end of the work.
const END: &str = "complete";
const NEXT: &str = "handoff.next_phase";

/// Refuses work that says that it ends another phase of the workflow than the one of its step. A word
/// that the workflow does not have is of another system, and decides nothing.
pub(super) fn check(
    workflow: &Workflow,
    step: &Step,
    on: Outcome,
    package: &Package,
) -> Result<(), Refusal> {
    let Some(phase) = package.phase().filter(|_| is_finished(on)) else { return Ok(()) };
    let is_known = workflow.steps.iter().any(|it| is_called(it, phase));
    if is_known && !is_called(step, phase) {
        let why = format!("the run is at `{}`", step.id);
        return Err(Refusal::WrongPhase { field: "phase", phase: phase.to_owned(), why });
    }
    Ok(())
}

/// Only finished work ends a phase and goes to a next one.
fn is_finished(on: Outcome) -> bool {
    matches!(on, Outcome::Success | Outcome::NeedsReview)
}

/// The edge to an agent: where several lead to it, the one to the named phase.
pub(super) fn edge_to<'a>(
    workflow: &'a Workflow,
    place: &Place,
    to: &AgentId,
    outcome: Option<Outcome>,
    package: &Package,
) -> Result<&'a Edge, Refusal> {
    let usual = super::edge::edge_to(workflow, place, to, outcome)?;
    // A receiver that the caller names overrides what the document suggests.
    let is_suggested = package.next_agent().is_none_or(|it| it == to.as_str());
    let Some(phase) = next_phase(workflow, package, usual.on).filter(|_| is_suggested) else {
        return Ok(usual);
    };
    let leads_there = |it: &&Edge| {
        it.on == usual.on
            && (workflow.agents_along(it).contains(to) || workflow.agents_at_join(it).contains(to))
            && leads_to(workflow, it, phase)
    };
    workflow.edges_from(place).iter().find(leads_there).ok_or_else(|| Refusal::WrongPhase {
        field: NEXT,
        phase: phase.to_owned(),
        why: format!("`{to}` comes next at {}", name_of(&usual.to)),
    })
}

/// The edge to the named phase, where the document names no receiver; `None` where it names no
/// phase of the workflow.
pub(super) fn edge_on<'a>(
    workflow: &Workflow,
    step: &'a Step,
    outcome: Outcome,
    work: &FinishedWork<'_>,
) -> Result<Option<&'a Edge>, Refusal> {
    let Some(phase) = next_phase(workflow, work.package, outcome) else { return Ok(None) };
    let edge = step.edges_on(outcome).find(|it| leads_to(workflow, it, phase));
    if edge.is_some() {
        return Ok(edge);
    }
    let known: Vec<String> = step.edges_on(outcome).map(|it| name_of(&it.to)).collect();
    let why = format!("from `{}` the work goes to {}", step.id, known.join(" or "));
    Err(Refusal::WrongPhase { field: NEXT, phase: phase.to_owned(), why })
}

/// A word that the workflow does not have decides nothing.
fn next_phase<'a>(workflow: &Workflow, package: &'a Package, on: Outcome) -> Option<&'a str> {
    if !is_finished(on) {
        return None;
    }
    let is_known = |it: &&str| *it == END || workflow.steps.iter().any(|step| is_called(step, it));
    package.next_phase().filter(is_known)
}

fn leads_to(workflow: &Workflow, edge: &Edge, phase: &str) -> bool {
    match &edge.to {
        Target::Complete => phase == END,
        Target::Step(id) => workflow.step(id).is_some_and(|it| is_called(it, phase)),
    }
}

fn is_called(step: &Step, phase: &str) -> bool {
    step.id.as_str().eq_ignore_ascii_case(phase) || step.phase.eq_ignore_ascii_case(phase)
}

fn name_of(target: &Target) -> String {
    match target {
        Target::Complete => format!("`{END}`"),
        Target::Step(id) => format!("`{id}`"),
    }
}

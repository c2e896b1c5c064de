//! `handoff.next_phase` of the metadata block: it picks among edges, and work does not go to another
//! phase than the one that its own document names.

use super::route::FinishedWork;
use crate::contract::Check;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::workflow::{Edge, Place, Step, Target, Workflow};

/// The word of a document for the end of the work.
const END: &str = "complete";
const NEXT: &str = "handoff.next_phase";

/// Refuses work that says that it is of another phase of the workflow than that of its step, whatever
/// its outcome. A word that the workflow does not have is of another system, and decides nothing, unless
/// the contract of the way asks for the workflow's own phases.
pub(super) fn check(
    workflow: &Workflow,
    step: &Step,
    on: Outcome,
    package: &Package,
) -> Result<(), Refusal> {
    let Some(phase) = package.phase() else { return Ok(()) };
    let is_known = workflow.steps.iter().any(|it| is_called(it, phase));
    let counts = is_known || step.edges_on(on).any(|it| asks_for_phase(workflow, step, it));
    if counts && !is_called(step, phase) {
        let why = format!("the run is at `{}`", step.id);
        return Err(Refusal::WrongPhase { field: "phase", phase: phase.to_owned(), why });
    }
    Ok(())
}

/// True where the contract lists the phases of the work, that of the step among them.
fn asks_for_phase(workflow: &Workflow, step: &Step, edge: &Edge) -> bool {
    lists(workflow, edge, "phase", |word| is_called(step, word))
}

/// True where the contract lists the phases that come next, that of the edge among them.
fn asks_for_next_phase(workflow: &Workflow, edge: &Edge) -> bool {
    lists(workflow, edge, NEXT, |word| leads_to(workflow, edge, word))
}

fn lists(workflow: &Workflow, edge: &Edge, field: &str, is_it: impl Fn(&str) -> bool) -> bool {
    let Some(contract) = edge.contract.as_ref().and_then(|it| workflow.contract(it)) else {
        return false;
    };
    let mut rules = contract.must.iter().chain(&contract.should).filter(|it| it.field == field);
    rules.any(|rule| match &rule.check {
        Check::OneOf(words) => words.iter().any(|it| is_it(it)),
        Check::Present
        | Check::Kind(_)
        | Check::NoneOf(_)
        | Check::AtLeast(_)
        | Check::AtMost(_)
        | Check::Absent
        | Check::SameAs(_)
        | Check::CountedBy(_) => false,
    })
}

/// Only finished work goes to a next phase.
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
    let on = workflow.edges_from(place).iter().filter(|it| it.on == usual.on);
    let Some(phase) = next_phase(workflow, package, usual.on, on).filter(|_| is_suggested) else {
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
    let edges = step.edges_on(outcome);
    let Some(phase) = next_phase(workflow, work.package, outcome, edges) else { return Ok(None) };
    let edge = step.edges_on(outcome).find(|it| leads_to(workflow, it, phase));
    if edge.is_some() {
        return Ok(edge);
    }
    let known: Vec<String> = step.edges_on(outcome).map(|it| name_of(&it.to)).collect();
    let why = format!("from `{}` the work goes to {}", step.id, known.join(" or "));
    Err(Refusal::WrongPhase { field: NEXT, phase: phase.to_owned(), why })
}

/// A word that the workflow does not have decides nothing, unless the contract of one of the ways asks
/// for the workflow's own phases.
fn next_phase<'a>(
    workflow: &Workflow,
    package: &'a Package,
    on: Outcome,
    mut edges: impl Iterator<Item = &'a Edge>,
) -> Option<&'a str> {
    if !is_finished(on) {
        return None;
    }
    let phase = package.next_phase()?;
    let is_known = phase == END || workflow.steps.iter().any(|step| is_called(step, phase));
    (is_known || edges.any(|it| asks_for_next_phase(workflow, it))).then_some(phase)
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

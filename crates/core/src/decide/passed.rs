//! Which gates the work has passed; the invariant: it is never behind a gate it has not passed.
//!
//! Work may be at a step if the step can be reached from the start through the gates that the work
//! has passed; an edge with checks is such a gate. So it is behind no blocking or automatic gate that every path crosses, and behind no
//! set of gates of which every path crosses one. It comes there along the opened gate, by an
//! operator's goto or start at a step, or by a person's answer that leads past it; the last two are
//! recorded as waived.

use std::borrow::Cow;

use super::draft::Draft;
pub(super) use super::person::only_a_person;
use crate::content::ContentId;
use crate::event::GateEvent;
use crate::gate::GateEdge;
use crate::names::{Principal, StepId};
use crate::refusal::Refusal;
use crate::run::{Baton, Handoff, Kind, Run, RunStatus, State};
use crate::shell::shell_word;
use crate::workflow::{Edge, Place, Workflow};

/// A run that was stored before passed gates were recorded is assumed to have passed those before
/// its current places: its events do not say, and it must not get stuck.
pub(super) fn carry_from_before(draft: &mut Draft<'_>) {
    if !has_gates(draft) || draft.passed().is_some() || draft.run.is_finished() {
        return;
    }
    let graph = draft.workflow().graph();
    let mut gates: Vec<GateEdge> = Vec::new();
    for step in stands_at(&draft.run) {
        let passed = with_old_checks(draft, &gates);
        let missing: Vec<GateEdge> = graph.missing(&step, &passed).into_iter().cloned().collect();
        gates.extend(missing);
    }
    let branch = draft.branch;
    draft.emit(GateEvent::Carried { gates, branch });
}

/// Whether there is anything that this run's work has to pass.
fn has_gates(draft: &Draft<'_>) -> bool {
    let graph = draft.workflow().graph();
    graph.gates().len() > not_counted(draft).len()
}

/// The edges with checks, for a run that began before they counted.
fn not_counted<'a>(draft: &Draft<'a>) -> &'a [GateEdge] {
    match draft.run.has_checks {
        true => &[],
        false => draft.workflow().graph().checked_edges(),
    }
}

fn with_old_checks<'a>(draft: &Draft<'_>, passed: &'a [GateEdge]) -> Cow<'a, [GateEdge]> {
    let old = not_counted(draft);
    if old.is_empty() {
        return Cow::Borrowed(passed);
    }
    Cow::Owned(passed.iter().chain(old).cloned().collect())
}

fn stands_at(run: &Run) -> Vec<StepId> {
    let mut places: Vec<&Place> = Vec::new();
    if let Baton::Loose { at, other, .. } = run.baton() {
        places.extend([at, other]);
    }
    for handoff in run.handoffs.iter().filter(|it| it.kind != Kind::Question) {
        match (handoff.state, &handoff.gate) {
            // Before the gate, not behind it.
            (_, Some(gate)) => places.extend([&handoff.from.place, &gate.asker.place]),
            (State::Pending | State::Clarification, None) => {
                places.extend([&handoff.from.place, &handoff.to.place]);
            }
            (State::Accepted | State::Parked, None) => places.push(&handoff.to.place),
        }
    }
    places.into_iter().filter_map(Place::as_step).cloned().collect()
}

/// Refuses work at a place behind a gate that it has not passed.
pub(super) fn check(draft: &Draft<'_>, place: &Place) -> Result<(), Refusal> {
    let missing = missing(draft, place);
    if missing.is_empty() {
        return Ok(());
    }
    Err(behind_gate(draft, &place.to_string(), &missing))
}

pub(super) fn is_open_to(draft: &Draft<'_>, place: &Place) -> bool {
    missing(draft, place).is_empty()
}

/// The work is at `place` again: gates that it can reach from there have to be passed again.
pub(super) fn go_back_to(draft: &mut Draft<'_>, place: &Place) {
    let (Some(step), Some(passed)) = (place.as_step(), draft.passed()) else { return };
    let gates = draft.workflow().graph().lost_at(step, passed);
    if !gates.is_empty() {
        let branch = draft.branch;
        draft.emit(GateEvent::Lost { gates, branch });
    }
}

/// Records the gates between the work and `place` as waived: the caller moves it there anyway.
pub(super) fn waive(
    draft: &mut Draft<'_>,
    place: &Place,
    by: &Principal,
    reason: Option<ContentId>,
) {
    let gates = missing(draft, place);
    waive_gates(draft, &gates, by, reason);
}

/// As [`waive`], for the end of the run.
pub(super) fn waive_end(draft: &mut Draft<'_>, by: &Principal, reason: Option<ContentId>) {
    let gates = missing_at_end(draft);
    waive_gates(draft, &gates, by, reason);
}

fn waive_gates(
    draft: &mut Draft<'_>,
    gates: &[&GateEdge],
    by: &Principal,
    reason: Option<ContentId>,
) {
    if gates.is_empty() {
        return;
    }
    let gates = gates.iter().copied().cloned().collect();
    let branch = draft.branch;
    draft.emit(GateEvent::Waived { gates, by: by.clone(), reason, branch });
}

/// Invariant of every command: it must not leave work behind a gate that the work has not passed,
/// nor end the run there.
pub(super) fn check_decision(draft: &Draft<'_>, before: RunStatus) -> Result<(), Refusal> {
    if !has_gates(draft) {
        return Ok(());
    }
    let is_work = |it: &&Handoff| it.kind != Kind::Question;
    for handoff in draft.run.handoffs.iter().filter(is_work) {
        let missing = missing_in(draft, handoff.branch, &handoff.to.place);
        if !missing.is_empty() {
            return Err(behind_gate(draft, &handoff.to.place.to_string(), &missing));
        }
    }
    if draft.run.status == RunStatus::Completed && before != RunStatus::Completed {
        let missing = missing_at_end(draft);
        if !missing.is_empty() {
            return Err(behind_gate(draft, "the end", &missing));
        }
    }
    Ok(())
}

fn missing<'a>(draft: &Draft<'a>, place: &Place) -> Vec<&'a GateEdge> {
    missing_in(draft, draft.branch, place)
}

fn missing_in<'a>(draft: &Draft<'a>, branch: u16, place: &Place) -> Vec<&'a GateEdge> {
    let (Some(step), Some(passed)) = (place.as_step(), draft.run.passed_in(branch)) else {
        return Vec::new();
    };
    let passed = &with_old_checks(draft, passed);
    let graph = draft.workflow().graph();
    match draft.run.fork.as_ref().filter(|it| branch != 0 && it.join == *step) {
        // On its way to the join, the work of a branch has only its own gates to pass.
        Some(fork) => {
            let first = fork.first(branch);
            first.map_or_else(Vec::new, |it| graph.missing_to_join(it, passed))
        }
        None => graph.missing(step, passed),
    }
}

fn missing_at_end<'a>(draft: &Draft<'a>) -> Vec<&'a GateEdge> {
    let Some(passed) = draft.passed() else { return Vec::new() };
    draft.workflow().graph().missing_at_end(&with_old_checks(draft, passed))
}

fn behind_gate(draft: &Draft<'_>, place: &str, missing: &[&GateEdge]) -> Refusal {
    let workflow = draft.workflow();
    let gates: Vec<String> = missing.iter().map(|it| in_words(workflow, it)).collect();
    let first = missing.first().map(|it| it.from.to_string()).unwrap_or_default();
    Refusal::BehindGate {
        place: place.to_owned(),
        gates: gates.join(", then "),
        first,
        instead: instead(draft, place),
    }
}

/// `Budget approved` (estimation → implementation).
fn in_words(workflow: &Workflow, gate: &GateEdge) -> String {
    let edge = workflow.edge_between(&gate.from, &gate.to, gate.on);
    let name = edge.and_then(Edge::hold_name).unwrap_or_else(|| "gate".to_owned());
    let to = match &gate.to {
        Place::Orchestrator => "complete".to_owned(),
        place @ (Place::Step(_) | Place::Human | Place::Delegate(_)) => place.to_string(),
    };
    format!("`{name}` ({} → {to})", gate.from)
}

/// The command that waives the gate on record, where it would be accepted.
fn instead(draft: &Draft<'_>, place: &str) -> Option<String> {
    let story = shell_word(draft.run.story.as_str());
    let is_visited = draft.run.visited.iter().any(|it| it.as_str() == place);
    match draft.baton() {
        Baton::Loose { .. } => Some(format!("baton run start --at {place} --reason TEXT {story}")),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } if is_visited => {
            Some(format!("baton run goto --reason TEXT {story} {place}"))
        }
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => None,
    }
}

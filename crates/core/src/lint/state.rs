//! `workflow_state` and `phase`: the sender's idea of the workflow's position.

use super::facts::{Facts, RunFact};
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;
use crate::document::kind::DocumentKind;

const FIELD: &str = "workflow_state";
/// More than any workflow has.
const MOST_STEPS: usize = 200;

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, facts: &Facts, sink: &mut Sink) {
    if let DocumentKind::MetadataBlock(_) = kind {
        phase(body, facts, sink);
        next_phase(body, facts, sink);
    }
    let Some(state) = body.fields().at(FIELD) else { return };
    let problem = contradiction(state).or_else(|| difference(state, facts.run.as_ref()?));
    match problem {
        Some((key, message)) => {
            let path = body.field_path(&format!("{FIELD}.{key}"));
            sink.say(LintRule::StaleWorkflowState, path, message);
        }
        None if facts.run.is_none() => sink.unverified.push(body.field_path(FIELD)),
        None => {}
    }
}

/// The phase that the metadata block ends, against the step that the run is at.
fn phase(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    const PHASE: &str = "phase";
    let word = body.fields().member(PHASE).and_then(Node::scalar_text).map(str::trim);
    let Some((word, run)) = word.zip(facts.run.as_ref()) else { return };
    let Some(at) = &run.at else { return };
    // A word that the workflow does not have says nothing about the run.
    let is_phase = run.phases.iter().any(|it| it.is_called(word));
    if is_phase && !at.is_called(word) {
        let message = format!("is not `{}`, where the run is", at.id);
        sink.say(LintRule::StaleWorkflowState, body.field_path(PHASE), message);
    }
}

/// A next phase that the workflow does not have is another system's, unless it is nearly one of ours.
fn next_phase(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    const NEXT: &str = "handoff.next_phase";
    let word = body.fields().at(NEXT).and_then(Node::scalar_text).map(str::trim);
    let Some((word, run)) = word.zip(facts.run.as_ref()) else { return };
    if let Some(meant) = meant_phase(run, word) {
        let message =
            format!("is no phase of the workflow, and nearly `{meant}`, which was probably meant");
        sink.say(LintRule::UnknownWord, body.field_path(NEXT), message);
    }
}

/// The phase that was probably meant by a word that the workflow does not have.
pub(crate) fn meant_phase<'a>(run: &'a RunFact, word: &str) -> Option<&'a str> {
    const END: &str = "complete";
    let known =
        || run.phases.iter().flat_map(|it| [it.phase.as_str(), it.id.as_str()]).chain([END]);
    // Longer words are compared with nothing: none of them is a slip.
    if word.len() > 64 || known().any(|it| it.eq_ignore_ascii_case(word)) {
        return None;
    }
    let plain = |it: &str| it.to_lowercase().replace(['-', ' '], "_");
    let distance = |it: &str| strsim::osa_distance(&plain(word), &plain(it));
    let (distance, nearest) = known().map(|it| (distance(it), it)).min()?;
    (distance <= 2 && distance * 3 < nearest.chars().count()).then_some(nearest)
}

/// A statement that is impossible in any workflow.
fn contradiction(state: &Node) -> Option<(&'static str, String)> {
    let [completed, remaining] = ["completed_steps", "remaining_steps"].map(|it| steps(state, it));
    if completed.iter().any(|it| remaining.contains(it)) {
        return Some(("remaining_steps", "lists a step that is said to be completed".to_owned()));
    }
    let current = state.member("current_step").and_then(Node::scalar_text)?.trim();
    let Ok(number) = current.parse::<usize>() else {
        let is_over = completed.contains(&current);
        return is_over.then(|| ("current_step", "is said to be completed".to_owned()));
    };
    if completed.is_empty() {
        return None;
    }
    // The sender's own step, or the one it hands to.
    let n_completed = completed.len();
    let is_next = number == n_completed || number == n_completed + 1;
    (!is_next).then(|| ("current_step", format!("is {number} after {n_completed} completed steps")))
}

/// A statement that is wrong for this run.
fn difference(state: &Node, run: &RunFact) -> Option<(&'static str, String)> {
    let name = state.member("name").and_then(Node::scalar_text);
    if name.is_some_and(|it| it != run.workflow) {
        return Some(("name", format!("is not `{}`, where the run is", run.workflow)));
    }
    for key in ["completed_steps", "remaining_steps"] {
        if steps(state, key).iter().any(|it| !run.steps.iter().any(|step| step == it)) {
            return Some((key, "names a step that the workflow does not have".to_owned()));
        }
    }
    let is_new = |it: &&str| !run.visited.iter().any(|step| step == it);
    let is_early = steps(state, "completed_steps").iter().any(is_new);
    is_early.then(|| ("completed_steps", "names a step where the run has not been".to_owned()))
}

fn steps<'a>(state: &'a Node, key: &str) -> Vec<&'a str> {
    let steps = state.member(key).and_then(items).unwrap_or_default();
    steps.iter().take(MOST_STEPS).filter_map(Node::scalar_text).map(str::trim).collect()
}

//! The edges of a step, and the entry of a workflow: `on` and `start`.

use baton_core::document::Number;
use baton_core::names::{AgentId, NameError, StepId};
use baton_core::outcome::Outcome;
use baton_core::workflow::{ApprovalThreshold, Edge, Mode, Target};

use super::{PROFILES, count, gates, score};
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::located::LocatedValue;
use crate::suggest::did_you_mean;

pub(crate) const KEYS: &[&str] = &[
    "to",
    "back",
    "contract",
    "profile",
    "rounds",
    "min_score",
    "gate",
    "checks",
    "ask_in",
    "ask_below",
];
pub(crate) const THRESHOLD_KEYS: &[&str] = &["field", "value"];
/// Where a run is autonomous, no edge asks because of its mode.
pub(crate) const ASKING_MODES: &[(&str, Mode)] =
    &[("semi-autonomous", Mode::SemiAutonomous), ("supervised", Mode::Supervised)];
/// Nothing precedes the start, so it has no `back`, and no gate: there is no sender to return work
/// to.
pub(crate) const START_KEYS: &[&str] = &["to", "contract", "profile", "rounds", "min_score"];

/// The end of a run, valid wherever a step may be named.
pub(super) const COMPLETE: &str = "complete";

/// Of one step, over all outcomes.
const MOST_EDGES: usize = 100;

pub(super) fn start(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Edge> {
    edge(Outcome::Success, AgentId::ORCHESTRATOR, field, START_KEYS, problems)
}

/// The edges of the step named `from`, without those that could not be read.
pub(super) fn edges(from: &str, field: &FieldAt<'_>, problems: &mut Problems) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (member, field) in field.entries(problems) {
        let Some(outcome) = Outcome::CLAIMABLE.into_iter().find(|it| it.name() == member.key)
        else {
            let message = format!("is not an outcome; {}", suggestion(&member.key));
            problems.add(member.key_at, field.path.clone(), "unknown_outcome", message);
            continue;
        };
        if field.node.value == LocatedValue::Null {
            problems.add(member.key_at, field.path.clone(), "missing", "leads nowhere");
            continue;
        }
        let items = field.items();
        if edges.len() + items.len() > MOST_EDGES {
            let message = format!("a step has at most {MOST_EDGES} edges");
            field.problem("too_many", message, problems);
            break;
        }
        edges.extend(items.iter().filter_map(|it| edge(outcome, from, it, KEYS, problems)));
    }
    edges
}

/// Documents have many words for an outcome; a workflow file has one.
fn suggestion(word: &str) -> String {
    match Outcome::parse(word) {
        Some(outcome) => format!("did you mean `{}`?", outcome.name()),
        None => did_you_mean(word, &Outcome::CLAIMABLE.map(Outcome::name)),
    }
}

/// A step's name, or a map with details.
fn edge(
    on: Outcome,
    from: &str,
    field: &FieldAt<'_>,
    known: &[&str],
    problems: &mut Problems,
) -> Option<Edge> {
    if field.node.scalar_text().is_some() {
        let to = field.parsed(target, problems)?;
        return Some(Edge::plain(on, to));
    }
    let fields = Fields::open(field, known, problems)?;
    let to = fields.required("to", problems).and_then(|it| it.parsed(target, problems));
    let is_back = fields.get("back").and_then(|it| it.bool(problems)).unwrap_or(false);
    let contract = fields.get("contract").and_then(|it| it.line(problems));
    let profile = fields.get("profile").and_then(|it| it.choice(PROFILES, problems));
    let rounds = fields.get("rounds").and_then(|it| count(&it, 1, problems));
    let min_score = fields.get("min_score").and_then(|it| score(&it, problems));
    let gate_name = format!("{from} → {}", to.as_ref().map_or("", target_name));
    let gate = fields.get("gate").filter(|_| known.contains(&"gate"));
    let gate = gate.and_then(|it| gates::gate(gate_name, &it, problems));
    let checks = fields.get("checks").filter(|_| known.contains(&"checks"));
    let checks = checks.and_then(|it| gates::checks(&it, problems)).unwrap_or_default();
    let ask_in = fields.get("ask_in").filter(|_| known.contains(&"ask_in"));
    let ask_in = ask_in.map(|it| ask_in_modes(&it, problems)).unwrap_or_default();
    let threshold = fields.get("ask_below").filter(|_| known.contains(&"ask_below"));
    let threshold = threshold.and_then(|it| ask_below(&it, problems));
    Some(Edge {
        is_back,
        contract,
        profile,
        rounds,
        min_score,
        gate,
        checks,
        ask_in,
        threshold,
        ..Edge::plain(on, to?)
    })
}

/// A mode, or a list of them.
fn ask_in_modes(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<Mode> {
    field.items().iter().filter_map(|it| it.choice(ASKING_MODES, problems)).collect()
}

/// A number, for the field `confidence`, or a map with details.
fn ask_below(field: &FieldAt<'_>, problems: &mut Problems) -> Option<ApprovalThreshold> {
    const USUAL_FIELD: &str = "confidence";
    if field.node.scalar_text().is_some() {
        let below = number(field, problems)?;
        return Some(ApprovalThreshold { field: USUAL_FIELD.to_owned(), below });
    }
    let fields = Fields::open(field, THRESHOLD_KEYS, problems)?;
    let named = fields.get("field").and_then(|it| it.line(problems));
    let below = fields.required("value", problems).and_then(|it| number(&it, problems));
    let field = named.unwrap_or_else(|| USUAL_FIELD.to_owned());
    Some(ApprovalThreshold { field, below: below? })
}

fn number(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Number> {
    let text = field.scalar(problems)?;
    let number = Number::parse(text.trim());
    if number.is_none() {
        field.problem("not_a_number", "must be a number, such as 0.7", problems);
    }
    number
}

fn target_name(target: &Target) -> &str {
    match target {
        Target::Step(id) => id.as_str(),
        Target::Complete => COMPLETE,
    }
}

fn target(name: &str) -> Result<Target, NameError> {
    if name == COMPLETE {
        return Ok(Target::Complete);
    }
    StepId::parse(name).map(Target::Step)
}

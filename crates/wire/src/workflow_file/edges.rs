//! The edges of a step, and the entry of a workflow: `on` and `start`.

use baton_core::document::Number;
use baton_core::names::{AgentId, NameError, StepId};
use baton_core::outcome::Outcome;
use baton_core::workflow::{ApprovalThreshold, Edge, FanOut, JoinNeed, Mode, Target};

use super::{PROFILES, approvers, count, gates, score};
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::located::LocatedValue;
use crate::suggest::did_you_mean;

pub(crate) const KEYS: &[&str] = &[
    "to",
    "join",
    "back",
    "contract",
    "profile",
    "rounds",
    "budget",
    "min_score",
    "gate",
    "checks",
    "ask_in",
    "ask_below",
    "raise",
];
pub(crate) const JOIN_KEYS: &[&str] = &["at", "need"];
/// Beside a number.
pub(crate) const NEEDS: &[(&str, JoinNeed)] = &[("all", JoinNeed::All), ("any", JoinNeed::Any)];
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
    let (to, fan_out) = targets(&fields, known, problems);
    let is_back = fields.get("back").and_then(|it| it.bool(problems)).unwrap_or(false);
    let contract = fields.get("contract").and_then(|it| it.line(problems));
    let profile = fields.get("profile").and_then(|it| it.choice(PROFILES, problems));
    let rounds = fields.get("rounds").and_then(|it| count(&it, 1, problems));
    let budget = fields.get("budget").filter(|_| known.contains(&"budget"));
    let budget = budget.and_then(|it| it.budget(problems)).unwrap_or_default();
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
    let raise = fields.get("raise").filter(|_| known.contains(&"raise"));
    let raise = raise.map(|it| approvers::raise(&it, problems)).unwrap_or_default();
    Some(Edge {
        fan_out,
        is_back,
        contract,
        profile,
        rounds,
        budget,
        min_score,
        gate,
        checks,
        ask_in,
        threshold,
        raise,
        ..Edge::plain(on, to?)
    })
}

/// `to`: a step, or a list of steps, to which the work goes at once; then `join` says where it joins.
fn targets(
    fields: &Fields<'_>,
    known: &[&str],
    problems: &mut Problems,
) -> (Option<Target>, Option<FanOut>) {
    let Some(to) = fields.required("to", problems) else { return (None, None) };
    let join = fields.get("join").filter(|_| known.contains(&"join"));
    if !to.is_list() {
        if let Some(join) = join {
            let message = "joins branches, and this edge goes to one step; write `to: [a, b]`, or \
                           leave `join` out";
            join.problem("join_without_fan_out", message, problems);
        }
        return (to.parsed(target, problems), None);
    }
    if !known.contains(&"join") {
        let message = "a run starts at one step; let that step fan out";
        to.problem("fan_out_at_start", message, problems);
        return (None, None);
    }
    let items = to.items();
    if items.len() < 2 {
        let message = "goes to several steps at once; name two or more, or write one without `[ ]`";
        to.problem("one_branch", message, problems);
    }
    let branches: Vec<StepId> =
        items.iter().filter_map(|it| it.parsed(StepId::parse, problems)).collect();
    let Some(join) = join else {
        let message = "goes to several steps at once; say where their work joins: `join: STEP`";
        to.problem("fan_out_without_join", message, problems);
        return (branches.into_iter().next().map(Target::Step), None);
    };
    let join = join_of(&join, problems);
    let first = branches.first().cloned().map(Target::Step);
    let fan_out = join.map(|(join, need)| FanOut { branches, join, need });
    (first, fan_out)
}

/// A step, at which all branches join, or a map with details.
fn join_of(field: &FieldAt<'_>, problems: &mut Problems) -> Option<(StepId, JoinNeed)> {
    if field.node.scalar_text().is_some() {
        return Some((field.parsed(StepId::parse, problems)?, JoinNeed::All));
    }
    let fields = Fields::open(field, JOIN_KEYS, problems)?;
    let at = fields.required("at", problems).and_then(|it| it.parsed(StepId::parse, problems));
    let need = fields.get("need").and_then(|it| need(&it, problems));
    Some((at?, need.unwrap_or(JoinNeed::All)))
}

/// `all`, `any`, or how many.
fn need(field: &FieldAt<'_>, problems: &mut Problems) -> Option<JoinNeed> {
    let word = field.scalar(problems)?;
    if word.bytes().all(|it| it.is_ascii_digit()) {
        let n = field.whole_number(1..=100, problems)?;
        return u16::try_from(n).ok().map(JoinNeed::AtLeast);
    }
    field.choice(NEEDS, problems)
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

pub(super) fn number(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Number> {
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

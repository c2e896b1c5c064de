//! Workflow files: YAML in, a checked [`Workflow`] out, or every problem with its line.
//!
//! The keys of each map are in one list beside the function that reads them; a test compares the
//! published schema with those lists.

use baton_core::budget::Budget;
use baton_core::contract::{Contract, Profile};
use baton_core::hash::Hash;
use baton_core::names::{CheckName, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::problem::Problem;
use baton_core::workflow::{
    Edge, Expiry, LazyGraph, Limits, Mode, OnExpire, Step, Target, Workflow,
};
use sha2::{Digest, Sha256};

use self::agents::KnownAgents;
use crate::agent_file::{FileName, same_name};
use crate::builtin;
use crate::fields::{FieldAt, Fields, join};
use crate::file_problem::{FileProblem, Problems};
use crate::located::{Located, LocatedValue, yaml};
use crate::suggest::nearest;

pub mod agents;
pub(crate) mod approvers;
pub mod checks;
pub(crate) mod contracts;
pub(crate) mod delegates;
pub(crate) mod edges;
pub(crate) mod gates;
pub(crate) mod routing;
pub(crate) mod steps;

pub const MOST_BYTES: usize = 256 * 1024;

pub(crate) const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "profile",
    "limits",
    "domain",
    "routing",
    "start",
    "steps",
    "escalation",
    "contracts",
];
pub(crate) const LIMIT_KEYS: &[&str] = &[
    "rounds",
    "retries",
    "questions",
    "releases",
    "run_within",
    "run_handoffs",
    "budget",
    "stale_after",
    "escalate_after",
    "checks_within",
    "expire_after",
    "on_expire",
];
pub(crate) const ON_EXPIRE: &[(&str, OnExpire)] =
    &[("loose", OnExpire::Loose), ("return", OnExpire::Return), ("ask", OnExpire::Ask)];
pub(crate) const MODES: &[(&str, Mode)] = &[
    ("autonomous", Mode::Autonomous),
    ("semi-autonomous", Mode::SemiAutonomous),
    ("supervised", Mode::Supervised),
];

pub(crate) const PROFILES: &[(&str, Profile)] =
    &[("lenient", Profile::Lenient), ("strict", Profile::Strict)];

/// Reads a workflow of at most [`MOST_BYTES`].
pub fn parse(text: &str) -> Result<Workflow, Vec<FileProblem>> {
    parse_with(text, FileName::Any, &mut |_, _, _| ())
}

/// Reads the file `NAME.yaml`: the workflow has to have that name.
pub fn parse_file(name: &str, text: &str) -> Result<Workflow, Vec<FileProblem>> {
    parse_with(text, FileName::Is(name), &mut |_, _, _| ())
}

/// As [`parse_file`]; its agents have to exist and to fit, too, and its checks must not be slips of
/// those that the project has.
pub fn parse_for(
    name: &str,
    text: &str,
    agents: &KnownAgents<'_>,
    checks: &[CheckName],
) -> Result<Workflow, Vec<FileProblem>> {
    parse_with(text, FileName::Is(name), &mut |workflow, root, problems| {
        let is_sound = problems.is_empty();
        let mut found = if is_sound { workflow.endless_cycles() } else { Vec::new() };
        if is_sound {
            found.extend(workflow.impossible_contracts());
        }
        found.extend(agents::problems(workflow, agents));
        found.extend(checks::problems(workflow, checks));
        for problem in found {
            problems.push(root.place_of(&problem.path), problem);
        }
    })
}

/// A check of the workflow as far as it could be read.
type FurtherCheck<'a> = &'a mut dyn FnMut(&Workflow, &Located, &mut Problems);

fn parse_with(
    text: &str,
    file: FileName<'_>,
    further: FurtherCheck<'_>,
) -> Result<Workflow, Vec<FileProblem>> {
    Problems::collect(|problems| {
        let root = yaml::read(text, MOST_BYTES, problems)?;
        let workflow = read(&root, text, file, problems);
        // Runs under way keep the definition that they began with, whatever is in it.
        if let FileName::Is(_) = file {
            refuse_empty(&root, "", problems);
        }
        let workflow = workflow?;
        let found = if problems.is_empty() {
            workflow.problems()
        } else {
            let mut found = workflow.reference_problems();
            // Agents that could not be read are reported already.
            found.retain(|it| it.rule != "no_agent");
            found
        };
        for problem in found {
            problems.push(root.place_of(&problem.path), with_built_in_hint(problem));
        }
        further(&workflow, &root, problems);
        Some(workflow)
    })
}

/// A key without a value promises something that nothing reads, such as a gate.
fn refuse_empty(node: &Located, path: &str, problems: &mut Problems) {
    match &node.value {
        LocatedValue::Map(members) => {
            for member in members {
                let path = join(path, &member.key);
                if member.value.value == LocatedValue::Null && !problems.is_about(&path) {
                    let message = "is empty; write its value, or leave the key out";
                    problems.add(member.key_at, path.clone(), "empty", message);
                }
                refuse_empty(&member.value, &path, problems);
            }
        }
        LocatedValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                refuse_empty(item, &format!("{path}[{index}]"), problems);
            }
        }
        LocatedValue::Null
        | LocatedValue::Bool(_)
        | LocatedValue::Number(_)
        | LocatedValue::Text(_) => {}
    }
}

/// The workflow as far as it can be read. Where there are problems, it is good for checks only.
fn read(
    root: &Located,
    text: &str,
    file: FileName<'_>,
    problems: &mut Problems,
) -> Option<Workflow> {
    let fields = Fields::open(&FieldAt::root(root), KEYS, problems)?;
    let name = fields.required("name", problems).and_then(|it| {
        let name = it.parsed(WorkflowName::parse, problems)?;
        if let FileName::Is(file) = file {
            same_name(&it, file, name.as_str(), "yaml", problems);
        }
        Some(name)
    });
    let title = fields.get("title").and_then(|it| it.line(problems));
    let description = fields.get("description").and_then(|it| it.prose(problems));
    let profile = fields.get("profile").and_then(|it| it.choice(PROFILES, problems));
    let limits = fields.get("limits").map(|it| limits(&it, problems)).unwrap_or_default();
    let routing = routing::routing(&fields, problems);
    let start = fields.required("start", problems).and_then(|it| edges::start(&it, problems));
    let steps = fields.required("steps", problems).and_then(|it| steps::steps(&it, problems));
    let escalation = fields.get("escalation").and_then(|it| it.line(problems));
    let contracts =
        fields.get("contracts").map(|it| contracts::contracts(&it, problems)).unwrap_or_default();

    let contracts = with_built_in(contracts, start.as_ref(), steps.as_deref(), escalation.as_ref());

    let steps = steps?;
    // Without a valid name or start the rest can still be checked as a state machine.
    let name = name.or_else(|| WorkflowName::parse("unnamed").ok())?;
    let first = || Edge::plain(Outcome::Success, Target::Step(steps[0].id.clone()));
    let start = start.unwrap_or_else(first);
    Some(Workflow {
        title: title.unwrap_or_else(|| as_title(name.as_str())),
        name,
        description: description.unwrap_or_default(),
        hash: Hash(Sha256::digest(text.as_bytes()).into()),
        profile,
        start,
        steps,
        contracts,
        escalation,
        limits,
        routing,
        graph: LazyGraph::default(),
    })
}

/// The rules do not know which contracts come with Baton: a name that is none of the workflow's may
/// be meant as one of those.
fn with_built_in_hint(problem: Problem) -> Problem {
    if problem.rule != "no_such_contract" {
        return problem;
    }
    let named = problem.message.split('`').nth(1).unwrap_or_default();
    let known: Vec<&str> = builtin::contracts().iter().map(|it| it.name.as_str()).collect();
    let hint = match nearest(named, &known) {
        Some(near) => format!("; did you mean the built-in `{near}`?"),
        None => ", and no built-in one is called so".to_owned(),
    };
    Problem { message: problem.message + &hint, ..problem }
}

/// Adds the built-in contracts that the file names, such as `xml/prep-agent→implementer-agent`.
fn with_built_in(
    mut contracts: Vec<Contract>,
    start: Option<&Edge>,
    steps: Option<&[Step]>,
    escalation: Option<&String>,
) -> Vec<Contract> {
    let steps = steps.unwrap_or_default();
    let on_edges = start.into_iter().chain(steps.iter().flat_map(|it| &it.edges));
    let on_edges = on_edges.filter_map(|it| it.contract.as_ref());
    let delegates = steps.iter().flat_map(|it| &it.delegates);
    let delegated = delegates.flat_map(|it| it.contract.iter().chain(&it.returns));
    for name in on_edges.chain(delegated).chain(escalation) {
        let is_known = contracts.iter().any(|it| it.name == *name);
        if let Some(built_in) = builtin::contract(name).filter(|_| !is_known) {
            // Under the name that the file uses.
            contracts.push(Contract { name: name.clone(), ..built_in.clone() });
        }
    }
    contracts
}

fn limits(field: &FieldAt<'_>, problems: &mut Problems) -> Limits {
    let usual = Limits::default();
    let Some(fields) = Fields::open(field, LIMIT_KEYS, problems) else { return usual };
    let mut number = |key, least| fields.get(key).and_then(|it| count(&it, least, problems));
    let (rounds, retries) = (number("rounds", 1), number("retries", 0));
    let (questions, releases) = (number("questions", 0), number("releases", 0));
    let stale_after = fields.get("stale_after").and_then(|it| it.duration(problems));
    let run_handoffs = fields.get("run_handoffs");
    let run_handoffs = run_handoffs.and_then(|it| it.whole_number(1..=10_000, problems));
    let mut span = |key| fields.get(key).and_then(|it| it.duration(problems));
    let (run_within, escalate_after) = (span("run_within"), span("escalate_after"));
    let checks_within = fields.get("checks_within").and_then(|it| it.duration(problems));
    Limits {
        rounds: rounds.unwrap_or(usual.rounds),
        retries: retries.unwrap_or(usual.retries),
        questions: questions.unwrap_or(usual.questions),
        releases: releases.unwrap_or(usual.releases),
        stale_after: stale_after.unwrap_or(usual.stale_after),
        checks_within: checks_within.unwrap_or(usual.checks_within),
        escalate_after,
        run_within,
        run_handoffs: run_handoffs.and_then(|it| u32::try_from(it).ok()),
        budget: budget(&fields, problems),
        expiry: expiry(&fields, problems),
    }
}

/// `expire_after` and `on_expire`, which may be set per step and in the limits for all steps.
fn expiry(fields: &Fields<'_>, problems: &mut Problems) -> Option<Expiry> {
    let on_expire = fields.get("on_expire");
    let then = on_expire.as_ref().and_then(|it| it.choice(ON_EXPIRE, problems));
    let Some(after) = fields.get("expire_after") else {
        if let Some(field) = on_expire {
            field.problem("useless_on_expire", "needs `expire_after` beside it", problems);
        }
        return None;
    };
    let after = after.duration(problems)?;
    Some(Expiry { after, then: then.unwrap_or(OnExpire::Loose) })
}

/// What agents may use: `5usd`, `200000tokens`, `2h`, or several of them.
fn budget(fields: &Fields<'_>, problems: &mut Problems) -> Budget {
    fields.get("budget").and_then(|it| it.budget(problems)).unwrap_or_default()
}

/// A small number of attempts.
fn count(field: &FieldAt<'_>, least: i64, problems: &mut Problems) -> Option<u32> {
    field.whole_number(least..=100, problems).and_then(|it| u32::try_from(it).ok())
}

/// A linter score.
pub(crate) fn score(field: &FieldAt<'_>, problems: &mut Problems) -> Option<u8> {
    field.whole_number(0..=100, problems).and_then(|it| u8::try_from(it).ok())
}

/// `security-check` as people would write it: `Security check`.
pub(crate) fn as_title(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(chars).map(|it| if it == '-' { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests;

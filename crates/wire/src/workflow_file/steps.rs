//! The `steps` of a workflow file.

use baton_core::names::{AgentId, Reason, StepId};
use baton_core::workflow::{RejectRule, Step, StepLimits};
use jiff::SignedDuration;

use super::{as_title, budget, count, delegates, edges, expiry};
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const KEYS: &[&str] = &[
    "agent",
    "agents",
    "title",
    "phase",
    "reason",
    "optional",
    "work_within",
    "expire_after",
    "on_expire",
    "reject",
    "reject_to",
    "delegates",
    "entries",
    "budget",
    "delegations",
    "blocks",
    "retries",
    "at_once",
    "on",
];

/// Reserved names that mean a place of their own wherever a step may be named.
const RESERVED: [&str; 3] = [edges::COMPLETE, AgentId::HUMAN, AgentId::ORCHESTRATOR];

/// More than people could review; and a message about one step names all the others.
const MOST_STEPS: usize = 100;

const WORK_WITHIN: SignedDuration = SignedDuration::from_mins(30);

/// Every step with a valid name, also where parts of it could not be read: what the others say about
/// it can be checked all the same. `None` where there is none.
pub(super) fn steps(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<Step>> {
    field.members(problems)?;
    let entries = field.entries(problems);
    if entries.is_empty() {
        field.problem("no_steps", "a workflow needs at least one step", problems);
    }
    if entries.len() > MOST_STEPS {
        let message = format!("has {} steps; the most is {MOST_STEPS}", entries.len());
        field.problem("too_many", message, problems);
        return None;
    }
    let mut steps = Vec::new();
    for (member, field) in entries {
        let id = match StepId::parse(&member.key) {
            Ok(id) if !RESERVED.contains(&id.as_str()) => Some(id),
            Ok(id) => {
                let message = format!("`{id}` is reserved; give the step another name");
                problems.add(member.key_at, field.path.clone(), "reserved_step", message);
                None
            }
            Err(error) => {
                problems.add(member.key_at, field.path.clone(), "bad_name", error.to_string());
                None
            }
        };
        steps.extend(step(id, &field, problems));
    }
    (!steps.is_empty()).then_some(steps)
}

/// What could not be read is left out; the problems say so.
fn step(id: Option<StepId>, field: &FieldAt<'_>, problems: &mut Problems) -> Option<Step> {
    let Some(fields) = Fields::open(field, KEYS, problems) else { return id.map(unread) };
    let agents = agents(&fields, problems);
    let title = fields.get("title").and_then(|it| it.line(problems));
    let phase = fields.get("phase").and_then(|it| it.line(problems));
    let reason = fields.get("reason").and_then(|it| it.parsed(Reason::parse_short, problems));
    let is_optional = fields.get("optional").and_then(|it| it.bool(problems));
    let work_within = fields.get("work_within").and_then(|it| it.duration(problems));
    let expiry = expiry(&fields, problems);
    let reject = reject(&fields, problems);
    let delegates = fields.get("delegates").map(|it| delegates::delegates(&it, problems));
    let limits = limits(&fields, problems);
    let at_once = fields.get("at_once").and_then(|it| count(&it, 1, problems));
    let title = title.or_else(|| id.as_ref().map(|it| as_title(it.as_str()))).unwrap_or_default();
    let edges = match fields.get("on") {
        Some(on) => edges::edges(&title, &on, problems),
        None => Vec::new(),
    };
    let id = id?;
    Some(Step {
        title,
        agents,
        phase: phase.unwrap_or_else(|| id.as_str().to_owned()),
        reason,
        is_optional: is_optional.unwrap_or(false),
        work_within: work_within.unwrap_or(WORK_WITHIN),
        expiry,
        reject,
        delegates: delegates.unwrap_or_default(),
        limits,
        at_once,
        edges,
        id,
    })
}

/// A step of which only the name is known.
fn unread(id: StepId) -> Step {
    Step {
        title: as_title(id.as_str()),
        agents: Vec::new(),
        phase: id.as_str().to_owned(),
        reason: None,
        is_optional: false,
        work_within: WORK_WITHIN,
        expiry: None,
        reject: RejectRule::ToSender,
        delegates: Vec::new(),
        limits: StepLimits::default(),
        at_once: None,
        edges: Vec::new(),
        id,
    }
}

fn limits(fields: &Fields<'_>, problems: &mut Problems) -> StepLimits {
    let usual = StepLimits::default();
    let mut number = |key, least| fields.get(key).and_then(|it| count(&it, least, problems));
    let (entries, retries) = (number("entries", 1), number("retries", 0));
    StepLimits {
        delegations: number("delegations", 0).unwrap_or(usual.delegations),
        blocks: number("blocks", 0).unwrap_or(usual.blocks),
        entries,
        retries,
        budget: budget(fields, problems),
    }
}

fn agents(fields: &Fields<'_>, problems: &mut Problems) -> Vec<AgentId> {
    let Some(field) = fields.one_of(&["agent", "agents"], problems) else {
        let path = format!("{}.agent", fields.path());
        problems.add(fields.at(), path, "missing", "is missing: who does the step");
        return Vec::new();
    };
    let items = field.items();
    if items.is_empty() {
        field.problem("no_agent", "names no agent", problems);
    }
    items.iter().filter_map(|it| it.parsed(AgentId::parse, problems)).collect()
}

fn reject(fields: &Fields<'_>, problems: &mut Problems) -> RejectRule {
    let Some(field) = fields.one_of(&["reject", "reject_to"], problems) else {
        return RejectRule::ToSender;
    };
    let rule = if fields.get("reject").is_some() {
        field.choice(&[("never", ())], problems).map(|()| RejectRule::Never)
    } else {
        field.parsed(StepId::parse, problems).map(RejectRule::To)
    };
    rule.unwrap_or(RejectRule::ToSender)
}

//! The `steps` of a workflow file.

use baton_core::names::{AgentId, Reason, StepId};
use baton_core::workflow::{RejectRule, Step, StepLimits};
use jiff::SignedDuration;

use super::{as_title, count, delegates, edges, expiry};
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
    "delegations",
    "blocks",
    "on",
];

/// Reserved names that mean a place of their own wherever a step may be named.
const RESERVED: [&str; 3] = [edges::COMPLETE, AgentId::HUMAN, AgentId::ORCHESTRATOR];

/// More than people could review; and a message about one step names all the others.
const MOST_STEPS: usize = 100;

const WORK_WITHIN: SignedDuration = SignedDuration::from_mins(30);

/// `None` where a step could not be read: problems of the others about it would mislead.
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
    let mut are_all_read = !entries.is_empty();
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
        match step(id, &field, problems) {
            Some(step) => steps.push(step),
            None => are_all_read = false,
        }
    }
    are_all_read.then_some(steps)
}

fn step(id: Option<StepId>, field: &FieldAt<'_>, problems: &mut Problems) -> Option<Step> {
    let fields = Fields::open(field, KEYS, problems)?;
    let agents = agents(&fields, problems);
    let title = fields.get("title").and_then(|it| it.line(problems));
    let phase = fields.get("phase").and_then(|it| it.line(problems));
    let reason = fields.get("reason").and_then(|it| it.parsed(Reason::parse, problems));
    let is_optional = fields.get("optional").and_then(|it| it.bool(problems));
    let work_within = fields.get("work_within").and_then(|it| it.duration(problems));
    let expiry = expiry(&fields, problems);
    let reject = reject(&fields, problems);
    let delegates = fields.get("delegates").and_then(|it| delegates::delegates(&it, problems));
    let limits = limits(&fields, problems);
    let title = title.or_else(|| id.as_ref().map(|it| as_title(it.as_str()))).unwrap_or_default();
    let edges = match fields.get("on") {
        Some(on) => edges::edges(&title, &on, problems),
        None => Some(Vec::new()),
    };
    let id = id?;
    Some(Step {
        title,
        agents: agents?,
        phase: phase.unwrap_or_else(|| id.as_str().to_owned()),
        reason,
        is_optional: is_optional.unwrap_or(false),
        work_within: work_within.unwrap_or(WORK_WITHIN),
        expiry,
        reject: reject?,
        delegates: delegates.unwrap_or_default(),
        limits,
        edges: edges?,
        id,
    })
}

fn limits(fields: &Fields<'_>, problems: &mut Problems) -> StepLimits {
    let usual = StepLimits::default();
    let mut number = |key, least| fields.get(key).and_then(|it| count(&it, least, problems));
    StepLimits {
        entries: number("entries", 1),
        delegations: number("delegations", 0).unwrap_or(usual.delegations),
        blocks: number("blocks", 0).unwrap_or(usual.blocks),
    }
}

fn agents(fields: &Fields<'_>, problems: &mut Problems) -> Option<Vec<AgentId>> {
    let Some(field) = fields.one_of(&["agent", "agents"], problems) else {
        let path = format!("{}.agent", fields.path());
        problems.add(fields.at(), path, "missing", "is missing: who does the step");
        return None;
    };
    let items = field.items();
    if items.is_empty() {
        field.problem("no_agent", "names no agent", problems);
        return None;
    }
    let agents: Vec<AgentId> =
        items.iter().filter_map(|it| it.parsed(AgentId::parse, problems)).collect();
    (agents.len() == items.len()).then_some(agents)
}

fn reject(fields: &Fields<'_>, problems: &mut Problems) -> Option<RejectRule> {
    let Some(field) = fields.one_of(&["reject", "reject_to"], problems) else {
        return Some(RejectRule::ToSender);
    };
    if fields.get("reject").is_some() {
        field.choice(&[("never", ())], problems).map(|()| RejectRule::Never)
    } else {
        field.parsed(StepId::parse, problems).map(RejectRule::To)
    }
}

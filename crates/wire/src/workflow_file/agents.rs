//! Whether the agents of a workflow exist, and say that they take and give what its edges ask for.

use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::problem::Problem;
use baton_core::workflow::{Place, Step, Workflow};

use crate::agent_file::AgentFile;
use crate::builtin;
use crate::suggest::nearest;

/// The agents of a project.
#[derive(Debug, Clone, Copy)]
pub struct KnownAgents<'a> {
    /// Each with where its file is, for people.
    pub agents: &'a [(String, AgentFile)],
    /// Agents whose files have problems: their names, and where the files are.
    pub unread: &'a [(String, String)],
}

/// The problems of a workflow's agents, each with its path in the workflow's file.
pub fn problems(workflow: &Workflow, known: &KnownAgents<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for step in &workflow.steps {
        step_problems(workflow, step, known, &mut problems);
        delegate_problems(step, known, &mut problems);
    }
    resolver_problems(workflow, known, &mut problems);
    problems
}

/// The agents of the table that says who resolves what blocks a step have to exist.
fn resolver_problems(workflow: &Workflow, known: &KnownAgents<'_>, problems: &mut Vec<Problem>) {
    for row in &workflow.routing.rows {
        let resolvers = row.resolvers.iter();
        for it in resolvers.filter(|it| !it.agent.is_human() && !it.agent.is_orchestrator()) {
            if known.find(&it.agent).is_some() {
                continue;
            }
            let path = format!("routing.reasons.{}", row.reason);
            let path = it.domain.as_ref().map_or(path.clone(), |it| format!("{path}.{it}"));
            problems.extend(known.missing(path, &it.agent));
        }
    }
}

/// What agents say that they produce on an outcome for which their step has no edge: such work would be
/// tried again, or refused. Blocked work has a way of its own, and good work has to have an edge.
pub fn outcomes_without_edge(workflow: &Workflow, known: &KnownAgents<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for step in &workflow.steps {
        for (_, file) in step.agents.iter().filter_map(|it| known.find(it)) {
            let produced = file.produces.iter().filter(|(on, contracts)| {
                *on == Outcome::Failure
                    && !contracts.is_empty()
                    && step.edges_on(*on).next().is_none()
            });
            for (on, contracts) in produced {
                notes.push(format!(
                    "`steps.{}`: `{}` says that it produces `{}` on {on}, and the step has no edge on \
                     {on}; add `{on}: {{ to: STEP }}` to its `on`",
                    step.id,
                    file.agent.id,
                    contracts.join("`, `"),
                    on = on.name()
                ));
            }
        }
    }
    notes
}

fn step_problems(
    workflow: &Workflow,
    step: &Step,
    known: &KnownAgents<'_>,
    problems: &mut Vec<Problem>,
) {
    let place = Place::Step(step.id.clone());
    // Reserved agents are reported with the machine.
    for id in step.agents.iter().filter(|it| !it.is_human() && !it.is_orchestrator()) {
        let path = format!("steps.{}.agent", step.id);
        let Some((origin, file)) = known.find(id) else {
            problems.extend(known.missing(path, id));
            continue;
        };
        for (_, edge) in workflow.edges().filter(|(_, it)| it.leads_to(&place)) {
            let given = edge.contract.as_ref();
            problems.extend(given.and_then(|it| not_accepted(&path, origin, file, it)));
        }
        for edge in &step.edges {
            let path = format!("steps.{}.on.{}", step.id, edge.on.name());
            let asked = edge.contract.as_ref();
            problems.extend(asked.and_then(|it| not_produced(&path, origin, file, edge.on, it)));
        }
    }
}

/// The same for a step's delegates: they receive one contract and return another.
fn delegate_problems(step: &Step, known: &KnownAgents<'_>, problems: &mut Vec<Problem>) {
    for (index, delegate) in step.delegates.iter().enumerate() {
        let id = &delegate.agent;
        if id.is_human() || id.is_orchestrator() {
            continue;
        }
        let path = format!("steps.{}.delegates[{index}]", step.id);
        let Some((origin, file)) = known.find(id) else {
            problems.extend(known.missing(path, id));
            continue;
        };
        let (given, asked) = (delegate.contract.as_ref(), delegate.returns.as_ref());
        problems.extend(given.and_then(|it| not_accepted(&path, origin, file, it)));
        let produced = |it: &String| not_produced(&path, origin, file, Outcome::Success, it);
        problems.extend(asked.and_then(produced));
    }
}

/// An agent that lists nothing does not say what it accepts.
fn not_accepted(path: &str, origin: &str, file: &AgentFile, contract: &str) -> Option<Problem> {
    if file.accepts.is_empty() || names(&file.accepts, contract) {
        return None;
    }
    let (id, advice) = (&file.agent.id, advice(origin, file, "accepts", "accepts"));
    let message = format!("`{id}` does not say that it accepts `{contract}`; {advice}");
    Some(Problem::new(path, "not_accepted", message))
}

/// Whether a contract is in a list, which may call it by its old name or with the other arrow.
fn names(list: &[String], contract: &str) -> bool {
    let name = builtin::contract_name(contract);
    list.iter().any(|it| builtin::contract_name(it) == name)
}

/// Where to add the contract; a built-in agent has no file that could be edited.
fn advice(origin: &str, file: &AgentFile, key: &str, list: &str) -> String {
    let (id, line) = (&file.agent.id, file.line_of(key));
    if origin == builtin::ORIGIN {
        return format!(
            "it comes with Baton: `baton agent new {id}` copies it, then add it to `{list}`"
        );
    }
    format!("add it to `{list}` in {origin}, line {line}")
}

fn not_produced(
    path: &str,
    origin: &str,
    file: &AgentFile,
    on: Outcome,
    contract: &str,
) -> Option<Problem> {
    let (_, produced) = file.produces.iter().find(|(outcome, _)| *outcome == on)?;
    if produced.is_empty() || names(produced, contract) {
        return None;
    }
    let advice = advice(origin, file, "produces", &format!("produces.{}", on.name()));
    let id = &file.agent.id;
    let message = format!("`{id}` does not say that it produces `{contract}`; {advice}");
    Some(Problem::new(path, "not_produced", message))
}

impl KnownAgents<'_> {
    fn find(&self, id: &AgentId) -> Option<(&str, &AgentFile)> {
        let found = self.agents.iter().find(|(_, it)| it.agent.id == *id);
        found.map(|(origin, file)| (origin.as_str(), file))
    }

    fn missing(&self, path: String, id: &AgentId) -> Option<Problem> {
        if let Some((_, origin)) = self.unread.iter().find(|(name, _)| name == id.as_str()) {
            let message = format!("the file of `{id}` has problems; mend {origin}");
            return Some(Problem::new(path, "unread_agent", message));
        }
        let known: Vec<&str> = self.agents.iter().map(|(_, it)| it.agent.id.as_str()).collect();
        let hint = nearest(id.as_str(), &known).map(|it| format!("did you mean `{it}`? "));
        let hint = hint.unwrap_or_default();
        let message = format!("there is no agent `{id}`; {hint}`baton agent new {id}` makes one");
        Some(Problem::new(path, "no_such_agent", message))
    }
}

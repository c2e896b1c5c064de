//! The workflows and agents that the project has now. Open runs keep the workflow they began with;
//! the catalog is for new ones.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use baton_core::decide::AgentBudget;
use baton_core::lint::Settings;
use baton_core::names::{AgentId, CheckName, WorkflowName};
use baton_core::registry::Agents;
use baton_core::workflow::{Mode, Workflow};
use baton_store::Definition;

use baton_wire::project_file::ProjectFile;
use baton_wire::suggest::{did_you_mean, nearest};

use crate::error::EngineError;

#[derive(Debug, Clone, Default)]
pub struct Catalog {
    workflows: BTreeMap<WorkflowName, Entry>,
    agents: Agents,
    default: Option<WorkflowName>,
    project: ProjectFile,
    /// The names of the project's checks.
    checks: Vec<CheckName>,
    /// What the project allows its agents to use.
    budgets: Vec<AgentBudget>,
    left_out: Vec<LeftOutFile>,
}

/// A file of the project that has problems, and is not used as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutFile {
    /// The file's name without its extension, which would be that of the agent or the workflow.
    pub name: String,
    /// Where it is, for people.
    pub file: String,
    /// What is wrong, and what to do about it.
    pub why: String,
}

impl fmt::Display for LeftOutFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.why)
    }
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub workflow: Arc<Workflow>,
    /// The file's text, which the run stores.
    pub text: String,
}

impl Catalog {
    pub fn new(
        workflows: impl IntoIterator<Item = Entry>,
        agents: Agents,
        default: Option<WorkflowName>,
    ) -> Self {
        let workflows = workflows.into_iter().map(|it| (it.workflow.name.clone(), it)).collect();
        let (project, checks, left_out) = (ProjectFile::default(), Vec::new(), Vec::new());
        let budgets = Vec::new();
        Self { workflows, agents, default, project, checks, budgets, left_out }
    }

    /// With the files that are not used.
    #[must_use]
    pub fn with_left_out(self, left_out: Vec<LeftOutFile>) -> Self {
        Self { left_out, ..self }
    }

    pub fn left_out(&self) -> &[LeftOutFile] {
        &self.left_out
    }

    /// With what the project sets for itself.
    #[must_use]
    pub fn with_project(self, project: ProjectFile) -> Self {
        let checks = project.checks.iter().map(|it| it.name.clone()).collect();
        let budgets = project
            .runner
            .agents
            .iter()
            .filter_map(|it| Some(AgentBudget { agent: it.agent.clone(), budget: it.budget? }));
        Self { budgets: budgets.collect(), project, checks, ..self }
    }

    /// With the project's linter settings.
    #[must_use]
    pub fn with_lint(mut self, lint: Settings) -> Self {
        self.project.lint = lint;
        self
    }

    /// What `baton.toml` says.
    pub fn project(&self) -> &ProjectFile {
        &self.project
    }

    /// With the checks of an earlier catalog too.
    pub(crate) fn with_checks_of(mut self, earlier: &Self) -> Self {
        for check in &earlier.checks {
            if !self.checks.contains(check) {
                self.checks.push(check.clone());
            }
        }
        self
    }

    /// The checks that the project has commands for, or had since the server started.
    pub fn checks(&self) -> &[CheckName] {
        &self.checks
    }

    /// What the project allows each agent to use in a run.
    pub fn budgets(&self) -> &[AgentBudget] {
        &self.budgets
    }

    pub fn lint(&self) -> &Settings {
        &self.project.lint
    }

    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    pub fn workflows(&self) -> impl Iterator<Item = &Entry> {
        self.workflows.values()
    }

    pub fn default_workflow(&self) -> Option<&WorkflowName> {
        self.default.as_ref()
    }

    /// The mode of a new run for which none is asked: the project's, where the workflow has it.
    pub fn default_mode(&self, workflow: &Workflow) -> Mode {
        let of_project = self.project.default_mode.filter(|it| workflow.modes().contains(it));
        of_project.unwrap_or_default()
    }

    pub fn workflow(&self, name: &WorkflowName) -> Result<&Entry, EngineError> {
        self.workflows.get(name).ok_or_else(|| EngineError::NoSuchWorkflow {
            name: name.clone(),
            known: self.hint_for_workflow(name.as_str()),
        })
    }

    /// What to do about the name of a workflow that is not there: its file may be left out, or it is
    /// mistyped.
    pub fn hint_for_workflow(&self, name: &str) -> String {
        let names: Vec<&str> = self.workflows.keys().map(WorkflowName::as_str).collect();
        self.hint_for_file(name).unwrap_or_else(|| did_you_mean(name, &names))
    }

    /// As [`Catalog::hint_for_workflow`], for an agent in a run of the named workflow, else of the
    /// project's.
    pub fn hint_for_agent(&self, name: &str, workflow: Option<&WorkflowName>) -> String {
        let mut names: Vec<&str> = self.agents.iter().map(|it| it.id.as_str()).collect();
        names.extend([AgentId::HUMAN, AgentId::ORCHESTRATOR]);
        if name == "complete" {
            return format!("a run ends with a handoff to `{}`", AgentId::ORCHESTRATOR);
        }
        let hint = || {
            let workflow = workflow.or(self.default.as_ref());
            let own = self.agents_at_steps(workflow);
            let near = nearest(name, &own).or_else(|| nearest(name, &names));
            match (near, workflow) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some(workflow)) if !own.is_empty() => {
                    let own: Vec<String> = own.iter().map(|it| format!("`{it}`")).collect();
                    let own = own.join(", ");
                    format!("`{workflow}` has {own}; `baton agent list` shows all")
                }
                (None, Some(_) | None) => did_you_mean(name, &names),
            }
        };
        self.hint_for_file(name).unwrap_or_else(hint)
    }

    /// The agents at the steps of a workflow, in their order: the most likely ones.
    fn agents_at_steps(&self, workflow: Option<&WorkflowName>) -> Vec<&str> {
        let entry = workflow.and_then(|it| self.workflows.get(it));
        let mut agents: Vec<&str> = Vec::new();
        for agent in entry.iter().flat_map(|it| &it.workflow.steps).flat_map(|it| &it.agents) {
            if !agents.contains(&agent.as_str()) {
                agents.push(agent.as_str());
            }
        }
        agents
    }

    fn hint_for_file(&self, name: &str) -> Option<String> {
        let file = self.left_out.iter().find(|it| it.name == name)?;
        Some(format!("its file is left out: {file}"))
    }

    /// The workflow for a new run: the requested one, else the project's default if it fits, else
    /// the only one that fits.
    pub fn choose(
        &self,
        asked: Option<&WorkflowName>,
        fits: impl Fn(&Workflow) -> bool,
    ) -> Result<&Entry, EngineError> {
        if let Some(name) = asked {
            return self.workflow(name);
        }
        let own = self.default.as_ref().and_then(|it| self.workflows.get(it));
        if let Some(own) = own.filter(|it| fits(&it.workflow)) {
            return Ok(own);
        }
        let mut fitting = self.workflows.values().filter(|it| fits(&it.workflow));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) | (None, _) => {
                Err(EngineError::WorkflowUnclear { known: self.names(), why: self.no_default() })
            }
        }
    }

    /// As [`Catalog::choose`], by the edge of the first handoff.
    pub fn choose_by_edge(
        &self,
        asked: Option<&WorkflowName>,
        from: &AgentId,
        to: &AgentId,
    ) -> Result<&Entry, EngineError> {
        let own = self.default.as_ref().and_then(|it| self.workflows.get(it));
        match (self.choose(asked, |it| it.has_edge(from, to)), own) {
            // No workflow fits: take the default one, whose refusal names the edges that would.
            (Err(EngineError::WorkflowUnclear { .. }), Some(own))
                if !self.workflows.values().any(|it| it.workflow.has_edge(from, to)) =>
            {
                Ok(own)
            }
            (chosen, _) => chosen,
        }
    }

    /// True for the two reserved agents, every agent with a file, and every agent that does a step.
    pub fn knows(&self, agent: &AgentId) -> bool {
        let does_a_step = |it: &Entry| it.workflow.steps.iter().any(|it| it.agents.contains(agent));
        agent.is_human()
            || agent.is_orchestrator()
            || self.agents.find(agent).is_some()
            || self.workflows.values().any(does_a_step)
    }

    /// Why the project's own workflow is not used, where it names one that is not there.
    pub fn no_default(&self) -> Option<String> {
        let own = self.default.as_ref().filter(|it| !self.workflows.contains_key(*it))?;
        let names: Vec<&str> = self.workflows.keys().map(WorkflowName::as_str).collect();
        let near = nearest(own.as_str(), &names).map(|it| format!("; did you mean `{it}`?"));
        let hint = self.hint_for_file(own.as_str()).map(|it| format!("; {it}")).or(near);
        let hint = hint.unwrap_or_default();
        Some(format!("`baton.toml` names the workflow `{own}`, which is not here{hint}"))
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.workflows.keys().map(WorkflowName::as_str).collect();
        names.join(", ")
    }
}

impl Entry {
    pub fn definition(&self) -> Definition {
        let Workflow { hash, name, .. } = self.workflow.as_ref();
        Definition { hash: *hash, name: name.clone(), text: self.text.clone() }
    }
}

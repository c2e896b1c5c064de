//! The one loader of a project's agent and workflow files: commands, `doctor` and the server use it.
//!
//! A file with problems is left out, and one bad file never blocks a run that is under way.

use std::path::Path;
use std::sync::Arc;

use baton_core::names::{CheckName, WorkflowName};
use baton_core::registry::Agents;
use baton_core::workflow::Workflow;
use baton_engine::{Catalog, Entry, LeftOutFile};
use baton_files::Dir;
use baton_store_postgres::PushedFile;
use baton_wire::agent_file::{self, AgentFile};
use baton_wire::project_file::ProjectFile;
use baton_wire::workflow_file::agents::{self, KnownAgents};
use baton_wire::{builtin, workflow_file};

use super::parsed;
use super::source::{self, SourceFile};
use crate::failure::Failure;
use crate::show;

#[derive(Default)]
pub(crate) struct LoadedFiles {
    /// Each with where its file is.
    pub(crate) agents: Vec<(String, AgentFile)>,
    pub(crate) workflows: Vec<LoadedWorkflow>,
    pub(crate) left_out: Vec<BadFile>,
    /// The checks that the project has commands for.
    checks: Vec<CheckName>,
}

pub(crate) struct LoadedWorkflow {
    pub(crate) name: String,
    pub(crate) source: SourceFile,
    entry: Entry,
}

/// A file that is left out.
pub(crate) struct BadFile {
    pub(crate) role: FileRole,
    /// Without the extension: the name that an agent or a workflow in it has to have.
    pub(crate) name: String,
    pub(crate) origin: String,
    pub(crate) failure: Failure,
    version: UsedVersion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    Agent,
    Workflow,
}

/// What is used in place of a bad file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsedVersion {
    None,
    /// The file as it was when it was last read without a problem.
    Earlier,
}

/// How far a project uses a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkflowUse {
    /// The project's own file.
    Own,
    /// Built in, and the one that new runs get.
    BuiltInDefault,
    /// Built in, and used only by runs that name it.
    BuiltIn,
}

impl LoadedWorkflow {
    pub(crate) fn workflow(&self) -> &Workflow {
        &self.entry.workflow
    }
}

impl LoadedFiles {
    pub(super) fn of(dir: &Dir) -> Self {
        Self::from_files(source::agents(dir), source::workflows(dir))
    }

    pub(super) fn of_pushed(files: &[PushedFile]) -> Self {
        Self::from_files(source::pushed_agents(files), source::pushed_workflows(files))
    }

    fn from_files(
        agent_files: Vec<(String, SourceFile)>,
        workflow_files: Vec<(String, SourceFile)>,
    ) -> Self {
        let mut left_out = Vec::new();
        let mut agents = Vec::new();
        for (name, source) in agent_files {
            match agent_in(&name, &source) {
                Ok(file) => agents.push((source.origin, file)),
                Err(failure) => left_out.push(BadFile::new(FileRole::Agent, name, source, failure)),
            }
        }
        let mut workflows = Vec::new();
        for (name, source) in workflow_files {
            match workflow_in(&name, &source) {
                Ok(entry) => workflows.push(LoadedWorkflow { name, source, entry }),
                Err(failure) => {
                    left_out.push(BadFile::new(FileRole::Workflow, name, source, failure));
                }
            }
        }
        Self { agents, workflows, left_out, checks: Vec::new() }
    }

    /// With the checks of `baton.toml`, so that a slip of one is found.
    pub(super) fn with_checks(mut self, file: &ProjectFile) -> Self {
        self.checks = file.checks.iter().map(|it| it.name.clone()).collect();
        self
    }

    /// Every agent that there is a file for, sound or not.
    pub(crate) fn agent_names(&self) -> Vec<&str> {
        let bad = self.left_out.iter().filter(|it| it.role == FileRole::Agent);
        let sound = self.agents.iter().map(|(_, it)| it.agent.id.as_str());
        sound.chain(bad.map(|it| it.name.as_str())).collect()
    }

    /// Without the files that changed while they were read, by their paths.
    pub(super) fn without(mut self, changing: &[String]) -> Self {
        let is_changing = |origin: &String| changing.contains(origin);
        let (left, kept) = self.agents.into_iter().partition(|(origin, _)| is_changing(origin));
        self.agents = kept;
        let left: Vec<(String, AgentFile)> = left;
        let agents = left.into_iter().map(|(origin, it)| {
            BadFile::being_written(FileRole::Agent, it.agent.id.to_string(), origin)
        });
        let (left, kept) =
            self.workflows.into_iter().partition(|it| is_changing(&it.source.origin));
        self.workflows = kept;
        let left: Vec<LoadedWorkflow> = left;
        let workflows = left
            .into_iter()
            .map(|it| BadFile::being_written(FileRole::Workflow, it.name, it.source.origin));
        let others = self.left_out.into_iter().map(|it| match is_changing(&it.origin) {
            true => BadFile::being_written(it.role, it.name, it.origin),
            false => it,
        });
        self.left_out = others.chain(agents).chain(workflows).collect();
        self
    }

    /// Without the project's own workflows that `before` had and that now name agents which there is no
    /// file for: a slip in a name would offer their work to an agent that never comes.
    pub(super) fn without_unknown_agents(mut self, before: &Self) -> Self {
        let is_new = |name: &str| !before.workflows.iter().any(|it| it.name == name);
        let mut kept = Vec::new();
        for it in std::mem::take(&mut self.workflows) {
            match self.unknown_agent(&it).filter(|_| !is_new(&it.name)) {
                Some(failure) => {
                    let bad = BadFile::new(FileRole::Workflow, it.name, it.source, failure);
                    self.left_out.push(bad);
                }
                None => kept.push(it),
            }
        }
        self.workflows = kept;
        self
    }

    /// Every problem of a workflow of the project, where one of its agents has no file.
    fn unknown_agent(&self, it: &LoadedWorkflow) -> Option<Failure> {
        let known = self.agent_names();
        let mut agents = it.entry.workflow.steps.iter().flat_map(|it| &it.agents);
        let is_unknown = agents.any(|it| !known.contains(&it.as_str()));
        (is_unknown && !it.source.is_built_in())
            .then(|| self.check(&it.name, &it.source).err())
            .flatten()
    }

    /// With what `before` had in place of the files that have problems now.
    pub(super) fn with_earlier(mut self, before: Self) -> Self {
        let (mut agents, mut workflows) = (before.agents, before.workflows);
        for bad in &mut self.left_out {
            let is_found = match bad.role {
                FileRole::Agent => {
                    let found = agents.iter().position(|(_, it)| it.agent.id.as_str() == bad.name);
                    self.agents.extend(found.map(|it| agents.swap_remove(it)));
                    found.is_some()
                }
                FileRole::Workflow => {
                    let found = workflows.iter().position(|it| it.name == bad.name);
                    self.workflows.extend(found.map(|it| workflows.swap_remove(it)));
                    found.is_some()
                }
            };
            if is_found {
                bad.version = UsedVersion::Earlier;
            }
        }
        self
    }

    /// Everything that new runs may use.
    pub(crate) fn catalog(&self, file: &ProjectFile) -> Catalog {
        let ours = || WorkflowName::parse(builtin::workflows().first()?.0).ok();
        let default = file.default_workflow.clone().or_else(ours);
        let agents = Agents::new(self.agents.iter().map(|(_, it)| it.agent.clone()));
        let workflows = self.workflows.iter().map(|it| it.entry.clone());
        let left_out = self.left_out.iter().map(BadFile::summary).collect();
        let catalog = Catalog::new(workflows, agents, default).with_left_out(left_out);
        catalog.with_project(file.clone())
    }

    /// A workflow that is sound and whose agents fit it; else every problem.
    pub(crate) fn check(&self, name: &str, source: &SourceFile) -> Result<Workflow, Failure> {
        let unread: Vec<(String, String)> = self
            .left_out
            .iter()
            .filter(|it| it.role == FileRole::Agent)
            .map(|it| (it.name.clone(), it.summary().to_string()))
            .collect();
        let known = KnownAgents { agents: &self.agents, unread: &unread };
        let checked = workflow_file::parse_for(name, source.text()?, &known, &self.checks);
        parsed(Path::new(&source.origin), checked)
    }

    /// Work that agents say they produce and a workflow has no edge for, a sentence each.
    pub(crate) fn outcomes_without_edge(&self, workflow: &Workflow) -> Vec<String> {
        let known = KnownAgents { agents: &self.agents, unread: &[] };
        agents::outcomes_without_edge(workflow, &known)
    }

    /// Fails with the problems of an agent's file, where it has any.
    pub(crate) fn refuse_bad_agent(&mut self, name: &str) -> Result<(), Failure> {
        let is_it = |it: &BadFile| it.role == FileRole::Agent && it.name == name;
        match self.left_out.iter().position(is_it) {
            Some(index) => Err(self.left_out.swap_remove(index).failure),
            None => Ok(()),
        }
    }

    /// Fails with the problems of every agent's file that has any.
    pub(crate) fn refuse_bad_agents(&self) -> Result<(), Failure> {
        let bad: Vec<&BadFile> =
            self.left_out.iter().filter(|it| it.role == FileRole::Agent).collect();
        if bad.is_empty() {
            return Ok(());
        }
        let lines = bad.iter().flat_map(|it| match it.failure.file_problems() {
            [] => vec![it.failure.to_string()],
            problems => {
                problems.iter().map(|problem| format!("{}: {problem}", it.origin)).collect()
            }
        });
        let what = show::counted(bad.len() as u64, "agent file");
        let have = if bad.len() == 1 { "has" } else { "have" };
        Err(Failure::BadFiles {
            what: format!("{what} {have} problems"),
            problems: lines.collect(),
        })
    }

    /// Every workflow with how far it is used, and whether it is sound. What only the runs of others
    /// would use is not held against the project's agents.
    pub(crate) fn checked_workflows(
        &self,
        catalog: &Catalog,
    ) -> Vec<(&str, WorkflowUse, Result<(), Failure>)> {
        let checked = self.workflows.iter().map(|it| {
            let is_default = catalog.default_workflow() == Some(&it.entry.workflow.name);
            let used = match (it.source.is_built_in(), is_default) {
                (false, _) => WorkflowUse::Own,
                (true, true) => WorkflowUse::BuiltInDefault,
                (true, false) => WorkflowUse::BuiltIn,
            };
            let result = match used {
                WorkflowUse::Own | WorkflowUse::BuiltInDefault => {
                    self.check(&it.name, &it.source).map(|_| ())
                }
                WorkflowUse::BuiltIn => Ok(()),
            };
            (it.name.as_str(), used, result)
        });
        checked.collect()
    }
}

/// Prints which files are left out and why, and whether the project's own workflow is one of them.
pub(crate) fn tell_left_out(catalog: &Catalog) {
    for it in catalog.left_out() {
        show::note(&format!("{} {}", show::warn("left out:"), show::visible(&it.to_string())));
    }
    if let Some(why) = catalog.no_default() {
        show::note(&format!("{} {}", show::warn("warning:"), show::visible(&why)));
    }
}

/// What is wrong with a file that changes while it is read.
pub(super) const BEING_WRITTEN: &str = "is being written; it is read again once it rests";

impl BadFile {
    fn being_written(role: FileRole, name: String, origin: String) -> Self {
        let failure = Failure::Broken { what: BEING_WRITTEN.to_owned() };
        Self { role, name, origin, failure, version: UsedVersion::None }
    }

    fn new(role: FileRole, name: String, source: SourceFile, failure: Failure) -> Self {
        Self { role, name, origin: source.origin, failure, version: UsedVersion::None }
    }

    /// The first problem, for a line among other output.
    pub(crate) fn summary(&self) -> LeftOutFile {
        let mut why = match self.failure.file_problems() {
            [] => self.failure.to_string(),
            [only] => only.to_string(),
            [first, others @ ..] => {
                let n = others.len();
                format!("{first}, and {n} more; `baton doctor` lists them")
            }
        };
        match self.version {
            UsedVersion::None => {}
            UsedVersion::Earlier => why += "; the version before is used until it is mended",
        }
        LeftOutFile { name: self.name.clone(), file: self.origin.clone(), why }
    }
}

/// A parsed workflow file, with its text.
fn workflow_in(name: &str, source: &SourceFile) -> Result<Entry, Failure> {
    let text = source.text()?;
    let workflow = parsed(Path::new(&source.origin), workflow_file::parse_file(name, text))?;
    Ok(Entry { workflow: Arc::new(workflow), text: text.to_owned() })
}

fn agent_in(name: &str, source: &SourceFile) -> Result<AgentFile, Failure> {
    parsed(Path::new(&source.origin), agent_file::parse_file(name, source.text()?))
}

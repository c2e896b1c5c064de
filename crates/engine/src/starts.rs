//! How a run starts: by a start, or by the first handoff of a story.

use std::sync::Arc;

use baton_core::budget::Budget;
use baton_core::command::{Command, Create, StartAt};
use baton_core::contract::Profile;
use baton_core::decide::{self, DecisionContext, First, RunStart};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Reason, StepId, StoryKey, WorkflowName};
use baton_core::package::Package;
use baton_core::refusal::Refusal;
use baton_core::run::{RunId, RunStatus};
use baton_core::story::Story;
use baton_core::workflow::{BlockerRouting, Mode, Target, Workflow};
use baton_store::{AppendError, RunRef, RunRow, StoryRow, Version};

use crate::cache::Loaded;
use crate::catalog::Entry;
use crate::commands::nothing;
use crate::look_alikes::LookAlikes;
use crate::{Caller, CommandResult, Engine, EngineError, NewRun, story_package};

/// A run to begin.
#[derive(Debug, Clone)]
pub struct StartRun {
    pub story: StoryKey,
    /// Default: that of the story's newest run where that was cancelled, else the project's.
    pub workflow: Option<WorkflowName>,
    /// Default: the first agent of the first step.
    pub to: Option<AgentId>,
    /// Default: the story itself.
    pub package: Option<Package>,
    pub reason: Option<Reason>,
    /// Of a new run; one that is handed in again keeps its own. Default: that of the cancelled run
    /// whose workflow it keeps, else the project's.
    pub mode: Option<Mode>,
    /// Of a new run: what its agents may use, in place of the workflow's budget.
    pub budget: Budget,
    pub dependencies: Dependencies,
}

/// What becomes of a start while stories that the story depends on are not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependencies {
    /// It is refused.
    First,
    /// It starts all the same.
    Anyway,
}

impl StartRun {
    /// A story as it is, with nothing chosen.
    pub fn of(story: StoryKey) -> Self {
        let mode = None;
        let budget = Budget::default();
        let dependencies = Dependencies::First;
        let (workflow, to, package, reason) = (None, None, None, None);
        Self { story, workflow, to, package, reason, mode, budget, dependencies }
    }
}

/// The step at which an operator starts a story, skipping the steps before it.
#[derive(Debug, Clone)]
pub struct StartingPoint {
    pub step: StepId,
    /// Why. Replaces the reason of the start.
    pub reason: Reason,
}

/// The story that a first handoff is for.
pub(crate) struct MeantStory {
    pub(crate) story: Story,
    /// Of the story's newest run.
    pub(crate) latest: Option<(RunId, RunStatus)>,
    /// Only for a story that is created with the run.
    pub(crate) alike: LookAlikes,
}

impl Engine {
    /// Starts a story: the orchestrator's first handoff. On a loose baton it hands in again.
    pub async fn start(
        &self,
        caller: &Caller,
        start: StartRun,
    ) -> Result<CommandResult, EngineError> {
        self.not_for_attempts(caller, "start")?;
        let outcome = self.start_story(caller, start).await;
        self.or_repeated(caller, outcome).await
    }

    /// As [`Engine::start`], for the story that is next. A retry with the same idempotency key
    /// refers to the story that was next at the first try.
    pub async fn start_next(
        &self,
        caller: &Caller,
        start: impl FnOnce(StoryKey) -> StartRun,
    ) -> Result<CommandResult, EngineError> {
        self.not_for_attempts(caller, "start")?;
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        match self.next_ready().await {
            Ok(story) => self.start(caller, start(story.key)).await,
            Err(error) => self.or_repeated(caller, Err(error)).await,
        }
    }

    /// Starts a story at a given step: in a new run, or in one whose baton is loose. The gates
    /// before the step are recorded as waived by the caller.
    pub async fn start_at(
        &self,
        caller: &Caller,
        start: StartRun,
        at: StartingPoint,
    ) -> Result<CommandResult, EngineError> {
        self.not_for_attempts(caller, "start")?;
        let outcome = self.start_story_at(caller, start, at).await;
        self.or_repeated(caller, outcome).await
    }

    async fn start_story_at(
        &self,
        caller: &Caller,
        start: StartRun,
        at: StartingPoint,
    ) -> Result<CommandResult, EngineError> {
        let MeantStory { story, alike, latest } = self.story_or_new(&start.story).await?;
        let at = |package| StartAt {
            step: at.step,
            to: start.to,
            package,
            reason: at.reason,
            by: caller.principal.clone(),
        };
        if let Some(row) = self.open_run(&start.story).await? {
            if row.run.loose_branch().is_none() {
                let number = row.number;
                return Err(EngineError::AlreadyOpen { story: start.story, number });
            }
            let start = at(start.package.unwrap_or_else(nothing));
            return self.on_run(caller, row.run.id, Command::StartAt(start)).await;
        }
        self.after_others(&story, start.dependencies).await?;
        let (workflow, mode) = self.kept(start.workflow, start.mode, latest).await?;
        let catalog = self.fresh_catalog();
        let entry = catalog.choose(workflow.as_ref(), |_| true)?.clone();
        let mode = mode.unwrap_or_else(|| catalog.default_mode(&entry.workflow));
        let entry = in_mode(entry, mode)?;
        let first = at(start.package.unwrap_or_else(|| story_package(&story)));
        let chosen = (mode, start.budget);
        self.begin(caller, entry, story, alike, chosen, First::AtStep(first)).await
    }

    async fn start_story(
        &self,
        caller: &Caller,
        start: StartRun,
    ) -> Result<CommandResult, EngineError> {
        let MeantStory { story, latest, alike } = self.story_or_new(&start.story).await?;
        let is_open = latest.is_some_and(|(_, status)| status.is_open());
        if is_open && let Some(row) = self.open_run(&start.story).await? {
            return self.start_again(caller, start, row).await;
        }
        self.after_others(&story, start.dependencies).await?;
        let fits = |_: &Workflow| true;
        let (workflow, mode) = self.kept(start.workflow.clone(), start.mode, latest).await?;
        let catalog = self.fresh_catalog();
        let entry = catalog.choose(workflow.as_ref(), fits)?.clone();
        let mode = mode.unwrap_or_else(|| catalog.default_mode(&entry.workflow));
        let (entry, chosen) = (in_mode(entry, mode)?, (mode, start.budget));
        if start.to.is_none() {
            one_receiver(&entry.workflow)?;
        }
        let first = first_handoff(&entry.workflow, &story, start);
        self.begin(caller, entry, story, alike, chosen, First::Handoff(first)).await
    }

    /// A story begins when those that it depends on are finished, unless the caller wants it anyway.
    async fn after_others(
        &self,
        story: &Story,
        dependencies: Dependencies,
    ) -> Result<(), EngineError> {
        if dependencies == Dependencies::Anyway {
            return Ok(());
        }
        match self.unfinished_dependencies(story).await? {
            open if open.is_empty() => Ok(()),
            open => Err(EngineError::DependsOnOthers { story: story.key.clone(), open }),
        }
    }

    /// The workflow and the mode of a new run, where they are not the project's. A story whose newest run was cancelled goes on as that
    /// run was, unless the caller chooses otherwise.
    async fn kept(
        &self,
        workflow: Option<WorkflowName>,
        mode: Option<Mode>,
        latest: Option<(RunId, RunStatus)>,
    ) -> Result<(Option<WorkflowName>, Option<Mode>), EngineError> {
        let cancelled = match latest {
            Some((run, RunStatus::Cancelled)) => self.store.run(&RunRef::Id(run)).await?,
            Some((_, RunStatus::Open | RunStatus::Paused | RunStatus::Completed)) | None => None,
        };
        let is_same = |it: &RunRow| workflow.as_ref().is_none_or(|name| *name == it.run.workflow);
        let Some(before) = cancelled.filter(is_same) else {
            return Ok((workflow, mode));
        };
        Ok((Some(before.run.workflow), mode.or(Some(before.run.mode))))
    }

    /// An open run is started again only where its baton is loose.
    async fn start_again(
        &self,
        caller: &Caller,
        start: StartRun,
        row: RunRow,
    ) -> Result<CommandResult, EngineError> {
        if row.run.loose_branch().is_none() {
            let number = row.number;
            return Err(EngineError::AlreadyOpen { story: start.story, number });
        }
        let (loaded, _) = self.load(row.run.id).await?;
        let agent = row.run.restarts_with(&loaded.workflow);
        let to = start.to.or(agent).unwrap_or_else(AgentId::orchestrator);
        let create = handed_in(to, start.package.unwrap_or_else(nothing), start.reason);
        self.on_run(caller, row.run.id, Command::Create(create)).await
    }

    /// Begins a run, unless another caller has just done so.
    pub(crate) async fn begin(
        &self,
        caller: &Caller,
        entry: Entry,
        story: Story,
        alike: LookAlikes,
        (mode, budget): (Mode, Budget),
        first: First,
    ) -> Result<CommandResult, EngineError> {
        let admitted = self.admit().await?;
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        caller.still_meant(Version::NONE)?;
        let package = match &first {
            First::Handoff(create) => Some(&create.package),
            First::AtStep(_) => None,
        };
        let files = self.files_of(None, package).await;
        let catalog = self.catalog();
        let ground = DecisionContext {
            files: Some(&files),
            ..self.ground(caller, &catalog, &entry.workflow)
        };
        let start = RunStart {
            run: RunId(self.clock.as_fresh().id()),
            story: story.key.clone(),
            owner: caller.principal.clone(),
            mode,
            budget,
            first,
        };
        let mut decision = match decide::start(&start, ground) {
            Ok(decision) => decision,
            Err(refusal) => return Err(EngineError::refused(refusal)),
        };
        decision.done.warnings.extend(alike.problem());
        let loaded = Loaded {
            run: decision.run.clone(),
            version: Version::NONE,
            head: Hash::ZERO,
            number: 0,
            workflow: entry.workflow.clone(),
            rows: Vec::new(),
        };
        let definition = Some(entry.definition());
        let birth = NewRun { story: Some(story), definition, is_new_story: alike.is_of_new() };
        match self.commit(caller, &loaded, decision, birth, ground.now).await {
            Ok(outcome) => Ok(outcome),
            // Another caller has just started the run, so this becomes one more command on it.
            Err(AppendError::OpenRunExists(story)) => {
                drop(admitted);
                self.begun_by_another(caller, story, start.first).await
            }
            Err(AppendError::Conflict) => Err(EngineError::Contended),
            Err(AppendError::Repeated(answered)) => self.repeat(caller, &answered).await,
            Err(AppendError::Store(error)) => Err(error.into()),
        }
    }

    async fn begun_by_another(
        &self,
        caller: &Caller,
        story: StoryKey,
        first: First,
    ) -> Result<CommandResult, EngineError> {
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        match (self.open_run(&story).await?, first) {
            (Some(row), First::Handoff(create)) if !create.from.is_orchestrator() => {
                self.on_run(caller, row.run.id, Command::Create(create)).await
            }
            (Some(row), First::Handoff(_) | First::AtStep(_)) => {
                Err(EngineError::AlreadyOpen { story, number: row.number })
            }
            (None, _) => Err(EngineError::Contended),
        }
    }

    /// A story, existing or not, and its newest run.
    pub(crate) async fn story_or_new(&self, key: &StoryKey) -> Result<MeantStory, EngineError> {
        Ok(match self.store.story(key).await? {
            Some(StoryRow { story, latest, .. }) => {
                MeantStory { story, latest, alike: LookAlikes::none() }
            }
            None => {
                let alike = self.look_alikes(key).await?;
                MeantStory { story: Story::named(key.clone()), latest: None, alike }
            }
        })
    }
}

/// The workflow as a run in this mode has it, which has to be one that it declares.
pub(crate) fn in_mode(entry: Entry, mode: Mode) -> Result<Entry, EngineError> {
    if mode.is_autonomous() {
        return Ok(entry);
    }
    let modes = entry.workflow.modes();
    if !modes.contains(&mode) {
        let known: Vec<&str> = modes.into_iter().map(Mode::name).collect();
        let workflow = entry.workflow.name.clone();
        return Err(EngineError::NoSuchMode { workflow, mode, known: known.join(", ") });
    }
    Ok(Entry { workflow: Arc::new(entry.workflow.in_mode(mode)), ..entry })
}

/// Where the first step has several agents, only the caller can choose one, unless the workflow
/// tells their domains apart: then its own domain is meant, else the first.
fn one_receiver(workflow: &Workflow) -> Result<(), EngineError> {
    let Target::Step(step) = &workflow.start.to else { return Ok(()) };
    let agents = workflow.agents_at(&Workflow::target_place(&workflow.start.to));
    if agents.len() == 1 || workflow.routing != BlockerRouting::default() {
        return Ok(());
    }
    let (step, outcome) = (step.clone(), Refusal::START);
    Err(EngineError::refused(Refusal::ChooseReceiver { step, outcome, choices: agents }))
}

fn first_handoff(workflow: &Workflow, story: &Story, start: StartRun) -> Create {
    let entry = Workflow::target_place(&workflow.start.to);
    let agents = workflow.agents_at(&entry);
    let of_domain = workflow.agent_of_own_domain(&agents);
    let agent = of_domain.or_else(|| agents.into_iter().next());
    let to = start.to.or(agent).unwrap_or_else(AgentId::orchestrator);
    handed_in(to, start.package.unwrap_or_else(|| story_package(story)), start.reason)
}

/// The orchestrator hands a story in.
fn handed_in(to: AgentId, package: Package, reason: Option<Reason>) -> Create {
    Create {
        from: AgentId::orchestrator(),
        to,
        package,
        outcome: None,
        reason,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        // Baton generates the story package, so no sender could fix a missing field.
        profile: Profile::Lenient,
    }
}

//! The commands: start a run, hand off, answer a handoff, steer a run.

use baton_core::command::{Command, Create, StartAt};
use baton_core::contract::Profile;
use baton_core::decide::{self, DecisionContext, First, RunStart};
use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Reason, StepId, StoryKey, WorkflowName};
use baton_core::package::{Format, Package};
use baton_core::refusal::Refusal;
use baton_core::run::{Baton, HandoffNo, RunId, RunStatus};
use baton_core::story::Story;
use baton_core::workflow::{Target, Workflow};
use baton_store::{AppendError, HandoffRef, RunRef, RunRow, StoryRow, Version};

use crate::cache::Loaded;
use crate::catalog::Entry;
use crate::look_alikes::LookAlikes;
use crate::{Caller, CommandResult, Engine, EngineError, NewRun, story_package};

/// A run to begin.
#[derive(Debug, Clone)]
pub struct StartRun {
    pub story: StoryKey,
    pub workflow: Option<WorkflowName>,
    /// Default: the first agent of the first step.
    pub to: Option<AgentId>,
    /// Default: the story itself.
    pub package: Option<Package>,
    pub reason: Option<Reason>,
}

/// The step at which an operator starts a story, skipping the steps before it.
#[derive(Debug, Clone)]
pub struct StartingPoint {
    pub step: StepId,
    /// Why. Replaces the reason of the start.
    pub reason: Reason,
}

/// The story that a first handoff is for.
struct MeantStory {
    story: Story,
    /// Of the story's newest run.
    latest: Option<(RunId, RunStatus)>,
    /// Only for a story that is created with the run.
    alike: LookAlikes,
}

/// The run that a handoff is for.
#[derive(Debug, Clone)]
pub enum RunTarget {
    Run(RunRef),
    /// The story's open run; where it has none, a new one.
    Story {
        key: StoryKey,
        workflow: Option<WorkflowName>,
    },
}

impl Engine {
    /// Starts a story: the orchestrator's first handoff. On a loose baton it hands in again.
    pub async fn start(
        &self,
        caller: &Caller,
        start: StartRun,
    ) -> Result<CommandResult, EngineError> {
        match self.start_story(caller, start).await {
            Ok(outcome) => Ok(outcome),
            Err(error) => self.repeated_or(caller, error).await,
        }
    }

    /// As [`Engine::start`], for the story that is next. A retry with the same idempotency key
    /// refers to the story that was next at the first try.
    pub async fn start_next(
        &self,
        caller: &Caller,
        start: impl FnOnce(StoryKey) -> StartRun,
    ) -> Result<CommandResult, EngineError> {
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        let story = match self.next_ready().await {
            Ok(story) => story,
            Err(error) => return self.repeated_or(caller, error).await,
        };
        self.start(caller, start(story.key)).await
    }

    /// Starts a story at a given step: in a new run, or in one whose baton is loose. The gates
    /// before the step are recorded as waived by the caller.
    pub async fn start_at(
        &self,
        caller: &Caller,
        start: StartRun,
        at: StartingPoint,
    ) -> Result<CommandResult, EngineError> {
        match self.start_story_at(caller, start, at).await {
            Ok(outcome) => Ok(outcome),
            Err(error) => self.repeated_or(caller, error).await,
        }
    }

    async fn start_story_at(
        &self,
        caller: &Caller,
        start: StartRun,
        at: StartingPoint,
    ) -> Result<CommandResult, EngineError> {
        let MeantStory { story, alike, .. } = self.story_or_new(&start.story).await?;
        let at = |package| StartAt {
            step: at.step,
            to: start.to,
            package,
            reason: at.reason,
            by: caller.principal.clone(),
        };
        if let Some(row) = self.open_run(&start.story).await? {
            let Baton::Loose { .. } = row.run.baton() else {
                let number = row.number;
                return Err(EngineError::AlreadyOpen { story: start.story, number });
            };
            let start = at(start.package.unwrap_or_else(nothing));
            return self.on_run(caller, row.run.id, Command::StartAt(start)).await;
        }
        let catalog = self.fresh_catalog();
        let entry = catalog.choose(start.workflow.as_ref(), |_| true)?.clone();
        let first = at(start.package.unwrap_or_else(|| story_package(&story)));
        self.begin(caller, entry, story, alike, First::AtStep(first)).await
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
        let fits = |_: &Workflow| true;
        let catalog = self.fresh_catalog();
        let entry = catalog.choose(start.workflow.as_ref(), fits)?.clone();
        if start.to.is_none() {
            one_receiver(&entry.workflow)?;
        }
        let first = first_handoff(&entry.workflow, &story, start);
        self.begin(caller, entry, story, alike, First::Handoff(first)).await
    }

    /// Hands off from one agent to another.
    pub async fn create(
        &self,
        caller: &Caller,
        within: RunTarget,
        create: Create,
    ) -> Result<CommandResult, EngineError> {
        let (from, to) = (create.from.clone(), create.to.clone());
        let outcome = self.create_within(caller, within, create).await;
        match outcome {
            // No edge leads to an agent that does not exist: report the unknown agent.
            Err(EngineError::Refused { refusal: Refusal::NotAnEdge { .. }, .. })
                if !self.catalog().knows(&to) =>
            {
                Err(EngineError::refused(Refusal::UnknownAgent { agent: to }))
            }
            Err(EngineError::Refused { refusal: Refusal::NotAnEdge { .. }, .. })
                if !self.catalog().knows(&from) =>
            {
                Err(EngineError::refused(Refusal::UnknownAgent { agent: from }))
            }
            outcome => outcome,
        }
    }

    async fn create_within(
        &self,
        caller: &Caller,
        within: RunTarget,
        create: Create,
    ) -> Result<CommandResult, EngineError> {
        match within {
            RunTarget::Run(which) => {
                let run = self.resolve_run(&which).await?;
                self.on_run(caller, run, Command::Create(create)).await
            }
            RunTarget::Story { key, workflow } => {
                if let Some(run) = self.cache.open_run(&key) {
                    let outcome = self.on_run(caller, run, Command::Create(create.clone())).await;
                    match outcome {
                        Err(EngineError::Refused {
                            refusal: Refusal::RunFinished { .. }, ..
                        }) => {
                            self.cache.forget_story(&key);
                        }
                        outcome => return outcome,
                    }
                }
                // Boxed: only the first handoff of a story needs a future of this size.
                let first = Box::pin(self.create_in_story(caller, key, workflow, create));
                match first.await {
                    Ok(outcome) => Ok(outcome),
                    Err(error) => self.repeated_or(caller, error).await,
                }
            }
        }
    }

    /// Carries out a command on one handoff, by whichever reference names it.
    pub async fn on_handoff(
        &self,
        caller: &Caller,
        which: &HandoffRef,
        command: impl FnOnce(HandoffNo) -> Command,
    ) -> Result<CommandResult, EngineError> {
        let (run, no) = self.resolve_handoff(which).await?;
        let outcome = match self.checked(run, no, command(no)).await {
            Ok(command) => self.on_run(caller, run, command).await,
            Err(error) => Err(error),
        };
        let outcome = match which {
            HandoffRef::Number(_) | HandoffRef::Id(_) => {
                outcome.map_err(EngineError::of_stored_row)
            }
            // The caller may have named a run that does not exist.
            HandoffRef::InRun(..) => outcome,
        };
        match outcome {
            // A refused caller needs the handoff's current state, or that it does not exist.
            Err(EngineError::Refused { refusal, handoff: None }) => {
                let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
                Err(EngineError::Refused { refusal, handoff: Some(Box::new(handoff)) })
            }
            outcome => outcome,
        }
    }

    /// Carries out a command on a run.
    pub async fn on_run(
        &self,
        caller: &Caller,
        run: RunId,
        command: Command,
    ) -> Result<CommandResult, EngineError> {
        let decide = |loaded: &Loaded, ground: DecisionContext<'_>| {
            decide::decide(&loaded.run, &command, ground)
        };
        let outcome = self.carry_out(caller, run, decide).await;
        let Err(EngineError::Refused { refusal, handoff: None }) = outcome else { return outcome };
        let handoff = match refusal.handoff() {
            Some(no) => self.store.handoff(&HandoffRef::InRun(run, no)).await?.map(Box::new),
            None => None,
        };
        Err(EngineError::Refused { refusal, handoff })
    }

    pub(crate) async fn resolve_run(&self, which: &RunRef) -> Result<RunId, EngineError> {
        if let RunRef::Id(id) = which {
            return Ok(*id);
        }
        let row = self.store.run(which).await?;
        row.map(|it| it.run.id).ok_or_else(|| EngineError::NoSuchRun { which: run_name(which) })
    }

    pub(crate) async fn resolve_handoff(
        &self,
        which: &HandoffRef,
    ) -> Result<(RunId, HandoffNo), EngineError> {
        let known = match which {
            HandoffRef::Number(number) => self.cache.handoff(*number),
            HandoffRef::InRun(run, no) => Some((*run, *no)),
            HandoffRef::Id(id) => self.cache.handoff_of_id(*id),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let row = self.handoff(which).await?;
        self.cache.remember_names(&row);
        Ok((row.run, row.no))
    }

    /// A handoff that must belong to the given run: a label is valid only within its own run.
    pub(crate) async fn handoff_in(
        &self,
        within: &RunTarget,
        which: &HandoffRef,
    ) -> Result<HandoffNo, EngineError> {
        let (run, no) = self.resolve_handoff(which).await?;
        let meant = match within {
            RunTarget::Run(which) => Some(self.resolve_run(which).await?),
            RunTarget::Story { key, .. } => self.open_run(key).await?.map(|it| it.run.id),
        };
        if meant == Some(run) {
            return Ok(no);
        }
        let which = format!("{}` of this run, but of another: `{run}", handoff_name(which));
        Err(EngineError::NoSuchHandoff { which })
    }

    async fn create_in_story(
        &self,
        caller: &Caller,
        key: StoryKey,
        workflow: Option<WorkflowName>,
        create: Create,
    ) -> Result<CommandResult, EngineError> {
        let MeantStory { story, latest, alike } = self.story_or_new(&key).await?;
        let latest = match latest {
            Some(_) => self.store.run(&RunRef::LatestOf(key)).await?,
            None => None,
        };
        if let Some(row) = &latest
            && !row.run.is_finished()
        {
            return self.on_run(caller, row.run.id, Command::Create(create)).await;
        }
        let catalog = self.fresh_catalog();
        let entry = catalog.choose_by_edge(workflow.as_ref(), &create.from, &create.to)?;
        if let Some(row) = latest
            && !decide::is_first_edge(&entry.workflow, &create)
        {
            return Err(self.finished(&row).await?);
        }
        self.begin(caller, entry.clone(), story, alike, First::Handoff(create)).await
    }

    /// The refusal of a create for a story whose run has ended, with the last handoff of that run.
    async fn finished(&self, row: &RunRow) -> Result<EngineError, EngineError> {
        let refusal = Refusal::RunFinished { status: row.run.status.name() };
        let last = HandoffRef::InRun(row.run.id, HandoffNo(row.run.n_handoffs));
        let handoff = self.store.handoff(&last).await?.map(Box::new);
        Ok(EngineError::Refused { refusal, handoff })
    }

    /// An open run is started again only where its baton is loose.
    async fn start_again(
        &self,
        caller: &Caller,
        start: StartRun,
        row: RunRow,
    ) -> Result<CommandResult, EngineError> {
        let Baton::Loose { .. } = row.run.baton() else {
            let number = row.number;
            return Err(EngineError::AlreadyOpen { story: start.story, number });
        };
        let (loaded, _) = self.load(row.run.id).await?;
        let agent = row.run.restarts_with(&loaded.workflow);
        let to = start.to.or(agent).unwrap_or_else(AgentId::orchestrator);
        let create = Create {
            from: AgentId::orchestrator(),
            to,
            package: start.package.unwrap_or_else(nothing),
            outcome: None,
            reason: start.reason,
            supersedes: None,
            way: None,
            token: None,
            profile: Profile::Lenient,
        };
        self.on_run(caller, row.run.id, Command::Create(create)).await
    }

    async fn begin(
        &self,
        caller: &Caller,
        entry: Entry,
        story: Story,
        alike: LookAlikes,
        first: First,
    ) -> Result<CommandResult, EngineError> {
        let admitted = self.admit().await?;
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        caller.still_meant(Version::NONE)?;
        let catalog = self.catalog();
        let ground = self.ground(&catalog, &entry.workflow);
        let start = RunStart {
            run: RunId(self.clock.as_fresh().id()),
            story: story.key.clone(),
            owner: caller.principal.clone(),
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

    pub(crate) async fn open_run(&self, story: &StoryKey) -> Result<Option<RunRow>, EngineError> {
        Ok(self.store.run(&RunRef::OpenOf(story.clone())).await?)
    }

    /// A story, existing or not, and its newest run.
    async fn story_or_new(&self, key: &StoryKey) -> Result<MeantStory, EngineError> {
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

/// Where the first step has several agents, only the caller can choose one.
fn one_receiver(workflow: &Workflow) -> Result<(), EngineError> {
    let Target::Step(step) = &workflow.start.to else { return Ok(()) };
    let agents = workflow.agents_at(&Workflow::target_place(&workflow.start.to));
    if agents.len() == 1 {
        return Ok(());
    }
    let (step, outcome) = (step.clone(), Refusal::START);
    Err(EngineError::refused(Refusal::ChooseReceiver { step, outcome, choices: agents }))
}

fn first_handoff(workflow: &Workflow, story: &Story, start: StartRun) -> Create {
    let entry = Workflow::target_place(&workflow.start.to);
    let agent = workflow.agents_at(&entry).into_iter().next();
    Create {
        from: AgentId::orchestrator(),
        to: start.to.or(agent).unwrap_or_else(AgentId::orchestrator),
        package: start.package.unwrap_or_else(|| story_package(story)),
        outcome: None,
        reason: start.reason,
        supersedes: None,
        way: None,
        token: None,
        // Baton generates the story package, so no sender could fix a missing field.
        profile: Profile::Lenient,
    }
}

pub(crate) fn nothing() -> Package {
    Package::new(Format::Json, "{}", Node::map([]))
}

pub(crate) fn run_name(which: &RunRef) -> String {
    match which {
        RunRef::Id(id) => id.to_string(),
        RunRef::Number(number) => number.to_string(),
        RunRef::OpenOf(story) | RunRef::LatestOf(story) => story.to_string(),
    }
}

pub(crate) fn handoff_name(which: &HandoffRef) -> String {
    match which {
        HandoffRef::Number(number) => number.to_string(),
        HandoffRef::Id(id) => id.0.to_string(),
        HandoffRef::InRun(run, no) => format!("{no} of run {run}"),
    }
}

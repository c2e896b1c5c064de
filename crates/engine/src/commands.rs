//! The commands: hand off, answer a handoff, steer a run. How a run starts is in `starts`.

use baton_core::budget::Budget;
use baton_core::command::{Command, Create};
use baton_core::decide::{self, DecisionContext, First};
use baton_core::document::Node;
use baton_core::names::{StoryKey, WorkflowName};
use baton_core::package::{Format, Package};
use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::workflow::Mode;
use baton_store::{HandoffRef, RunRef, RunRow};
use baton_wire::suggest::nearest;

use crate::attempts::AttemptCommand;
use crate::cache::Loaded;
use crate::names::{handoff_name, run_name};
use crate::starts::{MeantStory, in_mode};
use crate::{Caller, CommandResult, Engine, EngineError};

/// The run that a handoff is for.
#[derive(Debug, Clone)]
pub enum RunTarget {
    Run(RunRef),
    /// The story's open run; where it has none, a new one.
    Story {
        key: StoryKey,
        workflow: Option<WorkflowName>,
        /// Of a new run; where left out, the project's.
        mode: Option<Mode>,
    },
}

impl Engine {
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
            RunTarget::Story { key, workflow, mode } => {
                if let Some(run) = self.cache.open_run(&key) {
                    let outcome = self.on_run(caller, run, Command::Create(create.clone())).await;
                    // Boxed: only a refused command needs it.
                    if !Box::pin(self.is_of_former_run(&outcome, &key, run)).await? {
                        return outcome;
                    }
                    self.cache.forget_story(&key);
                }
                // Boxed: only the first handoff of a story needs a future of this size.
                let chosen = (workflow, mode);
                let first = Box::pin(self.create_in_story(caller, key, chosen, create));
                let outcome = first.await;
                self.or_repeated(caller, outcome).await
            }
        }
    }

    /// Whether a command was refused by a run that is not the open one of its story any more.
    async fn is_of_former_run(
        &self,
        outcome: &Result<CommandResult, EngineError>,
        story: &StoryKey,
        run: RunId,
    ) -> Result<bool, EngineError> {
        match outcome {
            Err(EngineError::Refused { refusal: Refusal::RunFinished { .. }, .. }) => Ok(true),
            Ok(_) | Err(EngineError::Closing | EngineError::Store(_)) => Ok(false),
            // Another node may have ended that run, and begun the next.
            Err(_) if self.is_shared() => {
                Ok(self.open_run(story).await?.is_none_or(|it| it.run.id != run))
            }
            Err(_) => Ok(false),
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
            Err(EngineError::Refused { refusal, handoff: None, numbers }) => {
                let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
                Err(EngineError::Refused { refusal, handoff: Some(Box::new(handoff)), numbers })
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
        let command = match self.as_attempt(caller, run, command).await? {
            AttemptCommand::CarryOut(command) => command,
            AttemptCommand::Accepted(outcome) => return Ok(*outcome),
        };
        let files = match &caller.attempt {
            Some(_) => self.files_of_attempt(run, command.package()).await,
            None => self.files_of(Some(run), command.package()).await,
        };
        let to_answer = match command.package() {
            Some(_) => self.to_answer(run, &command).await?,
            None => Vec::new(),
        };
        let decide = |loaded: &Loaded, ground: DecisionContext<'_>| {
            let (files, to_answer) = (Some(&files), Some(to_answer.as_slice()));
            decide::decide(&loaded.run, &command, DecisionContext { files, to_answer, ..ground })
        };
        // Boxed: every caller's future would contain it, and be copied with it from layer to layer.
        let outcome = Box::pin(self.carry_out(caller, run, decide)).await;
        let Err(EngineError::Refused { refusal, handoff: None, .. }) = outcome else {
            return outcome;
        };
        let (mut handoff, mut numbers) = (None, Vec::new());
        for no in refusal.mentioned() {
            let Some(row) = self.store.handoff(&HandoffRef::InRun(run, no)).await? else {
                continue;
            };
            numbers.push((no, row.number));
            if refusal.handoff() == Some(no) {
                handoff = Some(Box::new(row));
            }
        }
        let refusal = nearest_step(refusal);
        Err(EngineError::Refused { refusal, handoff, numbers: numbers.into() })
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
        let which = format!("{} in this run; it is of the run `{run}`", handoff_name(which));
        Err(EngineError::NoSuchHandoff { which })
    }

    async fn create_in_story(
        &self,
        caller: &Caller,
        key: StoryKey,
        (workflow, mode): (Option<WorkflowName>, Option<Mode>),
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
        self.not_for_attempts(caller, "create")?;
        let catalog = self.fresh_catalog();
        let entry = catalog.choose_by_edge(workflow.as_ref(), &create.from, &create.to)?;
        if let Some(row) = latest
            && !decide::is_first_edge(&entry.workflow, &create)
        {
            return Err(self.finished(&row).await?);
        }
        let mode = mode.unwrap_or_else(|| catalog.default_mode(&entry.workflow));
        let entry = in_mode(entry.clone(), mode)?;
        let chosen = (mode, Budget::default());
        self.begin(caller, entry, story, alike, chosen, First::Handoff(create)).await
    }

    /// The refusal of a create for a story whose run has ended, with the last handoff of that run.
    async fn finished(&self, row: &RunRow) -> Result<EngineError, EngineError> {
        let refusal = Refusal::RunFinished { status: row.run.status.name() };
        let last = HandoffRef::InRun(row.run.id, HandoffNo(row.run.n_handoffs));
        let handoff = self.store.handoff(&last).await?.map(Box::new);
        Ok(EngineError::Refused { refusal, handoff, numbers: Box::default() })
    }

    pub(crate) async fn open_run(&self, story: &StoryKey) -> Result<Option<RunRow>, EngineError> {
        Ok(self.store.run(&RunRef::OpenOf(story.clone())).await?)
    }
}

pub(crate) fn nothing() -> Package {
    Package::new(Format::Json, "{}", Node::map([]))
}

/// With the step that was probably meant.
fn nearest_step(refusal: Refusal) -> Refusal {
    let Refusal::NoSuchStep { step, known } = refusal else { return refusal };
    let steps: Vec<&str> = known.trim_start_matches("it has: ").split(", ").collect();
    let near = nearest(step.as_str(), &steps).map(|it| format!("did you mean `{it}`? "));
    let known = near.unwrap_or_default() + &known;
    Refusal::NoSuchStep { step, known }
}

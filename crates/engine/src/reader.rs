//! Reads on behalf of a caller: the one place for rules about who may see what. There are none yet.

use std::sync::Arc;

use baton_core::budget::{Budget, BudgetOwner};
use baton_core::command::Command;
use baton_core::decide::{Decision, decide, granted_budget};
use baton_core::gate::Gate;
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, Run, RunId};
use baton_core::story::Story;
use baton_core::workflow::Workflow;
use baton_store::{
    CheckpointRow, Definition, EventFilter, HandoffFact, HandoffFilter, HandoffRef, HandoffRow,
    Identity, OpenRunCounts, Position, RunFilter, RunRef, RunRow, SharedEvents, Statistics,
    StoredEvent, StoryCounts, StoryFilter, StoryRow, UsageFact,
};
use jiff::Timestamp;

use crate::repository::Repository;
use crate::{Caller, Catalog, CommandResult, Engine, EngineError, Feed, LookAlikes, RunTarget};

/// What one caller reads.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(crate) engine: &'a Engine,
    caller: &'a Caller,
}

impl Engine {
    pub fn read_as<'a>(&'a self, caller: &'a Caller) -> Reader<'a> {
        Reader { engine: self, caller }
    }
}

impl<'a> Reader<'a> {
    pub fn caller(self) -> &'a Caller {
        self.caller
    }

    pub fn catalog(self) -> Arc<Catalog> {
        self.engine.catalog()
    }

    /// As [`Reader::catalog`], after a look at the project's files.
    pub fn fresh_catalog(self) -> Arc<Catalog> {
        self.engine.fresh_catalog()
    }

    pub fn now(self) -> Timestamp {
        self.engine.clock.now()
    }

    /// The project's git repository, with the branch of a story.
    pub async fn repository(self, branch: &str) -> Repository {
        self.engine.repository(branch).await
    }

    /// A new one each time.
    pub fn nonce(self) -> [u8; 16] {
        self.engine.clock.as_fresh().nonce()
    }

    /// What a command would do. Writes nothing.
    pub fn preview(
        self,
        run: &Run,
        workflow: &Workflow,
        command: &Command,
    ) -> Result<Decision, Refusal> {
        decide(run, command, self.engine.ground(self.caller, &self.engine.catalog(), workflow))
    }

    /// The budget that a gate is about, with all that people have granted.
    pub fn granted_budget(
        self,
        run: &Run,
        workflow: &Workflow,
        of: &BudgetOwner,
        gate: &Gate,
    ) -> Budget {
        granted_budget(run, workflow, self.engine.catalog().budgets(), of, gate)
    }

    /// The events of a run before a position, newest first.
    pub async fn events_before(
        self,
        run: RunId,
        before: Position,
        most: u32,
    ) -> Result<Vec<StoredEvent>, EngineError> {
        Ok(self.engine.store.events_before(run, before, most).await?)
    }

    /// The events of a run about one thing that is shared in it, oldest first.
    pub async fn shared_events(
        self,
        run: RunId,
        of: SharedEvents,
    ) -> Result<Vec<StoredEvent>, EngineError> {
        Ok(self.engine.store.shared_events(run, of).await?)
    }

    pub async fn run(self, which: &RunRef) -> Result<RunRow, EngineError> {
        self.engine.run(which).await
    }

    /// As [`Reader::run`], where the run may not exist.
    pub async fn find_run(self, which: &RunRef) -> Result<Option<RunRow>, EngineError> {
        Ok(self.engine.store.run(which).await?)
    }

    pub async fn runs(self, filter: &RunFilter) -> Result<Vec<RunRow>, EngineError> {
        Ok(self.engine.store.runs(filter).await?)
    }

    pub async fn runs_moved_last(self, most: u32) -> Result<Vec<RunRow>, EngineError> {
        Ok(self.engine.store.runs_moved_last(most).await?)
    }

    pub async fn count_open_runs(self) -> Result<u64, EngineError> {
        Ok(self.engine.store.count_open_runs().await?)
    }

    pub async fn open_run_counts(self) -> Result<OpenRunCounts, EngineError> {
        Ok(self.engine.store.open_run_counts().await?)
    }

    pub async fn handoff(self, which: &HandoffRef) -> Result<HandoffRow, EngineError> {
        self.engine.handoff(which).await
    }

    /// As [`Reader::handoff`], where the handoff may not exist.
    pub async fn find_handoff(self, which: &HandoffRef) -> Result<Option<HandoffRow>, EngineError> {
        Ok(self.engine.store.handoff(which).await?)
    }

    /// The handoff that a command with this idempotency key was about; none where the key was not used.
    pub async fn handoff_of_key(
        self,
        scope: &str,
        key: &str,
    ) -> Result<Option<HandoffRow>, EngineError> {
        let Some(answered) = self.engine.store.answered(scope, key).await? else { return Ok(None) };
        let Some((result, nos)) = CommandResult::from_answered(&answered) else { return Ok(None) };
        // What a command is about has its first event.
        let Some(no) = nos.first() else { return Ok(None) };
        Ok(self.engine.store.handoff(&HandoffRef::InRun(result.run, *no)).await?)
    }

    /// The run of a command result, as it was then where the command is repeated.
    pub async fn run_after(self, result: &CommandResult) -> Result<RunRow, EngineError> {
        self.engine.run_after(result).await
    }

    /// A handoff of a command result, as it was then.
    pub async fn row_of(
        self,
        result: &CommandResult,
        no: HandoffNo,
    ) -> Result<HandoffRow, EngineError> {
        self.engine.row_of(result, no).await
    }

    /// A handoff that must belong to the given run: a label is valid only within its own run.
    pub async fn handoff_in(
        self,
        within: &RunTarget,
        which: &HandoffRef,
    ) -> Result<HandoffNo, EngineError> {
        self.engine.handoff_in(within, which).await
    }

    pub async fn handoffs(self, filter: &HandoffFilter) -> Result<Vec<HandoffRow>, EngineError> {
        Ok(self.engine.store.handoffs(filter).await?)
    }

    pub async fn count_handoffs(self, filter: &HandoffFilter) -> Result<u64, EngineError> {
        Ok(self.engine.store.count_handoffs(filter).await?)
    }

    pub async fn statistics(self, filter: &HandoffFilter) -> Result<Statistics, EngineError> {
        Ok(self.engine.store.statistics(filter).await?)
    }

    pub async fn story(self, key: &StoryKey) -> Result<StoryRow, EngineError> {
        match self.find_story(key).await? {
            Some(row) => Ok(row),
            None => Err(self.engine.no_such_story(key).await?),
        }
    }

    /// The warnings about dependencies that do not exist, which would keep a story waiting.
    pub async fn missing_dependencies(self, story: &Story) -> Result<Vec<String>, EngineError> {
        self.engine.missing_dependencies(story).await
    }

    /// As [`Reader::story`], where the story may not exist.
    pub async fn find_story(self, key: &StoryKey) -> Result<Option<StoryRow>, EngineError> {
        Ok(self.engine.store.story(key).await?)
    }

    pub async fn stories(self, filter: &StoryFilter) -> Result<Vec<StoryRow>, EngineError> {
        Ok(self.engine.store.stories(filter).await?)
    }

    /// The first stories that never had a run, in the order in which `run start` begins them.
    pub async fn stories_to_begin(self, limit: u32) -> Result<Vec<StoryRow>, EngineError> {
        Ok(self.engine.store.stories_to_begin(None, limit).await?)
    }

    pub async fn count_stories(self) -> Result<StoryCounts, EngineError> {
        Ok(self.engine.store.count_stories().await?)
    }

    /// The next story to start: it has had no run and its dependencies are finished.
    pub async fn next_ready(self) -> Result<Story, EngineError> {
        self.engine.next_ready().await
    }

    /// The stories that have to be finished before this one begins.
    pub async fn unfinished_dependencies(
        self,
        story: &Story,
    ) -> Result<Vec<StoryKey>, EngineError> {
        self.engine.unfinished_dependencies(story).await
    }

    /// Other stories whose keys look like this one.
    pub async fn look_alikes(self, key: &StoryKey) -> Result<LookAlikes, EngineError> {
        self.engine.look_alikes(key).await
    }

    /// The key that `KEY` or `story:KEY` stands for, whether such a story exists or not.
    pub async fn story_key(self, name: &str) -> Result<StoryKey, EngineError> {
        self.engine.story_key(name).await
    }

    /// A run by its number, its id, or its story (the story's newest run): `2`, `run:2`, `KEY` or
    /// `story:KEY`.
    pub async fn run_named(self, name: &str) -> Result<RunRow, EngineError> {
        self.engine.run_named(name).await
    }

    /// What to type for a run: its number, with the prefix `run:` where a story has that key.
    pub async fn name_of_run(self, row: &RunRow) -> Result<String, EngineError> {
        self.engine.name_of_run(row).await
    }

    /// A handoff by its number, its id, or its label within a run: `7`, `handoff:7` or
    /// `RUN/HO-002`. Where the run is given too, the handoff has to belong to it.
    pub async fn handoff_named(
        self,
        name: &str,
        run: Option<RunId>,
    ) -> Result<HandoffRef, EngineError> {
        self.engine.handoff_named(name, run).await
    }

    pub async fn events(self, filter: &EventFilter) -> Result<Vec<StoredEvent>, EngineError> {
        Ok(self.engine.store.events(filter).await?)
    }

    /// The events after `cursor`, each once and in order, and then new ones as they come.
    pub fn feed(self, cursor: Position, run: Option<RunId>) -> Feed {
        Feed::new(self.engine.store.clone(), self.engine.tip(), cursor, run)
    }

    pub async fn last_position(self) -> Result<Position, EngineError> {
        Ok(self.engine.store.last_position().await?)
    }

    pub async fn identity(self) -> Result<Identity, EngineError> {
        Ok(self.engine.store.identity().await?)
    }

    /// The workflow that a run began with.
    pub async fn workflow_of(self, row: &RunRow) -> Result<Arc<Workflow>, EngineError> {
        self.engine.pinned(&row.run).await
    }

    /// What agents used in the runs with these numbers, newest runs first.
    pub async fn usage_facts(
        self,
        first_run: u64,
        last_run: u64,
        limit: u32,
    ) -> Result<Vec<UsageFact>, EngineError> {
        Ok(self.engine.store.usage_facts(first_run, last_run, limit).await?)
    }

    /// Handoffs without their texts, newest first.
    pub async fn handoff_facts(
        self,
        before: u64,
        limit: u32,
    ) -> Result<Vec<HandoffFact>, EngineError> {
        Ok(self.engine.store.handoff_facts(before, limit).await?)
    }

    /// Signed checkpoints after this number, ascending.
    pub async fn checkpoints(
        self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<CheckpointRow>, EngineError> {
        Ok(self.engine.store.checkpoints(after, limit).await?)
    }

    /// The text of a workflow that runs began with.
    pub async fn definition(self, pin: &Hash) -> Result<Option<Definition>, EngineError> {
        Ok(self.engine.store.definition(pin).await?)
    }
}

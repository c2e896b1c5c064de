//! A store in a PostgreSQL database that any number of nodes share.
//!
//! SQL is in the file of its resource, as in `baton-store-sqlite`, and nothing is decided here. An
//! append is one statement (`append`); the log is read in the order of its transactions, below the
//! oldest that is still open (`events`, `tail`).

mod append;
mod check;
mod checkpoints;
mod clock;
mod columns;
mod connect;
mod contents;
mod cursors;
mod data_place;
mod data_state;
mod definitions;
mod due;
mod error;
mod events;
mod handoffs;
mod idempotency;
mod identity;
mod lag;
mod locks;
mod migrate;
mod moved_tables;
mod nodes;
mod outbox;
mod outlines;
#[cfg(test)]
mod plans;
mod pushed_files;
mod query;
mod room;
mod run_lists;
mod runs;
mod settings;
mod statistics;
mod stories;
mod story_log;
mod tail;
mod timers;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use async_trait::async_trait;
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::RunId;
use baton_core::story::Story;
use baton_store::{
    Append, AppendError, Appended, CheckpointRow, Definition, DroppedText, DueRow, EventFilter,
    HandoffFact, HandoffFilter, HandoffRef, HandoffRow, IdempotencyRecord, Identity, LeaseRenewal,
    LookAgain, OpenRunCounts, OutboxRow, Position, RecordedLosses, RunFilter, RunRef, RunRow,
    RunSchedule, SharedEvents, Statistics, Store, StoreCheck, StoreError, StoreLock, StoreResult,
    StoredContent, StoredEvent, StoryCounts, StoryFilter, StoryHead, StoryRow, TimerRow, UsageFact,
    WriteFault, refuse_nul, story_texts,
};
use baton_wire::checkpoint::LogLink;
use jiff::Timestamp;
use tokio::sync::watch;
use uuid::Uuid;

use crate::connect::EmptyDatabase;
use crate::query::Connections;
use crate::tail::{LogTail, LogWatch};

pub use error::DatabaseError;
pub use moved_tables::MoveTarget;
pub use nodes::NodeRow;
pub use pushed_files::PushedFile;
pub use settings::{PostgresSettings, without_password};
pub use tail::{LogHolder, LogLag};

/// Runs in a database. Dropping it leaves its tasks running until the connections are closed:
/// [`Store::close`] ends both.
#[derive(Debug)]
pub struct PostgresStore {
    connections: Connections,
    tail: Arc<LogTail>,
    place: String,
}

impl PostgresStore {
    /// Connects, checks what is there, and migrates its schema.
    pub async fn open(settings: &PostgresSettings) -> Result<Self, DatabaseError> {
        Self::open_either(settings, EmptyDatabase::Taken).await
    }

    /// As [`PostgresStore::open`], where data is expected: nothing is made in an empty database.
    pub async fn open_existing(settings: &PostgresSettings) -> Result<Self, DatabaseError> {
        Self::open_either(settings, EmptyDatabase::Refused).await
    }

    async fn open_either(
        settings: &PostgresSettings,
        empty: EmptyDatabase,
    ) -> Result<Self, DatabaseError> {
        let store = Self::open_whatever(settings, LogWatch::Kept, empty).await?;
        let failed = |source| DatabaseError::preparing(&settings.place(), Box::new(source));
        if moved_tables::moving(&store.connections).await.map_err(failed)?.is_some() {
            store.close().await;
            return Err(DatabaseError::Moving { place: settings.place() });
        }
        Ok(store)
    }

    async fn open_whatever(
        settings: &PostgresSettings,
        watch: LogWatch,
        empty: EmptyDatabase,
    ) -> Result<Self, DatabaseError> {
        let connections = connect::open(settings, empty).await?;
        let tail = LogTail::start(connections.clone(), settings.clone(), watch);
        let tail =
            tail.await.map_err(|it| DatabaseError::preparing(&settings.place(), Box::new(it)))?;
        Ok(Self { connections, tail, place: settings.place() })
    }

    /// Host, port and database, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What has to be added to the clock of this process to have that of the database, in
    /// nanoseconds; compared every few seconds.
    pub fn clock_offset(&self) -> Arc<AtomicI64> {
        self.tail.clock_offset()
    }

    /// Waits until the data is not that which was opened: it was restored from a backup, or another
    /// server has taken over. Nothing can be done with this store then.
    pub async fn replaced(&self) {
        self.connections.state().replaced().await;
    }

    /// Why the newest events cannot be read yet, where that has lasted for a while.
    pub fn lag(&self) -> Option<LogLag> {
        self.tail.lag()
    }

    /// The same as the database sees it now, for a process that has just begun.
    pub async fn lag_now(&self) -> StoreResult<Option<LogLag>> {
        match self.tail.lag() {
            Some(lag) => Ok(Some(lag)),
            None => lag::now(&self.connections).await,
        }
    }

    /// Says that a node is at work on this database.
    pub async fn announce_node(&self, node: &NodeRow) -> StoreResult<()> {
        nodes::announce(&self.connections, node).await
    }

    /// Says that a node has stopped.
    pub async fn remove_node(&self, id: Uuid) -> StoreResult<()> {
        nodes::leave(&self.connections, id).await
    }

    pub async fn nodes(&self) -> StoreResult<Vec<NodeRow>> {
        nodes::list(&self.connections).await
    }

    /// Makes `files` the workflow and agent files of all nodes.
    pub async fn push_files(&self, files: &[PushedFile]) -> StoreResult<()> {
        pushed_files::replace(&self.connections, files).await
    }

    pub async fn pushed_files(&self) -> StoreResult<Vec<PushedFile>> {
        pushed_files::list(&self.connections).await
    }

    /// Changes when a pushed file does; `None` where none was pushed.
    pub async fn pushed_version(&self) -> StoreResult<Option<String>> {
        pushed_files::version(&self.connections).await
    }
}

/// For a write that cannot conflict.
pub(crate) fn to_store_error(error: AppendError) -> StoreError {
    match error {
        AppendError::Store(error) => error,
        AppendError::Conflict | AppendError::OpenRunExists(_) | AppendError::Repeated(_) => {
            error::damaged("a story cannot conflict with a run")
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError> {
        refuse_nul(append.texts())?;
        let appended = append::append(&self.connections, append).await;
        if let Err(AppendError::Store(StoreError::Unwritable(WriteFault::DatabaseReadOnly))) =
            &appended
        {
            self.connections.state().is_read_only(true);
        }
        let appended = appended?;
        self.connections.state().disk_has_room();
        self.tail.appended(appended.position);
        Ok(appended)
    }

    fn settled(&self) -> Option<watch::Receiver<Position>> {
        Some(self.tail.settled())
    }

    async fn lock(&self, name: &str) -> StoreResult<StoreLock> {
        locks::lock(&self.connections, name).await
    }

    async fn run(&self, which: &RunRef) -> StoreResult<Option<RunRow>> {
        runs::find(&self.connections, which).await
    }

    async fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>> {
        runs::list(&self.connections, filter).await
    }

    async fn run_numbers(&self, after: u64, limit: u32) -> StoreResult<Vec<u64>> {
        runs::numbers(&self.connections, after, limit).await
    }

    async fn runs_moved_last(&self, limit: u32) -> StoreResult<Vec<RunRow>> {
        runs::moved_last(&self.connections, limit).await
    }

    async fn open_runs_ending(&self, suffix: &str, limit: u32) -> StoreResult<(Vec<RunRow>, u64)> {
        runs::open_ending(&self.connections, suffix, limit).await
    }

    async fn count_open_runs(&self) -> StoreResult<u64> {
        runs::count_open(&self.connections).await
    }

    async fn open_run_counts(&self) -> StoreResult<OpenRunCounts> {
        runs::counts(&self.connections).await
    }

    async fn handoff(&self, which: &HandoffRef) -> StoreResult<Option<HandoffRow>> {
        handoffs::find(&self.connections, which).await
    }

    async fn handoffs(&self, filter: &HandoffFilter) -> StoreResult<Vec<HandoffRow>> {
        handoffs::list(&self.connections, filter).await
    }

    async fn count_handoffs(&self, filter: &HandoffFilter) -> StoreResult<u64> {
        handoffs::count(&self.connections, filter).await
    }

    async fn usage_facts(
        &self,
        first_run: u64,
        last_run: u64,
        limit: u32,
    ) -> StoreResult<Vec<UsageFact>> {
        statistics::usage(&self.connections, first_run, last_run, limit).await
    }

    async fn handoff_facts(&self, before: u64, limit: u32) -> StoreResult<Vec<HandoffFact>> {
        statistics::facts(&self.connections, before, limit).await
    }

    async fn statistics(&self, filter: &HandoffFilter) -> StoreResult<Statistics> {
        statistics::over(&self.connections, filter).await
    }

    async fn contents(&self, run: RunId, ids: &[ContentId]) -> StoreResult<Vec<StoredContent>> {
        contents::find(&self.connections, run, ids).await
    }

    async fn lost_texts(&self, run: RunId) -> StoreResult<Vec<ContentId>> {
        contents::lost(&self.connections, run).await
    }

    async fn losses(&self) -> StoreResult<RecordedLosses> {
        let texts = contents::all_lost(&self.connections).await?;
        Ok(RecordedLosses { texts, ..RecordedLosses::default() })
    }

    async fn dropped_texts(&self, run: RunId) -> StoreResult<Vec<DroppedText>> {
        contents::dropped(&self.connections, run).await
    }

    async fn count_contents(&self, run: RunId) -> StoreResult<u64> {
        contents::count(&self.connections, run).await
    }

    async fn events(&self, filter: &EventFilter) -> StoreResult<Vec<StoredEvent>> {
        if filter.run.is_none() {
            self.tail.catch_up().await;
        }
        events::list(&self.connections, filter).await
    }

    async fn events_before(
        &self,
        run: RunId,
        before: Position,
        limit: u32,
    ) -> StoreResult<Vec<StoredEvent>> {
        events::before(&self.connections, run, before, limit).await
    }

    async fn shared_events(&self, run: RunId, of: SharedEvents) -> StoreResult<Vec<StoredEvent>> {
        events::shared(&self.connections, run, of).await
    }

    async fn last_position(&self) -> StoreResult<Position> {
        self.tail.catch_up().await;
        Ok(events::end(&self.connections).await?.settled)
    }

    async fn log_links(&self, after: Position, limit: u32) -> StoreResult<Vec<LogLink>> {
        self.tail.catch_up().await;
        events::links(&self.connections, after, limit).await
    }

    async fn story_head(&self, up_to: u64) -> StoreResult<StoryHead> {
        story_log::head_at(&self.connections, up_to).await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> StoreResult<Vec<CheckpointRow>> {
        checkpoints::list(&self.connections, after, limit).await
    }

    async fn last_checkpoint(&self) -> StoreResult<Option<CheckpointRow>> {
        checkpoints::last(&self.connections).await
    }

    async fn add_checkpoint(&self, checkpoint: &CheckpointRow) -> StoreResult<bool> {
        checkpoints::add(&self.connections, checkpoint).await
    }

    async fn add_story(&self, story: &Story, now: Timestamp) -> StoreResult<bool> {
        refuse_nul(story_texts(story))?;
        stories::add(&self.connections, story, None, now).await.map_err(to_store_error)
    }

    async fn add_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<bool, AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        stories::add(&self.connections, story, Some(answered), answered.at).await
    }

    async fn save_story(&self, story: &Story, now: Timestamp) -> StoreResult<()> {
        refuse_nul(story_texts(story))?;
        stories::save(&self.connections, story, None, now).await.map_err(to_store_error)
    }

    async fn save_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<(), AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        stories::save(&self.connections, story, Some(answered), answered.at).await
    }

    async fn story(&self, key: &StoryKey) -> StoreResult<Option<StoryRow>> {
        stories::find(&self.connections, key).await
    }

    async fn stories(&self, filter: &StoryFilter) -> StoreResult<Vec<StoryRow>> {
        stories::list(&self.connections, filter).await
    }

    async fn look_alikes(&self, key: &StoryKey) -> StoreResult<Vec<StoryKey>> {
        outlines::like(&self.connections, key).await
    }

    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> StoreResult<Vec<StoryRow>> {
        stories::to_begin(&self.connections, after, limit).await
    }

    async fn count_stories(&self) -> StoreResult<StoryCounts> {
        stories::count(&self.connections).await
    }

    async fn definition(&self, hash: &Hash) -> StoreResult<Option<Definition>> {
        definitions::find(&self.connections, hash).await
    }

    async fn answered(&self, scope: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        idempotency::find(&self.connections, scope, key).await
    }

    async fn forget_answered(&self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        idempotency::forget(&self.connections, before, limit).await
    }

    async fn cursor(&self, projector: &str) -> StoreResult<Position> {
        cursors::find(&self.connections, projector).await
    }

    async fn advance(&self, projector: &str, from: Position, to: Position) -> StoreResult<bool> {
        refuse_nul([projector])?;
        cursors::advance(&self.connections, projector, from, to).await
    }

    async fn outbox(&self, after: u64, limit: u32) -> StoreResult<Vec<OutboxRow>> {
        outbox::list(&self.connections, after, limit).await
    }

    async fn settle(&self, outbox_id: u64) -> StoreResult<bool> {
        outbox::settle(&self.connections, outbox_id).await
    }

    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> StoreResult<Vec<DueRow>> {
        due::list(&self.connections, due_by, after, limit).await
    }

    async fn look_again(&self, runs: &[LookAgain]) -> StoreResult<u64> {
        due::look_again(&self.connections, runs).await
    }

    async fn schedule(&self, run: RunId) -> StoreResult<RunSchedule> {
        due::schedule(&self.connections, run).await
    }

    async fn timers(&self, due_by: Option<Timestamp>, limit: u32) -> StoreResult<Vec<TimerRow>> {
        timers::list(&self.connections, due_by, limit).await
    }

    async fn put_off(&self, leases: &[LeaseRenewal]) -> StoreResult<u64> {
        timers::put_off(&self.connections, leases).await
    }

    async fn identity(&self) -> StoreResult<Identity> {
        identity::find(&self.connections).await
    }

    async fn check(&self) -> StoreResult<StoreCheck> {
        check::in_full(&self.connections).await
    }

    fn write_fault(&self) -> Option<WriteFault> {
        self.connections.state().fault()
    }

    async fn close(&self) {
        self.connections.close();
        self.tail.end();
    }
}

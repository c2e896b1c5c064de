//! A store in one SQLite file: one writer thread, a few reader connections.
//!
//! SQL is in the file of its resource, beside the function that runs it. Nothing is decided here:
//! `baton_core` has the rules of a run, `baton-store-tests` those of a store.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files of their own"))]

mod anew;
mod append;
mod backup;
mod check;
mod checkpoints;
mod checksum;
mod columns;
mod connect;
mod contents;
mod copy_extent;
mod cursors;
mod data_loss;
mod database_builder;
mod database_header;
mod definitions;
mod due;
mod error;
mod events;
mod exchange;
mod filesystem;
mod frozen;
mod handoffs;
mod health;
mod idempotency;
mod identity;
mod judge;
mod lock;
mod lost_numbers;
mod mark;
mod marker;
mod migrate;
mod moved_tables;
mod opened_files;
mod outbox;
mod outlines;
mod pace;
mod read_only;
mod reader;
mod rescue;
mod room;
mod run_lists;
mod runs;
mod salvage;
mod salvage_database;
mod salvage_strays;
mod shared_texts;
mod statements;
mod statistics;
mod stories;
mod story_log;
mod timers;
mod wal;
mod watch;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::RunId;
use baton_core::story::Story;
use baton_files::{Dir, FileMode};
use baton_store::{
    Append, AppendError, Appended, CheckpointRow, Definition, DroppedText, DueRow, EventFilter,
    HandoffFact, HandoffFilter, HandoffRef, HandoffRow, IdempotencyRecord, Identity, LeaseRenewal,
    LookAgain, OpenRunCounts, OutboxRow, Position, RecordedLosses, RunFilter, RunRef, RunRow,
    RunSchedule, SharedEvents, Statistics, Store, StoreCheck, StoreResult, StoredContent,
    StoredEvent, StoryCounts, StoryFilter, StoryHead, StoryRow, TimerRow, UsageFact, WriteFault,
    refuse_nul, story_texts,
};
use baton_wire::checkpoint::LogLink;
use jiff::Timestamp;

use crate::columns::{nanoseconds, nearest_nanoseconds};
use crate::error::{to_open, to_store};
use crate::marker::MarkWriter;
use crate::reader::Readers;
use crate::statements::Statements as _;
use crate::stories::PreparedStory;
use crate::watch::{FileWatcher, WriteGuard};
use crate::writer::Writer;

pub use copy_extent::CopyExtent;
pub use data_loss::{CommandContext, DataOption};
pub use database_builder::{DatabaseBuilder, RecoveredRun};
pub use database_header::is_database;
pub use error::{Damage, OpenError, fault_of_io};
pub use exchange::{
    ASIDE_PREFIX, ExchangeError, Interrupted, STAGING_PREFIX, exchange, finish_interrupted,
};
pub use judge::{LOG_ENDING, UNFINISHED_MOVE, WAL_FILE as LOG_FILE, refuse_unfinished_move};
pub use lock::{DataLock, FILE as LOCK_FILE, LockError, read_note};
pub use mark::{MarkState, has_trusted_mark, mark_loss};
pub use moved_tables::MovedDatabase;
pub use read_only::ReadOnlyStore;
pub use rescue::{RESCUED_PREFIX, rescued_beside};
pub use room::fault_of_folder;
pub use salvage::{
    DamagedFiles, ImageKind, LastMark, PackageClaim, SalvagedEvent, SalvagedRow, SalvagedText,
    SuspectPages, Trust, UnprovenTable, is_as_new_as, is_readable, whole_tables,
};
pub use salvage_database::{HeldEvent, RunClue, SalvageDatabase};

/// The name of the database in its directory.
pub const DATABASE_FILE: &str = FILE;
const FILE: &str = "baton.db";

/// Runs on disk. Dropping it closes it too, but blocks meanwhile; [`Store::close`] does not.
#[derive(Debug)]
pub struct SqliteStore {
    // Dropped before the writer, so that the last connection to close is the one that cleans up.
    readers: Readers,
    guard: Arc<WriteGuard>,
    /// `None` for a read-only store.
    watcher: Option<Arc<Mutex<FileWatcher>>>,
    writer: Writer,
    path: PathBuf,
    was_left_open: bool,
    mark: MarkState,
    is_closing: Arc<AtomicBool>,
}

impl SqliteStore {
    /// Opens the database in `dir`, creates it where there is none, and migrates its schema.
    ///
    /// The caller holds the [`DataLock`] of `dir` until after the close: two stores on one file
    /// would slow each other down, and a server would not notice the other's appends.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let dir = Dir::open_or_make(dir, FileMode::Private).map_err(OpenError::Files)?;
        Self::open_in(&dir)
    }

    /// As [`SqliteStore::open`], with an open directory handle: a [`DataLock`]'s, for example.
    pub fn open_in(dir: &Dir) -> Result<Self, OpenError> {
        // The holder of the lock has done this already, and has reported it to the user.
        finish_interrupted(dir).map_err(OpenError::Interrupted)?;
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        let mut mark = MarkState::NeverWritten;
        if judgement.has_database {
            // Without a log, SQLite need not create files to read.
            let look =
                if judgement.is_unclean { connect::looking } else { connect::reading_frozen };
            let looking = look(&path)?;
            judge::judge_contents(&looking, &path, &judgement)?;
            mark = judge::mark_state(&looking, &judgement).map_err(to_open(&path))?;
        }
        let mut connection = connect::writing(&path)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        outlines::bring_up_to_date(&mut connection, &path)?;
        let marker = MarkWriter::start(dir.again()?, &mut connection, &judgement, mark)?;
        let readers = Readers::open(&path)?;
        let guard = Arc::new(WriteGuard::of(dir.again()?, path.parent().unwrap_or(&path)));
        let failed = |source| OpenError::File { path: path.clone(), source };
        let writer = Writer::start(connection, Some(marker), guard.clone()).map_err(failed)?;
        let watching = connect::reading(&path)?;
        let watcher =
            FileWatcher::start(guard.clone(), watching, writer.prober()).map_err(failed)?;
        let watcher = Some(Arc::new(Mutex::new(watcher)));
        let store = Self::over(readers, guard, watcher, writer, path);
        Ok(Self { was_left_open: judgement.is_unclean, mark, ..store })
    }

    fn over(
        readers: Readers,
        guard: Arc<WriteGuard>,
        watcher: Option<Arc<Mutex<FileWatcher>>>,
        writer: Writer,
        path: PathBuf,
    ) -> Self {
        let (was_left_open, mark, is_closing) = (false, MarkState::NeverWritten, Arc::default());
        Self { readers, guard, watcher, writer, path, was_left_open, mark, is_closing }
    }

    /// True if the previous process did not close the database: it was killed, or the power failed.
    pub fn was_left_open(&self) -> bool {
        self.was_left_open
    }

    /// The state of the mark when the database was opened.
    pub fn mark_state(&self) -> MarkState {
        self.mark
    }

    /// If the files are deleted or replaced from now on, all their contents are copied into a new
    /// folder; [`Store::write_fault`] then says where, and what to type in this context.
    pub fn rescue_when_lost(&self, context: CommandContext) {
        self.guard.rescue_when_lost(context);
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError> {
        refuse_nul(append.texts())?;
        let prepared = append::prepare(append)?;
        self.writer.write(move |it| append::append(it, &prepared)).await
    }

    async fn run(&self, which: &RunRef) -> StoreResult<Option<RunRow>> {
        self.readers.find(|it| runs::find(it, which)).await
    }

    async fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>> {
        let filter = filter.clone();
        self.readers.read(move |it| runs::list(it, &filter)).await
    }

    async fn run_numbers(&self, after: u64, limit: u32) -> StoreResult<Vec<u64>> {
        self.readers.read(move |it| runs::numbers(it, after, limit)).await
    }

    async fn runs_moved_last(&self, limit: u32) -> StoreResult<Vec<RunRow>> {
        self.readers.read(move |it| runs::moved_last(it, limit)).await
    }

    async fn open_runs_ending(&self, suffix: &str, limit: u32) -> StoreResult<(Vec<RunRow>, u64)> {
        let suffix = suffix.to_owned();
        self.readers.read(move |it| runs::open_ending(it, &suffix, limit)).await
    }

    async fn count_open_runs(&self) -> StoreResult<u64> {
        self.readers.read(runs::count_open).await
    }

    async fn open_run_counts(&self) -> StoreResult<OpenRunCounts> {
        self.readers.read(runs::counts).await
    }

    async fn handoff(&self, which: &HandoffRef) -> StoreResult<Option<HandoffRow>> {
        self.readers.find(|it| handoffs::find(it, which)).await
    }

    async fn handoffs(&self, filter: &HandoffFilter) -> StoreResult<Vec<HandoffRow>> {
        let filter = filter.clone();
        self.readers.read(move |it| handoffs::list(it, &filter)).await
    }

    async fn count_handoffs(&self, filter: &HandoffFilter) -> StoreResult<u64> {
        let filter = filter.clone();
        self.readers.read(move |it| handoffs::count(it, &filter)).await
    }

    async fn usage_facts(
        &self,
        first_run: u64,
        last_run: u64,
        limit: u32,
    ) -> StoreResult<Vec<UsageFact>> {
        self.readers.read(move |it| statistics::usage(it, first_run, last_run, limit)).await
    }

    async fn handoff_facts(&self, before: u64, limit: u32) -> StoreResult<Vec<HandoffFact>> {
        self.readers.read(move |it| statistics::facts(it, before, limit)).await
    }

    async fn statistics(&self, filter: &HandoffFilter) -> StoreResult<Statistics> {
        let filter = filter.clone();
        self.readers.read(move |it| statistics::over(it, &filter)).await
    }

    async fn contents(&self, run: RunId, ids: &[ContentId]) -> StoreResult<Vec<StoredContent>> {
        let ids = ids.to_vec();
        self.readers.read(move |it| contents::find(it, run, &ids)).await
    }

    async fn lost_texts(&self, run: RunId) -> StoreResult<Vec<ContentId>> {
        self.readers.read(move |it| contents::lost(it, run)).await
    }

    async fn losses(&self) -> StoreResult<RecordedLosses> {
        self.readers.read(lost_numbers::losses).await
    }

    async fn dropped_texts(&self, run: RunId) -> StoreResult<Vec<DroppedText>> {
        self.readers.read(move |it| contents::dropped(it, run)).await
    }

    async fn count_contents(&self, run: RunId) -> StoreResult<u64> {
        self.readers.read(move |it| contents::count(it, run)).await
    }

    async fn events(&self, filter: &EventFilter) -> StoreResult<Vec<StoredEvent>> {
        let filter = filter.clone();
        self.readers.read(move |it| events::list(it, &filter)).await
    }

    async fn events_before(
        &self,
        run: RunId,
        before: Position,
        limit: u32,
    ) -> StoreResult<Vec<StoredEvent>> {
        self.readers.read(move |it| events::before(it, run, before, limit)).await
    }

    async fn shared_events(&self, run: RunId, of: SharedEvents) -> StoreResult<Vec<StoredEvent>> {
        self.readers.read(move |it| events::shared(it, run, of)).await
    }

    async fn last_position(&self) -> StoreResult<Position> {
        self.readers.read(events::last_position).await
    }

    async fn log_links(&self, after: Position, limit: u32) -> StoreResult<Vec<LogLink>> {
        self.readers.read(move |it| events::links(it, after, limit)).await
    }

    async fn story_head(&self, up_to: u64) -> StoreResult<StoryHead> {
        self.readers.read(move |it| story_log::head_at(it, up_to)).await
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> StoreResult<Vec<CheckpointRow>> {
        self.readers.read(move |it| checkpoints::list(it, after, limit)).await
    }

    async fn last_checkpoint(&self) -> StoreResult<Option<CheckpointRow>> {
        self.readers.read(checkpoints::last).await
    }

    async fn add_checkpoint(&self, checkpoint: &CheckpointRow) -> StoreResult<bool> {
        let checkpoint = checkpoint.clone();
        self.writer.write(move |it| checkpoints::add(it, &checkpoint).map_err(to_store)).await
    }

    async fn add_story(&self, story: &Story, now: Timestamp) -> StoreResult<bool> {
        refuse_nul(story_texts(story))?;
        let now = nanoseconds(now)?;
        let story = PreparedStory::new(story, now);
        self.writer.write(move |it| stories::add(it, &story, now).map_err(to_store)).await
    }

    async fn add_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<bool, AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        let (answered, now) = (answered.clone(), nanoseconds(answered.at)?);
        let story = PreparedStory::new(story, now);
        self.writer.write(move |it| stories::add_once(it, &story, &answered, now)).await
    }

    async fn save_story(&self, story: &Story, now: Timestamp) -> StoreResult<()> {
        refuse_nul(story_texts(story))?;
        let (story, now) = (story.clone(), nanoseconds(now)?);
        self.writer.write(move |it| stories::save(it, &story, now).map_err(to_store)).await
    }

    async fn save_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<(), AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        let (answered, now) = (answered.clone(), nanoseconds(answered.at)?);
        let story = story.clone();
        self.writer.write(move |it| stories::save_once(it, &story, &answered, now)).await
    }

    async fn story(&self, key: &StoryKey) -> StoreResult<Option<StoryRow>> {
        self.readers.find(|it| stories::find(it, key)).await
    }

    async fn stories(&self, filter: &StoryFilter) -> StoreResult<Vec<StoryRow>> {
        let filter = filter.clone();
        self.readers.read(move |it| stories::list(it, &filter)).await
    }

    async fn look_alikes(&self, key: &StoryKey) -> StoreResult<Vec<StoryKey>> {
        self.readers.find(|it| outlines::like(it, key)).await
    }

    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> StoreResult<Vec<StoryRow>> {
        let after = after.map(|it| (it.priority, it.key.clone()));
        self.readers.read(move |it| stories::to_begin(it, after.as_ref(), limit)).await
    }

    async fn count_stories(&self) -> StoreResult<StoryCounts> {
        self.readers.read(stories::count).await
    }

    async fn definition(&self, hash: &Hash) -> StoreResult<Option<Definition>> {
        self.readers.find(|it| definitions::find(it, hash)).await
    }

    async fn answered(&self, scope: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        self.readers.find(|it| idempotency::find(it, scope, key)).await
    }

    async fn forget_answered(&self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let before = nearest_nanoseconds(before);
        let forget =
            self.writer.write(move |it| idempotency::forget(it, before, limit).map_err(to_store));
        forget.await.map(|n_rows| n_rows as u64)
    }

    async fn cursor(&self, projector: &str) -> StoreResult<Position> {
        self.readers.find(|it| cursors::find(it, projector)).await
    }

    async fn advance(&self, projector: &str, from: Position, to: Position) -> StoreResult<bool> {
        refuse_nul([projector])?;
        let projector = projector.to_owned();
        let advance = move |it: &_| cursors::advance(it, &projector, from, to).map_err(to_store);
        self.writer.write(move |it| advance(it.connection())).await
    }

    async fn outbox(&self, after: u64, limit: u32) -> StoreResult<Vec<OutboxRow>> {
        self.readers.read(move |it| outbox::list(it, after, limit)).await
    }

    async fn settle(&self, outbox_id: u64) -> StoreResult<bool> {
        self.writer.write(move |it| outbox::settle(it, outbox_id).map_err(to_store)).await
    }

    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> StoreResult<Vec<DueRow>> {
        let after = after.copied();
        self.readers.read(move |it| due::list(it, due_by, after.as_ref(), limit)).await
    }

    async fn look_again(&self, runs: &[LookAgain]) -> StoreResult<u64> {
        let runs = runs.to_vec();
        self.writer.write(move |it| due::look_again(it, &runs)).await
    }

    async fn schedule(&self, run: RunId) -> StoreResult<RunSchedule> {
        self.readers.read(move |it| due::schedule(it, run)).await
    }

    async fn timers(&self, due_by: Option<Timestamp>, limit: u32) -> StoreResult<Vec<TimerRow>> {
        self.readers.read(move |it| timers::list(it, due_by, limit)).await
    }

    async fn put_off(&self, leases: &[LeaseRenewal]) -> StoreResult<u64> {
        let leases = leases.to_vec();
        self.writer.write(move |it| timers::put_off(it, &leases)).await
    }

    async fn identity(&self) -> StoreResult<Identity> {
        self.readers.find(identity::find).await
    }

    async fn check(&self) -> StoreResult<StoreCheck> {
        self.readers.check(check::in_full).await
    }

    async fn check_slowly(&self) -> StoreResult<StoreCheck> {
        pace::refuse_closed(&self.is_closing)?;
        pace::check(&self.path, &self.is_closing).await
    }

    fn write_fault(&self) -> Option<WriteFault> {
        self.guard.fault()
    }

    async fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.readers.close().await;
        if let Some(watcher) = self.watcher.clone() {
            let stop = move || watcher.lock().unwrap_or_else(PoisonError::into_inner).stop();
            // The thread has reported its panic itself.
            let _ = tokio::task::spawn_blocking(stop).await;
        }
        self.writer.close().await;
    }
}

//! The store in one SQLite file: one thread writes, a few connections read.
//!
//! SQL stands in the file of its resource, beside the function that runs it. Nothing is decided
//! here: what a run may do is in `baton_core`, what a store must do in `baton-store-tests`.

mod answers;
mod append;
mod backup;
mod beside;
mod blocked;
mod check;
mod columns;
mod connect;
mod contents;
mod cursors;
mod definitions;
mod derived;
mod due;
mod error;
mod events;
mod filesystem;
mod handoffs;
mod lock;
mod migrate;
mod outbox;
mod reader;
mod runs;
mod statistics;
mod stories;
mod timers;
mod waiting;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::content::{Content, ContentId};
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::RunId;
use baton_core::story::Story;
use baton_store::{
    Answered, Append, AppendError, Appended, Definition, DueRow, EventFilter, HandoffFilter,
    HandoffRef, HandoffRow, LookAgain, OpenRunCounts, OutboxRow, Position, PutOff, RunFilter,
    RunRef, RunRow, Statistics, Store, StoreError, StoredEvent, StoryCounts, StoryFilter, StoryRow,
    TimerRow, refuse_nul, story_texts,
};
use jiff::Timestamp;

use crate::columns::{nanoseconds, nearest_nanoseconds};
use crate::error::to_store;
use crate::reader::Readers;
use crate::writer::Writer;

pub use beside::Beside;
pub use error::OpenError;
pub use lock::{DataLock, LockError, read_note};

/// The name of the database in its directory.
pub const DATABASE_FILE: &str = FILE;
const FILE: &str = "baton.db";

/// Runs on disk. Dropping it closes it too, but blocks while it does; [`Store::close`] does not.
#[derive(Debug)]
pub struct SqliteStore {
    // Dropped before the writer, so that the last to close the file is the one that tidies it.
    readers: Readers,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the database in `dir`, makes it where there is none, and brings its schema up to date.
    ///
    /// The caller holds the [`DataLock`] of `dir`, from before this until after the close: two
    /// stores on one file would be correct, but each would slow the other down, and a server would
    /// not notice what the other appends.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(FILE);
        let mut connection = connect::writing(&path)?;
        check::at_start(&connection, &path)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        let readers = Readers::open(&path)?;
        let writer =
            Writer::start(connection).map_err(|source| OpenError::File { path, source })?;
        Ok(Self { readers, writer })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError> {
        refuse_nul(append.texts())?;
        let prepared = append::prepare(append)?;
        self.writer.write(move |it| append::append(it, &prepared)).await
    }

    async fn run(&self, which: &RunRef) -> Result<Option<RunRow>, StoreError> {
        self.readers.find(|it| runs::find(it, which)).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| runs::list(it, &filter)).await
    }

    async fn runs_moved_last(&self, limit: u32) -> Result<Vec<RunRow>, StoreError> {
        self.readers.read(move |it| runs::moved_last(it, limit)).await
    }

    async fn open_runs_ending(
        &self,
        suffix: &str,
        limit: u32,
    ) -> Result<(Vec<RunRow>, u64), StoreError> {
        let suffix = suffix.to_owned();
        self.readers.read(move |it| runs::open_ending(it, &suffix, limit)).await
    }

    async fn count_open_runs(&self) -> Result<u64, StoreError> {
        self.readers.read(runs::count_open).await
    }

    async fn open_run_counts(&self) -> Result<OpenRunCounts, StoreError> {
        self.readers.read(runs::counts).await
    }

    async fn handoff(&self, which: &HandoffRef) -> Result<Option<HandoffRow>, StoreError> {
        self.readers.find(|it| handoffs::find(it, which)).await
    }

    async fn handoffs(&self, filter: &HandoffFilter) -> Result<Vec<HandoffRow>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| handoffs::list(it, &filter)).await
    }

    async fn count_handoffs(&self, filter: &HandoffFilter) -> Result<u64, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| handoffs::count(it, &filter)).await
    }

    async fn statistics(&self, filter: &HandoffFilter) -> Result<Statistics, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| statistics::over(it, &filter)).await
    }

    async fn contents(&self, run: RunId, ids: &[ContentId]) -> Result<Vec<Content>, StoreError> {
        let ids = ids.to_vec();
        self.readers.read(move |it| contents::find(it, run, &ids)).await
    }

    async fn events(&self, filter: &EventFilter) -> Result<Vec<StoredEvent>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| events::list(it, &filter)).await
    }

    async fn last_position(&self) -> Result<Position, StoreError> {
        self.readers.read(events::last_position).await
    }

    async fn add_story(&self, story: &Story, now: Timestamp) -> Result<bool, StoreError> {
        refuse_nul(story_texts(story))?;
        let (story, now) = (story.clone(), nanoseconds(now)?);
        self.writer.write(move |it| stories::add(it, &story, now).map_err(to_store)).await
    }

    async fn add_story_once(
        &self,
        story: &Story,
        answered: &Answered,
    ) -> Result<bool, AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        let (story, answered, now) = (story.clone(), answered.clone(), nanoseconds(answered.at)?);
        let add = move |it: &_| stories::add_once(it, &story, &answered, now);
        self.writer.write(add).await
    }

    async fn save_story(&self, story: &Story, now: Timestamp) -> Result<(), StoreError> {
        refuse_nul(story_texts(story))?;
        let (story, now) = (story.clone(), nanoseconds(now)?);
        self.writer.write(move |it| stories::save(it, &story, now).map_err(to_store)).await
    }

    async fn story(&self, key: &StoryKey) -> Result<Option<StoryRow>, StoreError> {
        self.readers.find(|it| stories::find(it, key)).await
    }

    async fn stories(&self, filter: &StoryFilter) -> Result<Vec<StoryRow>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |it| stories::list(it, &filter)).await
    }

    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> Result<Vec<StoryRow>, StoreError> {
        let after = after.map(|it| (it.priority, it.key.clone()));
        self.readers.read(move |it| stories::to_begin(it, after.as_ref(), limit)).await
    }

    async fn count_stories(&self) -> Result<StoryCounts, StoreError> {
        self.readers.read(stories::count).await
    }

    async fn definition(&self, hash: &Hash) -> Result<Option<Definition>, StoreError> {
        self.readers.find(|it| definitions::find(it, hash)).await
    }

    async fn answered(&self, scope: &str, key: &str) -> Result<Option<Answered>, StoreError> {
        self.readers.find(|it| answers::find(it, scope, key)).await
    }

    async fn forget_answered(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = nearest_nanoseconds(before);
        let forget = move |it: &_| answers::forget(it, before, limit).map_err(to_store);
        self.writer.write(forget).await.map(|n_rows| n_rows as u64)
    }

    async fn cursor(&self, projector: &str) -> Result<Position, StoreError> {
        self.readers.find(|it| cursors::find(it, projector)).await
    }

    async fn advance(
        &self,
        projector: &str,
        from: Position,
        to: Position,
    ) -> Result<bool, StoreError> {
        refuse_nul([projector])?;
        let projector = projector.to_owned();
        let advance = move |it: &_| cursors::advance(it, &projector, from, to).map_err(to_store);
        self.writer.write(advance).await
    }

    async fn outbox(&self, after: u64, limit: u32) -> Result<Vec<OutboxRow>, StoreError> {
        self.readers.read(move |it| outbox::list(it, after, limit)).await
    }

    async fn settle(&self, outbox_id: u64) -> Result<bool, StoreError> {
        self.writer.write(move |it| outbox::settle(it, outbox_id).map_err(to_store)).await
    }

    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> Result<Vec<DueRow>, StoreError> {
        let after = after.copied();
        self.readers.read(move |it| due::list(it, due_by, after.as_ref(), limit)).await
    }

    async fn look_again(&self, runs: &[LookAgain]) -> Result<u64, StoreError> {
        let runs = runs.to_vec();
        self.writer.write(move |it| due::look_again(it, &runs)).await
    }

    async fn timers(
        &self,
        due_by: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<TimerRow>, StoreError> {
        self.readers.read(move |it| timers::list(it, due_by, limit)).await
    }

    async fn put_off(&self, leases: &[PutOff]) -> Result<u64, StoreError> {
        let leases = leases.to_vec();
        self.writer.write(move |it| timers::put_off(it, &leases)).await
    }

    async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.readers.check().await
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

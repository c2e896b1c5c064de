//! The storage trait, and its rows.
//!
//! A store decides nothing: every rule is in `baton_core`, so that two backends cannot disagree
//! about one. Its guarantees are in `baton-store-tests`, which every backend passes.

mod append;
pub mod checksum;
pub mod columns;
mod dropped;
mod due;
mod error;
mod lock;
pub mod moved_tables;
mod nul;
mod rows;
mod store_check;
mod stored_content;
mod story_columns;

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::RunId;
use baton_core::story::Story;
use baton_wire::checkpoint::LogLink;
use jiff::Timestamp;
use tokio::sync::watch;

pub use baton_core::order::Order;

pub use append::{
    Append, Appended, Definition, EventRecord, IdempotencyRecord, LeaseRenewal, TimerChange,
};
pub use dropped::{DROPPING_EVENTS, EXPIRING_EVENTS, dropped_texts};
pub use due::{DueChange, DueRow, LookAgain, RunSchedule};
pub use error::WriteFault;
pub use lock::StoreLock;
pub use nul::{refuse_nul, story_texts};
pub use rows::{
    AgentStatistics, CheckpointRow, DropCause, DroppedText, EventFilter, HandoffFact,
    HandoffFilter, HandoffRef, HandoffRow, Identity, OpenRunCounts, OutboxRow, Position,
    RecordedLosses, RunFilter, RunRef, RunRow, SharedEvents, Statistics, StoredEvent, StoryCounts,
    StoryFilter, StoryHead, StoryRow, TimerKind, TimerRow, UsageFact, Version,
};
pub use store_check::StoreCheck;
pub use stored_content::{ChangedContent, StoredContent, TextOwner};
pub use story_columns::{StoryColumns, framed_story_link, story_link};

/// Stores runs, and what belongs to them. The run is the unit of consistency.
#[async_trait]
pub trait Store: Send + Sync {
    /// Adds to a run if it is still at the version that the decision was based on: all of `append`,
    /// or nothing. When this returns, the append is on disk, and the caller holds the only
    /// reference to `append`.
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError>;

    async fn run(&self, which: &RunRef) -> StoreResult<Option<RunRow>>;

    /// By number, in the filter's order.
    async fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>>;

    /// The numbers of the runs after `after`, ascending, whether or not their rows can be read.
    async fn run_numbers(&self, after: u64, limit: u32) -> StoreResult<Vec<u64>>;

    /// Open and paused runs, most recently moved first, as far as the newest part of the log shows;
    /// the others follow by number, newest first.
    async fn runs_moved_last(&self, limit: u32) -> StoreResult<Vec<RunRow>>;

    /// The first open and paused runs whose story key has this suffix, by number, and their total.
    async fn open_runs_ending(&self, suffix: &str, limit: u32) -> StoreResult<(Vec<RunRow>, u64)>;

    /// How many open and paused runs there are.
    async fn count_open_runs(&self) -> StoreResult<u64>;

    /// The same by where their batons are, which is slower.
    async fn open_run_counts(&self) -> StoreResult<OpenRunCounts>;

    async fn handoff(&self, which: &HandoffRef) -> StoreResult<Option<HandoffRow>>;

    /// By number, in the filter's order.
    async fn handoffs(&self, filter: &HandoffFilter) -> StoreResult<Vec<HandoffRow>>;

    /// How many rows [`Store::handoffs`] would return without limit and skip.
    async fn count_handoffs(&self, filter: &HandoffFilter) -> StoreResult<u64>;

    /// The handoffs with a number below `before`, newest first; 0 for the newest.
    async fn handoff_facts(&self, before: u64, limit: u32) -> StoreResult<Vec<HandoffFact>>;

    /// What was used in the runs with these numbers, both included, newest runs first.
    async fn usage_facts(
        &self,
        first_run: u64,
        last_run: u64,
        limit: u32,
    ) -> StoreResult<Vec<UsageFact>>;

    /// Counts and means over the handoffs of a filter; order, skip and limit are ignored.
    async fn statistics(&self, filter: &HandoffFilter) -> StoreResult<Statistics>;

    /// The texts that exist, in no particular order, each to be checked before it is read.
    async fn contents(&self, run: RunId, ids: &[ContentId]) -> StoreResult<Vec<StoredContent>>;

    /// The texts that were recorded as lost when the run was recovered from damage.
    async fn lost_texts(&self, run: RunId) -> StoreResult<Vec<ContentId>>;

    /// All that is recorded as lost. A store that is never recovered has nothing.
    async fn losses(&self) -> StoreResult<RecordedLosses> {
        Ok(RecordedLosses::default())
    }

    /// The texts that events of the run say are dropped, in the order of those events.
    async fn dropped_texts(&self, run: RunId) -> StoreResult<Vec<DroppedText>>;

    /// How many texts a run has.
    async fn count_contents(&self, run: RunId) -> StoreResult<u64>;

    /// By position, ascending. Once a position is visible, no lower one is added later.
    async fn events(&self, filter: &EventFilter) -> StoreResult<Vec<StoredEvent>>;

    /// The events of a run before a position, newest first.
    async fn events_before(
        &self,
        run: RunId,
        before: Position,
        limit: u32,
    ) -> StoreResult<Vec<StoredEvent>>;

    /// The events of a run about one thing that is shared in it, by position, ascending. Costs no
    /// more where the run has many others.
    async fn shared_events(&self, run: RunId, of: SharedEvents) -> StoreResult<Vec<StoredEvent>>;

    /// The position of the newest event.
    async fn last_position(&self) -> StoreResult<Position>;

    /// How far the log is complete, as it grows, where other processes append to this store too:
    /// nothing is added below the last value any more. `None` where only this process appends: then
    /// the position of an append is the end of the log.
    fn settled(&self) -> Option<watch::Receiver<Position>> {
        None
    }

    /// Waits until no other process that uses this store holds a lock of that name.
    async fn lock(&self, _name: &str) -> StoreResult<StoreLock> {
        Ok(StoreLock::unshared())
    }

    /// The events after a position, ascending, as a checkpoint covers them.
    async fn log_links(&self, after: Position, limit: u32) -> StoreResult<Vec<LogLink>>;

    /// The chain of the stories' versions, up to the link with this number or its last one before
    /// that. A store without such a chain has none.
    async fn story_head(&self, _up_to: u64) -> StoreResult<StoryHead> {
        Ok(StoryHead::NONE)
    }

    /// Signed checkpoints after this number, ascending; each to be checked before it is believed.
    async fn checkpoints(&self, after: u64, limit: u32) -> StoreResult<Vec<CheckpointRow>>;

    async fn last_checkpoint(&self) -> StoreResult<Option<CheckpointRow>>;

    /// Adds a checkpoint if it has the number after the last one; false otherwise.
    async fn add_checkpoint(&self, checkpoint: &CheckpointRow) -> StoreResult<bool>;

    /// Adds a story; false where its key exists already; that story is left as it is.
    async fn add_story(&self, story: &Story, now: Timestamp) -> StoreResult<bool>;

    /// As [`Store::add_story`], with an idempotency key: the answer is stored with the story, and a
    /// repeated request is [`AppendError::Repeated`], whatever it asks.
    async fn add_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<bool, AppendError>;

    /// Overwrites the story of that key, or adds it.
    async fn save_story(&self, story: &Story, now: Timestamp) -> StoreResult<()>;

    /// As [`Store::save_story`], with an idempotency key, as in [`Store::add_story_once`].
    async fn save_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<(), AppendError>;

    async fn story(&self, key: &StoryKey) -> StoreResult<Option<StoryRow>>;

    /// By key, ascending.
    async fn stories(&self, filter: &StoryFilter) -> StoreResult<Vec<StoryRow>>;

    /// Keys of stories that a reader could mistake for this one, by key, and at most a few: those
    /// with the same [`outline`](baton_core::look_alike::outline). The key itself is excluded.
    async fn look_alikes(&self, key: &StoryKey) -> StoreResult<Vec<StoryKey>>;

    /// Stories after `after` that never had a run, in start order: highest priority first, ties by
    /// key.
    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> StoreResult<Vec<StoryRow>>;

    async fn count_stories(&self) -> StoreResult<StoryCounts>;

    /// A workflow file as it was when a run began.
    async fn definition(&self, hash: &Hash) -> StoreResult<Option<Definition>>;

    /// The answer to the command with this idempotency key, if it took effect.
    async fn answered(&self, scope: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>>;

    /// Deletes at most `limit` of the answers given before `before`; returns how many.
    async fn forget_answered(&self, before: Timestamp, limit: u32) -> StoreResult<u64>;

    /// A projector's cursor; the start of the log, where it has not read yet.
    async fn cursor(&self, projector: &str) -> StoreResult<Position>;

    /// Moves a projector's cursor if it is still at `from`; false otherwise.
    async fn advance(&self, projector: &str, from: Position, to: Position) -> StoreResult<bool>;

    /// The outbox: entries that wait for delivery, by id, ascending.
    async fn outbox(&self, after: u64, limit: u32) -> StoreResult<Vec<OutboxRow>>;

    /// Removes an outbox entry; false where another worker has.
    async fn settle(&self, outbox_id: u64) -> StoreResult<bool>;

    /// The open runs after `after` that have to be checked by `due_by`, by time and number. A limit
    /// of 0 means no limit.
    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> StoreResult<Vec<DueRow>>;

    /// Sets when runs have to be checked again, all in one transaction; returns how many. A run
    /// that has moved since it was checked is left alone. This is no event, and changes no run.
    async fn look_again(&self, runs: &[LookAgain]) -> StoreResult<u64>;

    /// All stored times of one run; nothing where there is no such run.
    async fn schedule(&self, run: RunId) -> StoreResult<RunSchedule>;

    /// Timers, the earliest first: all of them, or those due by `due_by`. A limit of 0 means no
    /// limit.
    async fn timers(&self, due_by: Option<Timestamp>, limit: u32) -> StoreResult<Vec<TimerRow>>;

    /// Extends leases, all in one transaction; returns how many. A lease that is gone, or has
    /// another fencing token, is left alone. This is no event, and changes no run. Where several
    /// processes use the store, no lease is made shorter: the one that writes last may have heard
    /// of the holder first.
    async fn put_off(&self, leases: &[LeaseRenewal]) -> StoreResult<u64>;

    /// The project of the store, and the epoch of its event positions. Constant while a store is
    /// open.
    async fn identity(&self) -> StoreResult<Identity>;

    /// The problems of the store itself, by table and row; none, if all is well. Continues after
    /// unreadable rows, and only counts the problems of a table once it has named a few.
    async fn check(&self) -> StoreResult<StoreCheck>;

    /// As [`Store::check`], in the background: slowly, so that it does not disturb other work.
    async fn check_slowly(&self) -> StoreResult<StoreCheck> {
        self.check().await
    }

    /// The current write fault, as far as the store has noticed it.
    fn write_fault(&self) -> Option<WriteFault> {
        None
    }

    /// Finishes running work and accepts no more.
    async fn close(&self);
}

/// Why nothing was added. Only the last variant is a failure.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("the run has moved on since it was read; read it again")]
    Conflict,
    #[error("the story `{0}` has an open run already")]
    OpenRunExists(StoryKey),
    #[error("a command with this key has been carried out already")]
    Repeated(Box<IdempotencyRecord>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Nothing was written, for this reason.
    #[error(transparent)]
    Unwritable(WriteFault),
    #[error("the store is closed")]
    Closed,
    #[error(
        "the data is damaged: {what}; `baton verify` lists what is wrong, `baton recover` saves \
         what is whole"
    )]
    Damaged { what: String },
    #[error("text with the character U+0000 cannot be stored")]
    Nul,
}

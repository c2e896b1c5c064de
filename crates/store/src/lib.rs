//! Where runs are kept: one trait, its rows, and a backend that forgets.
//!
//! A store decides nothing: every rule is in `baton_core`, so that two backends cannot disagree
//! about one. What it promises is in `baton-store-tests`, which every backend passes.

mod append;
mod due;
mod error;
mod memory;
mod nul;
mod rows;
mod store_check;
mod stored_content;

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::RunId;
use baton_core::story::Story;
use jiff::Timestamp;

pub use append::{
    Append, Appended, Definition, EventRecord, HandoffChange, HandoffMove, IdempotencyRecord,
    LeaseRenewal, TimerChange,
};
pub use due::{DueChange, DueRow, LookAgain, RunSchedule};
pub use error::WriteFault;
pub use memory::MemoryStore;
pub use nul::{refuse_nul, story_texts};
pub use rows::{
    AgentStatistics, EventFilter, HandoffFilter, HandoffRef, HandoffRow, HandoffState, Identity,
    OpenRunCounts, Order, OutboxRow, Position, RunFilter, RunRef, RunRow, Statistics, StoredEvent,
    StoryCounts, StoryFilter, StoryRow, TimerKind, TimerRow, Version,
};
pub use store_check::StoreCheck;
pub use stored_content::{ChangedContent, StoredContent};

/// Keeps runs, and what belongs to them. The run is the unit of consistency.
#[async_trait]
pub trait Store: Send + Sync {
    /// Adds to a run if it is still at the version that the decision was made on: all of
    /// `append`, or nothing. Once this returns, it is on disk, and nobody but the caller has `append`
    /// any more.
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError>;

    async fn run(&self, which: &RunRef) -> Result<Option<RunRow>, StoreError>;

    /// By number, in the filter's order.
    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError>;

    /// The numbers of the runs after `after`, ascending, whether or not their rows can be read.
    async fn run_numbers(&self, after: u64, limit: u32) -> Result<Vec<u64>, StoreError>;

    /// Open and paused runs, the one that moved last first, at least as far as the newest part of the
    /// log tells; those that it does not tell of come by their numbers, the newest first.
    async fn runs_moved_last(&self, limit: u32) -> Result<Vec<RunRow>, StoreError>;

    /// The first open and paused runs whose story's key ends so, by number, and how many there are.
    async fn open_runs_ending(
        &self,
        suffix: &str,
        limit: u32,
    ) -> Result<(Vec<RunRow>, u64), StoreError>;

    /// How many open and paused runs there are.
    async fn count_open_runs(&self) -> Result<u64, StoreError>;

    /// The same by where their batons are, which takes longer.
    async fn open_run_counts(&self) -> Result<OpenRunCounts, StoreError>;

    async fn handoff(&self, which: &HandoffRef) -> Result<Option<HandoffRow>, StoreError>;

    /// By number, in the filter's order.
    async fn handoffs(&self, filter: &HandoffFilter) -> Result<Vec<HandoffRow>, StoreError>;

    /// How many [`Store::handoffs`] would be without a limit, none of them passed over.
    async fn count_handoffs(&self, filter: &HandoffFilter) -> Result<u64, StoreError>;

    /// Counts and means over the handoffs of a filter, whose order, skip and limit say nothing.
    async fn statistics(&self, filter: &HandoffFilter) -> Result<Statistics, StoreError>;

    /// The texts that are there, in no particular order, each to be checked before it is read.
    async fn contents(
        &self,
        run: RunId,
        ids: &[ContentId],
    ) -> Result<Vec<StoredContent>, StoreError>;

    /// The texts that were found to be missing, and written down as such, when the run was
    /// recovered from damage.
    async fn lost_texts(&self, run: RunId) -> Result<Vec<ContentId>, StoreError>;

    /// How many texts a run has.
    async fn count_contents(&self, run: RunId) -> Result<u64, StoreError>;

    /// By position, ascending. A position once seen never gets a neighbour below it later.
    async fn events(&self, filter: &EventFilter) -> Result<Vec<StoredEvent>, StoreError>;

    /// The position of the newest event.
    async fn last_position(&self) -> Result<Position, StoreError>;

    /// Adds a story; false where one of that key is there already, which is left as it is.
    async fn add_story(&self, story: &Story, now: Timestamp) -> Result<bool, StoreError>;

    /// As [`Store::add_story`], for a request that may be sent twice: its answer is kept with the
    /// story, and one that was answered before is [`AppendError::Repeated`], whatever it asks.
    async fn add_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<bool, AppendError>;

    /// Writes a story over the one of that key, or adds it.
    async fn save_story(&self, story: &Story, now: Timestamp) -> Result<(), StoreError>;

    async fn story(&self, key: &StoryKey) -> Result<Option<StoryRow>, StoreError>;

    /// By key, ascending.
    async fn stories(&self, filter: &StoryFilter) -> Result<Vec<StoryRow>, StoreError>;

    /// Keys of stories that a reader could take for this one, by key, and at most a few: those of
    /// one [`outline`](baton_core::look_alike::outline). The key itself is not among them.
    async fn look_alikes(&self, key: &StoryKey) -> Result<Vec<StoryKey>, StoreError>;

    /// Stories that never had a run, in the order in which they are to begin: the highest priority
    /// first, ties by key. Of those, the ones after `after`.
    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> Result<Vec<StoryRow>, StoreError>;

    async fn count_stories(&self) -> Result<StoryCounts, StoreError>;

    /// A workflow file as it was when a run began.
    async fn definition(&self, hash: &Hash) -> Result<Option<Definition>, StoreError>;

    /// What a command with this key was answered, if it took effect.
    async fn answered(
        &self,
        scope: &str,
        key: &str,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;

    /// Drops at most `limit` of the answers given before `before`; returns how many.
    async fn forget_answered(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// How far a projector has read; the beginning, where it never has.
    async fn cursor(&self, projector: &str) -> Result<Position, StoreError>;

    /// Moves a projector's cursor if it is still at `from`; false where it is not.
    async fn advance(
        &self,
        projector: &str,
        from: Position,
        to: Position,
    ) -> Result<bool, StoreError>;

    /// What waits to be told to the world outside, by id, ascending.
    async fn outbox(&self, after: u64, limit: u32) -> Result<Vec<OutboxRow>, StoreError>;

    /// Takes one out; false where somebody else has.
    async fn settle(&self, outbox_id: u64) -> Result<bool, StoreError>;

    /// The open runs that have to be looked at by `due_by`, by time and number, and of those the ones
    /// after `after`. A limit of 0 means as many as there are.
    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> Result<Vec<DueRow>, StoreError>;

    /// Says when runs have to be looked at again, all in one transaction; returns how many. One that
    /// has moved since it was looked at is left alone. This is no event, and changes no run.
    async fn look_again(&self, runs: &[LookAgain]) -> Result<u64, StoreError>;

    /// All that is kept of the times of one run; nothing where there is no such run.
    async fn schedule(&self, run: RunId) -> Result<RunSchedule, StoreError>;

    /// What has to happen at a time, the earliest first: all of it, or what is due by `due_by`.
    /// A limit of 0 means as many as there are.
    async fn timers(
        &self,
        due_by: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<TimerRow>, StoreError>;

    /// Lets leases end later, all in one transaction; returns how many. One that is not there any
    /// more, or that has another fence, is left alone. This is no event, and changes no run.
    async fn put_off(&self, leases: &[LeaseRenewal]) -> Result<u64, StoreError>;

    /// Which project the store belongs to, and since when positions of events are counted. It does
    /// not change while a store is open.
    async fn identity(&self) -> Result<Identity, StoreError>;

    /// What is wrong with the store itself, by table and row; nothing, if all is well. It goes on
    /// after what cannot be read, and says of each table only how many more problems there are once
    /// it has named a few.
    async fn check(&self) -> Result<StoreCheck, StoreError>;

    /// As [`Store::check`], beside other work: slowly, so that nobody notices it.
    async fn check_slowly(&self) -> Result<StoreCheck, StoreError> {
        self.check().await
    }

    /// What keeps the store from being written at the moment, as far as it knows by itself.
    fn write_fault(&self) -> Option<WriteFault> {
        None
    }

    /// Finishes what is under way and takes no more.
    async fn close(&self);
}

/// Why nothing was added. Only the last is anybody's fault.
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

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Nothing was written, and this is why.
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

//! One append to one run: events, changed rows, texts and outbox entries, in one transaction.

use baton_core::content::{Content, ContentId};
use baton_core::hash::Hash;
use baton_core::names::{Principal, WorkflowName};
use baton_core::run::{HandoffNo, Run, RunId, RunStatus};
use baton_core::story::Story;
use jiff::Timestamp;

use crate::due::DueChange;
use crate::rows::{HandoffRow, Position, TimerKind, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The version that the decision was based on. [`Version::NONE`] creates the run.
    pub expected: Version,
    /// The number of the run, where known: saves the store a lookup.
    pub number: Option<u64>,
    /// The run after the append.
    pub run: Run,
    /// In order; they make the version.
    pub events: Vec<EventRecord>,
    /// The rows of new handoffs, as they are after the append. The store assigns their numbers.
    pub opened: Vec<HandoffRow>,
    /// The whole rows of changed handoffs, as they are after the append. Only a row that was open
    /// before can change.
    pub changed: Vec<HandoffRow>,
    pub contents: Vec<Content>,
    /// Texts of the run that are dropped, with their nonces.
    pub dropped: Vec<ContentId>,
    /// Created where the key does not exist yet.
    pub story: Option<Story>,
    /// Stored where it is not known yet.
    pub definition: Option<Definition>,
    /// Outbox entries for outside systems, by event name.
    pub outbox: Vec<String>,
    pub timers: Vec<TimerChange>,
    /// Whether something in the run waits for a person from now on ([`Run::is_waiting`]); `None`
    /// where unchanged.
    pub waiting: Option<bool>,
    /// Whether the run is blocked ([`Run::is_blocked`]); `None` where unchanged.
    pub blocked: Option<bool>,
    pub due: DueChange,
    /// The new status of the run's story; `None` where unchanged.
    pub story_status: Option<RunStatus>,
    pub answered: Option<IdempotencyRecord>,
    pub at: Timestamp,
}

impl Append {
    /// The value of [`Append::waiting`] after the state `before`, where there was one.
    pub fn change_of_waiting(before: Option<&Run>, after: &Run) -> Option<bool> {
        let (was, is) = (before.is_some_and(Run::is_waiting), after.is_waiting());
        (is != was).then_some(is)
    }

    /// The value of [`Append::blocked`] after the state `before`, where there was one.
    pub fn change_of_blocked(before: Option<&Run>, after: &Run) -> Option<bool> {
        let (was, is) = (before.is_some_and(Run::is_blocked), after.is_blocked());
        (is != was).then_some(is)
    }

    /// The value of [`Append::story_status`] after the state `before`, where there was one.
    pub fn change_of_status(before: Option<&Run>, after: &Run) -> Option<RunStatus> {
        let is_news = before.is_none_or(|it| it.status != after.status);
        is_news.then_some(after.status)
    }
}

/// One event as it is stored: encoded, and chained to the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    pub name: &'static str,
    pub by: Principal,
    /// The encoded event.
    pub body: String,
    /// Over the previous hash, the run, the version, the time, the actor, and the body.
    pub hash: Hash,
}

/// What an append does to the timer of a handoff. A handoff has at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerChange {
    /// Replaces the previous timer.
    Set { no: HandoffNo, what: TimerKind, due: Timestamp },
    /// No effect where there is none.
    Clear { no: HandoffNo },
}

impl TimerChange {
    pub fn no(self) -> HandoffNo {
        match self {
            Self::Set { no, .. } | Self::Clear { no } => no,
        }
    }
}

/// A heartbeat: extends the holder's lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRenewal {
    pub run: RunId,
    pub no: HandoffNo,
    /// The fencing token: a lease with another token is left alone.
    pub fence: u32,
    pub due: Timestamp,
}

/// A workflow file, by the hash of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub hash: Hash,
    pub name: WorkflowName,
    pub text: String,
}

/// An idempotency record: the answer to a command that may be sent twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The caller and its interface: the same key in another scope is another key.
    pub scope: String,
    pub key: String,
    /// Hash of the whole request: the same key with another request is an error.
    pub request: Hash,
    /// The encoded answer.
    pub answer: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    pub version: Version,
    pub run_number: u64,
    /// Position of the last event.
    pub position: Position,
    /// The numbers of the new handoffs, in order.
    pub numbers: Vec<(HandoffNo, u64)>,
}

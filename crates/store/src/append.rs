//! One addition to one run: events, changed rows, texts and promises, in one transaction.

use baton_core::content::{Content, ContentId};
use baton_core::event::Created;
use baton_core::hash::Hash;
use baton_core::names::{Principal, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::run::{HandoffNo, Run, RunId, RunStatus};
use baton_core::story::Story;
use jiff::Timestamp;

use crate::due::DueChange;
use crate::rows::{HandoffState, Position, TimerKind, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// What the decision was made on. [`Version::NONE`] makes the run.
    pub expected: Version,
    /// The number of the run, where it is known: a store need not look for it then.
    pub number: Option<u64>,
    /// The run as it is then.
    pub run: Run,
    /// In order; they make the version.
    pub events: Vec<EventRecord>,
    pub handoffs: Vec<HandoffChange>,
    pub contents: Vec<Content>,
    /// Made where there is none of that key.
    pub story: Option<Story>,
    /// Kept where it is not known yet.
    pub definition: Option<Definition>,
    /// What the world outside has to be told, by the name of the event.
    pub outbox: Vec<String>,
    pub timers: Vec<TimerChange>,
    /// Whether something in the run waits for somebody's word from now on ([`Run::is_waiting`]);
    /// none where that is as it was.
    pub waiting: Option<bool>,
    /// Whether something keeps the run from going on ([`Run::is_blocked`]); none where that is as it
    /// was.
    pub blocked: Option<bool>,
    pub due: DueChange,
    /// What the run's story has come to; none where that is as it was.
    pub story_status: Option<RunStatus>,
    pub answered: Option<IdempotencyRecord>,
    pub at: Timestamp,
}

impl Append {
    /// What [`Append::waiting`] is for a run that was as `before`, where there was one.
    pub fn change_of_waiting(before: Option<&Run>, after: &Run) -> Option<bool> {
        let (was, is) = (before.is_some_and(Run::is_waiting), after.is_waiting());
        (is != was).then_some(is)
    }

    /// What [`Append::blocked`] is for a run that was as `before`, where there was one.
    pub fn change_of_blocked(before: Option<&Run>, after: &Run) -> Option<bool> {
        let (was, is) = (before.is_some_and(Run::is_blocked), after.is_blocked());
        (is != was).then_some(is)
    }

    /// What [`Append::story_status`] is for a run that was as `before`, where there was one.
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
    /// Over the hash before it, the run, the place in it, the time, who, and the body.
    pub hash: Hash,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "an append has one or two, and keeps none of them")]
pub enum HandoffChange {
    Opened(Created),
    Moved(HandoffMove),
}

/// What an event changes in a handoff's row. What it does not say stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffMove {
    pub no: HandoffNo,
    pub state: HandoffState,
    pub is_stale: bool,
    pub outcome: Option<Outcome>,
    /// Why it was rejected, cancelled, superseded or timed out; what was answered, where it is a
    /// question.
    pub ended_reason: Option<ContentId>,
    pub acknowledgement: Option<ContentId>,
}

/// What an append does to the timer of a handoff. A handoff has at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerChange {
    /// Takes the place of the one before it.
    Set { no: HandoffNo, what: TimerKind, due: Timestamp },
    /// Where there is none, nothing happens.
    Clear { no: HandoffNo },
}

impl TimerChange {
    pub fn no(self) -> HandoffNo {
        match self {
            Self::Set { no, .. } | Self::Clear { no } => no,
        }
    }
}

/// A holder was heard of: its lease ends later now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRenewal {
    pub run: RunId,
    pub no: HandoffNo,
    /// Which holding of the handoff is meant: a lease with another fence is left alone.
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

/// The answer to a command that may be sent twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Who asked, and by which way: the same key elsewhere is another key.
    pub scope: String,
    pub key: String,
    /// Of the whole request: the same key with another request is a mistake.
    pub request: Hash,
    /// The encoded answer.
    pub answer: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    pub version: Version,
    pub run_number: u64,
    /// Of the last event.
    pub position: Position,
    /// The numbers that new handoffs got, in their order.
    pub numbers: Vec<(HandoffNo, u64)>,
}

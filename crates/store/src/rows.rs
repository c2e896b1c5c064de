//! What comes out of a store, and how it is asked for.

use baton_core::content::ContentId;
use baton_core::event::Created;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Principal, StoryKey, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::run::{
    Baton, Ended, HandoffId, HandoffNo, Kind, Party, Run, RunId, RunStatus, State, Wait,
};
use baton_core::story::Story;
use jiff::Timestamp;
use uuid::Uuid;

use crate::append::HandoffMove;

/// How many events a run has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64);

impl Version {
    /// Of a run that is not there yet.
    pub const NONE: Self = Self(0);
}

/// Where an event stands in the log of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub u64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);
}

/// What tells one store from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Copies and backups of a store have it too.
    pub project: Uuid,
    /// Eight characters, others after every restore: a position means nothing in another epoch.
    pub epoch: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Counted over the whole store, for people.
    pub number: u64,
    pub version: Version,
    /// Of the last event.
    pub head: Hash,
    pub run: Run,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRef {
    Id(RunId),
    Number(u64),
    /// The run of a story that is not finished.
    OpenOf(StoryKey),
    /// The newest run of a story, finished or not.
    LatestOf(StoryKey),
}

/// In which order a list comes, and so what comes after one of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    OldestFirst,
    NewestFirst,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    pub story: Option<StoryKey>,
    pub workflow: Option<WorkflowName>,
    /// Any of these; none means all.
    pub statuses: Vec<RunStatus>,
    /// Those in which something waits for somebody's word.
    pub only_waiting: bool,
    /// Those that something keeps from going on.
    pub only_blocked: bool,
    pub order: Order,
    /// Only runs that come after the one of this number, there or not. 0 is before all.
    pub after: u64,
    /// Of those, only the ones up to this number, there or not. 0 means all.
    pub until: u64,
    /// 0 means as many as there are.
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRow {
    /// Counted over the whole store: seed 000's `id`.
    pub number: u64,
    pub id: HandoffId,
    pub run: RunId,
    pub story: StoryKey,
    pub no: HandoffNo,
    pub kind: Kind,
    pub from: Party,
    pub to: Party,
    pub state: HandoffState,
    pub outcome: Option<Outcome>,
    pub package: Option<ContentId>,
    pub reason: ContentId,
    pub ended_reason: Option<ContentId>,
    pub acknowledgement: Option<ContentId>,
    pub attempt: u32,
    pub follows: Option<HandoffNo>,
    pub approved_by: Option<Principal>,
    pub warnings: Vec<String>,
    pub is_stale: bool,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// Where a handoff stands, open or not: one column, one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffState {
    Open(State),
    Ended(Ended),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffRef {
    Number(u64),
    Id(HandoffId),
    InRun(RunId, HandoffNo),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandoffFilter {
    pub run: Option<RunId>,
    pub story: Option<StoryKey>,
    pub to: Option<AgentId>,
    /// The sender or the receiver.
    pub with: Option<AgentId>,
    pub kind: Option<Kind>,
    /// Any of these; none means all.
    pub states: Vec<HandoffState>,
    pub is_stale: Option<bool>,
    /// Only those whose last move (accepted, else created) was at or before this.
    pub unmoved_since: Option<Timestamp>,
    /// Only those made at or after this.
    pub created_from: Option<Timestamp>,
    /// Only those made before this.
    pub created_before: Option<Timestamp>,
    pub order: Order,
    /// Only handoffs that come after the one of this number, there or not. 0 is before all.
    pub after: u64,
    /// Of those, only the ones up to this number, there or not. 0 means all.
    pub until: u64,
    /// How many of them are passed over: for pages that have a number.
    pub skip: u64,
    /// 0 means as many as there are.
    pub limit: u32,
}

/// How handoffs fare, over all that a filter lets through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// In the order of [`HandoffState::ALL`], those that there are.
    pub by_state: Vec<(HandoffState, u64)>,
    /// By the receiver's id.
    pub by_agent: Vec<AgentStatistics>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatistics {
    pub agent: AgentId,
    pub n_handoffs: u64,
    /// Of those, how many it has not ended yet.
    pub n_open: u64,
    pub n_completed: u64,
    /// How many it sent back.
    pub n_rejected: u64,
    /// From the offer to the acceptance, in whole milliseconds.
    pub mean_ms_to_accept: Option<u64>,
    /// From the acceptance to the completion, in whole milliseconds.
    pub mean_ms_to_complete: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub run: RunId,
    /// Its place in the run, from 1.
    pub version: Version,
    pub at: Timestamp,
    pub name: String,
    pub by: Principal,
    pub body: String,
    pub hash: Hash,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// Only later ones.
    pub after: Position,
    pub run: Option<RunId>,
    /// 0 means as many as there are.
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryRow {
    pub story: Story,
    pub created_at: Timestamp,
    /// Of its newest run.
    pub latest: Option<(RunId, RunStatus)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoryFilter {
    /// Only keys that sort later.
    pub after: Option<StoryKey>,
    /// 0 means as many as there are.
    pub limit: u32,
}

/// How many runs are open, and where their batons are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenRunCounts {
    pub n_open: u64,
    pub n_paused: u64,
    /// Of both, those that somebody may take, or soon may.
    pub n_offered: u64,
    pub n_held: u64,
    /// Those that a person is asked about.
    pub n_waiting: u64,
    pub n_loose: u64,
}

impl OpenRunCounts {
    /// Counts one more.
    pub fn add(&mut self, run: &Run) {
        match run.status {
            RunStatus::Open => self.n_open += 1,
            RunStatus::Paused => self.n_paused += 1,
            RunStatus::Completed | RunStatus::Cancelled => return,
        }
        match run.baton() {
            Baton::Offered { .. } | Baton::Parked { on: Wait::Timer, .. } => self.n_offered += 1,
            Baton::Held { .. } => self.n_held += 1,
            Baton::Parked { on: Wait::Person, .. } => self.n_waiting += 1,
            Baton::Loose { .. } => self.n_loose += 1,
            Baton::Done => {}
        }
    }
}

/// How many stories there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoryCounts {
    pub n_stories: u64,
    /// Those that never had a run.
    pub n_to_begin: u64,
    /// Those whose newest run is completed.
    pub n_completed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    pub id: u64,
    pub run: RunId,
    /// The name of the event that put it there.
    pub about: String,
    pub at: Timestamp,
}

/// What has to happen at a time, unless something else does first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerRow {
    pub run: RunId,
    pub no: HandoffNo,
    pub what: TimerKind,
    pub due: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// The holder is not heard of for so many seconds: then it is taken for dead.
    Lease { fence: u32, seconds: u32 },
    /// A handoff that was held back is offered.
    Wake,
}

impl HandoffRow {
    /// As it is when it has just been made.
    pub fn opened(number: u64, run: &Run, created: &Created, at: Timestamp) -> Self {
        Self {
            number,
            id: created.id,
            run: run.id,
            story: run.story.clone(),
            no: created.handoff,
            kind: created.kind,
            from: created.from.clone(),
            to: created.to.clone(),
            state: HandoffState::Open(State::Pending),
            outcome: None,
            package: created.package,
            reason: created.reason,
            ended_reason: None,
            acknowledgement: None,
            attempt: created.attempt,
            follows: created.follows,
            approved_by: created.approved_by.clone(),
            warnings: created.warnings.clone(),
            is_stale: false,
            created_at: at,
            accepted_at: None,
            ended_at: None,
        }
    }

    /// As it is once it has moved.
    pub fn make_move(&mut self, moved: &HandoffMove, at: Timestamp) {
        let was_waiting =
            matches!(self.state, HandoffState::Open(State::Pending | State::Clarification));
        match moved.state {
            HandoffState::Ended(_) => self.ended_at = Some(at),
            // Whoever had it has it no more.
            HandoffState::Open(State::Pending | State::Clarification) => self.accepted_at = None,
            HandoffState::Open(State::Accepted) if was_waiting => self.accepted_at = Some(at),
            // Waiting for somebody else and going on is not accepting again.
            HandoffState::Open(State::Accepted | State::Parked) => {}
        }
        self.state = moved.state;
        self.is_stale = moved.is_stale;
        self.outcome = moved.outcome.or(self.outcome);
        self.ended_reason = moved.ended_reason.or(self.ended_reason);
        self.acknowledgement = moved.acknowledgement.or(self.acknowledgement);
    }
}

impl Order {
    /// Whether a row comes after the one of number `after`.
    pub fn is_after(self, number: u64, after: u64) -> bool {
        match self {
            Order::OldestFirst => number > after,
            Order::NewestFirst => after == 0 || number < after,
        }
    }

    /// Whether a row comes no later than the one of number `until`.
    pub fn is_until(self, number: u64, until: u64) -> bool {
        match self {
            Order::OldestFirst => until == 0 || number <= until,
            Order::NewestFirst => number >= until,
        }
    }
}

impl TimerKind {
    pub fn name(self) -> &'static str {
        match self {
            TimerKind::Lease { .. } => "lease",
            TimerKind::Wake => "wake",
        }
    }
}

impl HandoffState {
    pub const ALL: [Self; 9] = [
        Self::Open(State::Pending),
        Self::Open(State::Clarification),
        Self::Open(State::Accepted),
        Self::Open(State::Parked),
        Self::Ended(Ended::Completed),
        Self::Ended(Ended::Rejected),
        Self::Ended(Ended::TimedOut),
        Self::Ended(Ended::Cancelled),
        Self::Ended(Ended::Superseded),
    ];

    pub fn name(self) -> &'static str {
        match self {
            HandoffState::Open(state) => state.name(),
            HandoffState::Ended(ended) => ended.name(),
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn is_open(self) -> bool {
        match self {
            HandoffState::Open(_) => true,
            HandoffState::Ended(_) => false,
        }
    }
}

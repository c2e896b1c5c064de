//! The rows that a store returns, and the filters to query them.

use baton_core::budget::Usage;
use baton_core::content::ContentId;
use baton_core::event::Created;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Principal, StoryKey, WorkflowName};
use baton_core::order::Order;
use baton_core::outcome::Outcome;
use baton_core::run::{
    HandoffId, HandoffNo, HandoffState, Kind, Party, Run, RunId, RunStatus, State,
};
use baton_core::story::Story;
use baton_wire::checkpoint::SignedCheckpoint;
use jiff::Timestamp;
use uuid::Uuid;

/// The number of events of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64);

impl Version {
    /// Of a run that does not exist yet.
    pub const NONE: Self = Self(0);
}

/// The position of an event in the log of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub u64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);
}

/// Identifies a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Shared by copies and backups of the store.
    pub project: Uuid,
    /// Eight characters that change with every restore: positions are only valid within their
    /// epoch.
    pub epoch: String,
}

/// A signed checkpoint of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Consecutive in the whole store.
    pub number: u64,
    pub signed: SignedCheckpoint,
}

/// The chain of the stories' versions up to some link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoryHead {
    /// How many links it has.
    pub n_links: u64,
    /// Hash of the last.
    pub head: Hash,
}

impl StoryHead {
    /// Without a story.
    pub const NONE: Self = Self { n_links: 0, head: Hash::ZERO };
}

/// What is recorded as lost since the data was recovered from damage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedLosses {
    /// The number of the run and the id of each text.
    pub texts: Vec<(u64, ContentId)>,
    /// How many numbers of runs, handoffs and events have no row any more.
    pub n_numbers: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Consecutive in the whole store, for people.
    pub number: u64,
    pub version: Version,
    /// Hash of the last event.
    pub head: Hash,
    pub run: Run,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRef {
    Id(RunId),
    Number(u64),
    /// The unfinished run of a story.
    OpenOf(StoryKey),
    /// The newest run of a story, finished or not.
    LatestOf(StoryKey),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    pub story: Option<StoryKey>,
    pub workflow: Option<WorkflowName>,
    /// Any of these; empty means all.
    pub statuses: Vec<RunStatus>,
    /// Runs in which something waits for a person.
    pub only_waiting: bool,
    /// Blocked runs.
    pub only_blocked: bool,
    pub order: Order,
    /// Only runs after the one with this number, whether it exists or not. 0 is before all.
    pub after: u64,
    /// Only runs up to this number, whether it exists or not. 0 means no bound.
    pub until: u64,
    /// 0 means no limit.
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRow {
    /// Consecutive in the whole store: the `id` of the pipeline API.
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
    /// How complete its package was when it was sent, from 0 to 100; none where it was sent before.
    pub score: Option<u8>,
    pub is_stale: bool,
    pub created_at: Timestamp,
    /// When the present holder accepted it. Waiting for a delegate or a person and going on is not
    /// a second acceptance.
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// What figures about handoffs are computed from: a handoff without its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffFact {
    pub number: u64,
    pub run_number: u64,
    pub no: HandoffNo,
    pub workflow: WorkflowName,
    pub kind: Kind,
    pub from: Party,
    pub to: Party,
    pub state: HandoffState,
    pub n_warnings: u32,
    pub score: Option<u8>,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// What an agent used for a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageFact {
    pub run_number: u64,
    pub handoff: HandoffNo,
    pub usage: Usage,
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
    /// Only those that move responsibility: all but questions.
    pub only_moves: bool,
    /// Any of these; empty means all.
    pub states: Vec<HandoffState>,
    pub is_stale: Option<bool>,
    /// Only those whose last move (accepted, else created) was at or before this.
    pub unmoved_since: Option<Timestamp>,
    /// Only those created at or after this.
    pub created_from: Option<Timestamp>,
    /// Only those created before this.
    pub created_before: Option<Timestamp>,
    pub order: Order,
    /// The rows of a page by creation time and then by id, instead of by number; for numbered pages
    /// of one run. Only a clock that was set back makes a difference.
    pub by_time: bool,
    /// Only handoffs after the one with this number, whether it exists or not. 0 is before all.
    pub after: u64,
    /// Only handoffs up to this number, whether it exists or not. 0 means no bound.
    pub until: u64,
    /// How many rows to skip: for numbered pages.
    pub skip: u64,
    /// 0 means no limit.
    pub limit: u32,
}

/// Statistics over all handoffs that match a filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// In the order of [`HandoffState::ALL`]; states without handoffs are left out.
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
    /// How many it rejected.
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
    /// Its index in the run, from 1.
    pub version: Version,
    pub at: Timestamp,
    pub name: String,
    pub by: Principal,
    pub body: String,
    pub hash: Hash,
}

/// A text that was dropped for good, as an event of its run says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedText {
    pub id: ContentId,
    pub cause: DropCause,
    pub at: Timestamp,
    pub by: Principal,
}

/// Why a text was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropCause {
    /// A caller asked for it.
    Redacted,
    /// It was kept for as long as the project keeps such texts.
    Expired,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// Only events after this position.
    pub after: Position,
    pub run: Option<RunId>,
    /// 0 means no limit.
    pub limit: u32,
}

/// What is shared in a run, by the events that tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedEvents {
    Decisions,
    /// The versions of context documents; not who read them.
    ContextVersions,
    /// Questions between agents; not other messages.
    Asks,
    /// The gates of a run, their votes and their answers.
    Gates,
}

impl SharedEvents {
    /// The names of the events.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Decisions => &["decision.recorded", "decision.superseded", "decision.locked"],
            Self::ContextVersions => &["context.changed"],
            Self::Gates => &["gate.opened", "gate.answered", "gate.approved", "gate.delegated"],
            Self::Asks => {
                &["message.asked", "message.replied", "message.repeated", "message.unanswered"]
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryRow {
    pub story: Story,
    pub created_at: Timestamp,
    /// Id and status of its newest run.
    pub latest: Option<(RunId, RunStatus)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoryFilter {
    /// Only keys that sort later.
    pub after: Option<StoryKey>,
    /// 0 means no limit.
    pub limit: u32,
}

/// How many runs are open, and where their batons are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenRunCounts {
    pub n_open: u64,
    pub n_paused: u64,
    /// Of both, those that an agent may accept, now or soon.
    pub n_offered: u64,
    pub n_held: u64,
    /// Those that wait for a person's answer.
    pub n_waiting: u64,
    pub n_loose: u64,
}

/// How many stories there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoryCounts {
    pub n_stories: u64,
    /// Stories that never had a run.
    pub n_to_begin: u64,
    /// Stories whose newest run is completed.
    pub n_completed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    pub id: u64,
    pub run: RunId,
    /// The name of the event that created it.
    pub about: String,
    pub at: Timestamp,
}

/// What has to happen at a time, unless something else happens first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerRow {
    pub run: RunId,
    pub no: HandoffNo,
    pub what: TimerKind,
    pub due: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// The lease: after this many seconds without a heartbeat the holder counts as dead.
    Lease { fence: u32, seconds: u32 },
    /// A delayed handoff is offered.
    Wake,
}

impl HandoffRow {
    /// The row of a handoff that was just created. The store assigns its number.
    pub fn opened(run: &Run, created: &Created, at: Timestamp) -> Self {
        Self {
            number: 0,
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
            score: created.score,
            is_stale: false,
            created_at: at,
            accepted_at: None,
            ended_at: None,
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

//! What clients of several nodes did and learned, as they know it: the input of the checker.

use std::time::Duration;

use jiff::Timestamp;

/// Everything that a test recorded.
#[derive(Debug, Clone)]
pub(crate) struct ClusterHistory {
    /// The time of the zero of all durations, by the clock of the database's machine.
    pub(crate) began: Timestamp,
    pub(crate) operations: Vec<ClientOperation>,
    /// The whole log, in the order of its positions, read when everything was over.
    pub(crate) log: Vec<LoggedFact>,
    pub(crate) readers: Vec<ReaderRecord>,
}

/// A request, with its retries under the same key, as its client knows it.
#[derive(Debug, Clone)]
pub(crate) struct ClientOperation {
    /// Who asked, for no other operation: the log has it as `by` of the events.
    pub(crate) tag: String,
    pub(crate) kind: OperationKind,
    /// Before the first try was sent.
    pub(crate) invoked: Duration,
    /// After the last answer came, or the client gave up.
    pub(crate) ended: Duration,
    pub(crate) outcome: OperationOutcome,
    /// Which node gave the answer.
    pub(crate) node: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Start,
    Accept { handoff: String, lease: Duration },
    Complete { handoff: String, fence: u64 },
    Release { handoff: String, fence: u64 },
    Post,
    Read,
}

impl OperationKind {
    /// The event that the command makes exactly once.
    pub(crate) fn event(&self) -> Option<&'static str> {
        match self {
            Self::Start => Some("run.started"),
            Self::Accept { .. } => Some("handoff.accepted"),
            Self::Complete { .. } => Some("handoff.completed"),
            Self::Release { .. } => Some("handoff.released"),
            Self::Post => Some("message.posted"),
            Self::Read => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OperationOutcome {
    /// Done, by every answer that came: more than one where the request was sent twice.
    Acknowledged(Vec<ShownVersion>),
    /// Refused, with no other try whose result is unknown.
    Refused { status: u16, code: String },
    /// No answer that says so: it may have happened, or happen yet. With what came instead.
    Unknown(String),
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownVersion {
    pub(crate) run: String,
    /// The version of the run when the answer was made: that of the command, or a later one.
    pub(crate) version: u64,
    pub(crate) fence: Option<u64>,
}

/// One event of the log.
#[derive(Debug, Clone)]
pub(crate) struct LoggedFact {
    pub(crate) position: u64,
    pub(crate) run: String,
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
    pub(crate) name: String,
    pub(crate) by: String,
    /// The handoff within its run, where it is about one.
    pub(crate) handoff: Option<u64>,
    pub(crate) fence: Option<u64>,
}

/// What one subscriber of live events received, over all its connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReaderRecord {
    pub(crate) name: String,
    /// Everything behind this position has to come.
    pub(crate) after: u64,
    /// The position of each message, and which of the messages of its event it is.
    pub(crate) heard: Vec<(u64, u64)>,
    /// How often it was asked to forget what it knew.
    pub(crate) n_resets: u64,
    /// How often it came back.
    pub(crate) n_resumed: u64,
}

impl ClientOperation {
    pub(crate) fn acknowledgement(&self) -> Option<&ShownVersion> {
        match &self.outcome {
            OperationOutcome::Acknowledged(answers) => answers.first(),
            OperationOutcome::Refused { .. } | OperationOutcome::Unknown(_) => None,
        }
    }
}

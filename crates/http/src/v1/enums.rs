//! The names of states and kinds in the API. The rules have types of their own; these names are the
//! public contract.

use baton_core::gate::GateKind;
use baton_core::outcome::Outcome;
use baton_core::run::{Baton, Ended, HandoffState, Kind, RunStatus, State, Wait};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::ApiProblem;

/// Whether a run is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunStatus)]
pub enum StatusWord {
    Open,
    Paused,
    Completed,
    Cancelled,
}

/// Where a run's baton is, and so who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Baton)]
pub enum BatonWord {
    Offered,
    Held,
    Parked,
    Loose,
    Done,
}

/// The state of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = HandoffState)]
pub enum StateWord {
    Pending,
    Clarification,
    Accepted,
    Parked,
    Completed,
    Rejected,
    TimedOut,
    Cancelled,
    Superseded,
}

/// What a handoff is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = HandoffKind)]
pub enum KindWord {
    Sequential,
    Delegation,
    Escalation,
    Return,
    Question,
}

/// How a step ended. Only Baton sets `unknown`: the attempt was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Outcome)]
pub enum OutcomeWord {
    Success,
    Failure,
    Blocked,
    NeedsReview,
    NeedsClarification,
    Skipped,
    Unknown,
}

/// What a parked baton waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Wait)]
pub enum WaitWord {
    Timer,
    Person,
}

/// How much of the run a gate stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = GateKind)]
pub enum GateKindWord {
    Blocking,
    Advisory,
    Automatic,
}

impl StatusWord {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// True once nothing more can happen in the run.
    pub fn is_over(self) -> bool {
        match self {
            Self::Open | Self::Paused => false,
            Self::Completed | Self::Cancelled => true,
        }
    }
}

impl StateWord {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Clarification => "clarification",
            Self::Accepted => "accepted",
            Self::Parked => "parked",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
        }
    }

    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Clarification | Self::Accepted | Self::Parked => true,
            Self::Completed
            | Self::Rejected
            | Self::TimedOut
            | Self::Cancelled
            | Self::Superseded => false,
        }
    }
}

impl KindWord {
    pub fn name(self) -> &'static str {
        Kind::from(self).name()
    }
}

impl OutcomeWord {
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Blocked => "blocked",
            Self::NeedsReview => "needs_review",
            Self::NeedsClarification => "needs_clarification",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }
}

impl From<RunStatus> for StatusWord {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Open => Self::Open,
            RunStatus::Paused => Self::Paused,
            RunStatus::Completed => Self::Completed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<&Baton> for BatonWord {
    fn from(baton: &Baton) -> Self {
        match baton {
            Baton::Offered { .. } => Self::Offered,
            Baton::Held { .. } => Self::Held,
            Baton::Parked { .. } => Self::Parked,
            Baton::Loose { .. } => Self::Loose,
            Baton::Done => Self::Done,
        }
    }
}

impl From<HandoffState> for StateWord {
    fn from(state: HandoffState) -> Self {
        match state {
            HandoffState::Open(State::Pending) => Self::Pending,
            HandoffState::Open(State::Clarification) => Self::Clarification,
            HandoffState::Open(State::Accepted) => Self::Accepted,
            HandoffState::Open(State::Parked) => Self::Parked,
            HandoffState::Ended(Ended::Completed) => Self::Completed,
            HandoffState::Ended(Ended::Rejected) => Self::Rejected,
            HandoffState::Ended(Ended::TimedOut) => Self::TimedOut,
            HandoffState::Ended(Ended::Cancelled) => Self::Cancelled,
            HandoffState::Ended(Ended::Superseded) => Self::Superseded,
        }
    }
}

impl From<Kind> for KindWord {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Sequential => Self::Sequential,
            Kind::Delegation => Self::Delegation,
            Kind::Escalation => Self::Escalation,
            Kind::Return => Self::Return,
            Kind::Question => Self::Question,
        }
    }
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Sequential => Self::Sequential,
            KindWord::Delegation => Self::Delegation,
            KindWord::Escalation => Self::Escalation,
            KindWord::Return => Self::Return,
            KindWord::Question => Self::Question,
        }
    }
}

impl From<Outcome> for OutcomeWord {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Failure => Self::Failure,
            Outcome::Blocked => Self::Blocked,
            Outcome::NeedsReview => Self::NeedsReview,
            Outcome::NeedsClarification => Self::NeedsClarification,
            Outcome::Skipped => Self::Skipped,
            Outcome::Unknown => Self::Unknown,
        }
    }
}

impl From<Wait> for WaitWord {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::Timer => Self::Timer,
            Wait::Person => Self::Person,
        }
    }
}

impl From<GateKind> for GateKindWord {
    fn from(kind: GateKind) -> Self {
        match kind {
            GateKind::Blocking => Self::Blocking,
            GateKind::Advisory => Self::Advisory,
            GateKind::Automatic => Self::Automatic,
        }
    }
}

/// The values of a comma-separated list, each read by `parse`.
pub(super) fn words<T>(
    name: &str,
    list: Option<&str>,
    known: &[&str],
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, ApiProblem> {
    let read = |word: &str| {
        parse(word).ok_or_else(|| {
            let message = format!("`{name}` has no `{word}`; it has {}", known.join(", "));
            ApiProblem::malformed("unknown_word", message)
        })
    };
    list.into_iter().flat_map(|it| it.split(',')).map(read).collect()
}

pub(super) fn outcome(word: &str) -> Result<Outcome, ApiProblem> {
    Outcome::parse(word).ok_or_else(|| {
        let known: Vec<&str> = Outcome::CLAIMABLE.iter().map(|it| it.name()).collect();
        let message = format!("there is no outcome `{word}`; there are {}", known.join(", "));
        ApiProblem::malformed("unknown_outcome", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_people_is_the_word_for_programs() {
        for state in HandoffState::ALL {
            let word = StateWord::from(state);
            assert_eq!(word.name(), state.name());
            assert_eq!(word.is_open(), state.is_open());
            assert_eq!(serde_json::to_value(word).unwrap(), state.name());
        }
        for outcome in Outcome::CLAIMABLE.into_iter().chain([Outcome::Unknown]) {
            assert_eq!(OutcomeWord::from(outcome).name(), outcome.name());
        }
        for status in ["open", "paused", "completed", "cancelled"] {
            let word = StatusWord::from(RunStatus::parse(status).unwrap());
            assert_eq!(word.name(), status);
            assert_eq!(serde_json::to_value(word).unwrap(), status);
        }
    }
}

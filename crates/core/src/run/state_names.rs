//! One name for each state: in the store, on the wire, on the screen.

use super::{Baton, Ended, HandoffState, Kind, RunStatus, State, Wait};

impl RunStatus {
    pub const ALL: [Self; 4] = [Self::Open, Self::Paused, Self::Completed, Self::Cancelled];

    /// In progress, paused or not.
    pub fn is_open(self) -> bool {
        matches!(self, RunStatus::Open | RunStatus::Paused)
    }

    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Open => "open",
            RunStatus::Paused => "paused",
            RunStatus::Completed => "completed",
            RunStatus::Cancelled => "cancelled",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl Kind {
    pub const ALL: [Self; 5] =
        [Self::Sequential, Self::Delegation, Self::Escalation, Self::Return, Self::Question];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Sequential => "sequential",
            Kind::Delegation => "delegation",
            Kind::Escalation => "escalation",
            Kind::Return => "return",
            Kind::Question => "question",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Clarification => "clarification",
            State::Accepted => "accepted",
            State::Parked => "parked",
        }
    }
}

impl Ended {
    pub fn name(self) -> &'static str {
        match self {
            Ended::Completed => "completed",
            Ended::Rejected => "rejected",
            Ended::TimedOut => "timed_out",
            Ended::Cancelled => "cancelled",
            Ended::Superseded => "superseded",
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
        matches!(self, HandoffState::Open(_))
    }
}

impl Wait {
    pub const ALL: [Self; 2] = [Self::Timer, Self::Person];

    pub fn name(self) -> &'static str {
        match self {
            Wait::Timer => "timer",
            Wait::Person => "person",
        }
    }
}

impl Baton {
    pub fn name(&self) -> &'static str {
        match self {
            Baton::Offered { .. } => "offered",
            Baton::Held { .. } => "held",
            Baton::Parked { .. } => "parked",
            Baton::Loose { .. } => "loose",
            Baton::Done => "done",
        }
    }
}

//! Names of states that are made of others.

use super::{Baton, BatonPlace, Ended, HandoffState, RunStatus, State};

impl RunStatus {
    /// In progress, paused or not.
    pub fn is_open(self) -> bool {
        matches!(self, RunStatus::Open | RunStatus::Paused)
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

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn is_open(self) -> bool {
        matches!(self, HandoffState::Open(_))
    }
}

impl Baton {
    pub fn place(&self) -> BatonPlace {
        match self {
            Baton::Offered { .. } => BatonPlace::Offered,
            Baton::Held { .. } => BatonPlace::Held,
            Baton::Parked { .. } => BatonPlace::Parked,
            Baton::Loose { .. } => BatonPlace::Loose,
            Baton::Done => BatonPlace::Done,
        }
    }

    pub fn name(&self) -> &'static str {
        self.place().name()
    }
}

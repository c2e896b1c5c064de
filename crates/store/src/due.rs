//! When a run has to be checked because of the time alone.
//!
//! `baton_core` computes the time (`due_at`); a store keeps a time that is never later. So an
//! append only reports a time that became earlier, and most appends report none. A sweeper that
//! checks a run too early sets the next time with [`LookAgain`].

use baton_core::run::RunId;
use jiff::Timestamp;

use crate::{TimerRow, Version};

/// What an append does to the time at which its run has to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueChange {
    /// The stored time is early enough, or nothing is due.
    Keep,
    /// Stored where there is no time, or a later one.
    NoLaterThan(Timestamp),
    /// The run is over: it is never checked again.
    Clear,
}

impl DueChange {
    /// For a run that was due at `before` and is due at `after`, by the rules.
    pub fn between(before: Option<Timestamp>, after: Option<Timestamp>, is_finished: bool) -> Self {
        match (before, after) {
            (_, _) if is_finished => Self::Clear,
            // The stored time is not later than `before`.
            (Some(before), Some(after)) if before <= after => Self::Keep,
            (_, Some(after)) => Self::NoLaterThan(after),
            (_, None) => Self::Keep,
        }
    }
}

/// A run that has to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueRow {
    pub due: Timestamp,
    /// Number of the run.
    pub number: u64,
    pub run: RunId,
}

/// A run that was checked: nothing is due in it before `due`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookAgain {
    pub run: RunId,
    /// The version that was checked. If the run has moved since, its stored time is left alone.
    pub version: Version,
    /// `None` where nothing in it depends on the time.
    pub due: Option<Timestamp>,
}

/// The times of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunSchedule {
    /// By handoff.
    pub timers: Vec<TimerRow>,
    /// When it has to be checked.
    pub due: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_time_that_became_earlier_is_told() {
        let at = |second| Some(Timestamp::constant(second, 0));
        let earlier = |second| DueChange::NoLaterThan(Timestamp::constant(second, 0));
        for (before, after, expected) in [
            (None, None, DueChange::Keep),
            (None, at(5), earlier(5)),
            (at(5), None, DueChange::Keep),
            (at(5), at(5), DueChange::Keep),
            (at(5), at(6), DueChange::Keep),
            (at(5), at(4), earlier(4)),
        ] {
            assert_eq!(DueChange::between(before, after, false), expected, "{before:?} {after:?}");
            assert_eq!(DueChange::between(before, after, true), DueChange::Clear);
        }
    }
}

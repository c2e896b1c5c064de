//! What has to happen to a handoff at a time, unless something else does first.

use baton_core::run::{Handoff, HandoffNo};
use baton_store::{TimerChange, TimerKind};
use jiff::{SignedDuration, Timestamp};

/// What an open handoff waits for, where that is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Its holder has to be heard of again and again.
    Lease { fence: u32, seconds: u32 },
    /// It may be taken from then on.
    Wake { at: Timestamp },
}

pub(crate) fn timer(handoff: &Handoff) -> Option<Timer> {
    if let Some(seconds) = handoff.lease {
        return Some(Timer::Lease { fence: handoff.fence, seconds });
    }
    handoff.held_back_until.map(|at| Timer::Wake { at })
}

/// What the store has to be told once the open handoffs are no more those of `before`.
pub(crate) fn changes(before: &[Handoff], after: &[Handoff], at: Timestamp) -> Vec<TimerChange> {
    let had = |no: HandoffNo| before.iter().find(|it| it.no == no).and_then(timer);
    let has = |no: HandoffNo| after.iter().find(|it| it.no == no).and_then(timer);
    let set = after.iter().filter_map(|it| {
        let timer = timer(it).filter(|timer| had(it.no) != Some(*timer))?;
        Some(TimerChange::Set { no: it.no, what: timer.kind(), due: timer.due(at) })
    });
    let gone = before.iter().map(|it| it.no).filter(|no| had(*no).is_some() && has(*no).is_none());
    set.chain(gone.map(|no| TimerChange::Clear { no })).collect()
}

/// When a holder that was heard of at `at` is taken for dead, if it says no more.
pub(crate) fn silent_until(at: Timestamp, seconds: u32) -> Timestamp {
    at.saturating_add(SignedDuration::from_secs(seconds.into())).unwrap_or(Timestamp::MAX)
}

impl Timer {
    pub(crate) fn kind(self) -> TimerKind {
        match self {
            Timer::Lease { fence, seconds } => TimerKind::Lease { fence, seconds },
            Timer::Wake { .. } => TimerKind::Wake,
        }
    }

    /// True of what a store may have kept for it. When a lease ends, it alone knows.
    pub(crate) fn is(self, what: TimerKind, due: Timestamp) -> bool {
        let is_at_its_time = match self {
            Timer::Lease { .. } => true,
            Timer::Wake { at } => at == due,
        };
        self.kind() == what && is_at_its_time
    }

    pub(crate) fn due(self, now: Timestamp) -> Timestamp {
        match self {
            Timer::Lease { seconds, .. } => silent_until(now, seconds),
            Timer::Wake { at } => at,
        }
    }
}

//! The timers of handoffs: what happens at a given time unless a command comes first.

use baton_core::run::{Handoff, HandoffNo};
use baton_store::{TimerChange, TimerKind};
use jiff::{SignedDuration, Timestamp};

/// The timer of an open handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Its holder has to send heartbeats.
    Lease { fence: u32, seconds: u32 },
    /// It can be accepted from then on.
    Wake { at: Timestamp },
}

pub(crate) fn timer(handoff: &Handoff) -> Option<Timer> {
    if let Some(seconds) = handoff.lease {
        return Some(Timer::Lease { fence: handoff.fence, seconds });
    }
    handoff.held_back_until.map(|at| Timer::Wake { at })
}

/// The timer changes to store when the open handoffs change from `before` to `after`.
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

/// When a holder whose last heartbeat was at `at` is considered dead.
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

    /// Whether a stored timer matches. The end of a lease is known to the store alone.
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

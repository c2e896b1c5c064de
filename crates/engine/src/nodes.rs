//! What an engine needs besides where other processes, its fellow nodes, use the same store
//! (ADR 0040). Nothing here is the truth: that is in the store.

mod keeping_time;
mod known_leases;
mod renewals;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_core::run::{HandoffNo, RunId};
use baton_store::{TimerKind, TimerRow};
use jiff::{SignedDuration, Timestamp};

pub(crate) use self::keeping_time::KeepingTime;
pub(crate) use self::known_leases::{KnownLease, KnownLeases};
pub(crate) use self::renewals::Renewals;
use crate::timers::silent_until;

/// The name of the lock under which timers are handled, and late heartbeats are confirmed.
pub(crate) const TIMERS: &str = "timers";

/// By how much the clocks of two nodes may differ: a lease is ended so much later than it says.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_millis(500);

#[derive(Default)]
pub(crate) struct Nodes {
    pub(crate) leases: KnownLeases,
    pub(crate) renewals: Renewals,
    pub(crate) time: KeepingTime,
    /// Timers that could not be handled, and when to try again.
    put_aside: Mutex<HashMap<(RunId, HandoffNo), (TimerKind, Timestamp)>>,
}

impl Nodes {
    /// Whether this node may handle a timer of the store now. A lease only if a heartbeat could have
    /// arrived for a whole period: time in which no node listened is not the holder's fault.
    pub(crate) fn may_handle(&self, timer: &TimerRow, now: Timestamp) -> bool {
        let aside = self.lock().get(&(timer.run, timer.no)).copied();
        if aside.is_some_and(|(what, until)| what == timer.what && now < until) {
            return false;
        }
        match timer.what {
            TimerKind::Wake => timer.due <= now,
            TimerKind::Lease { seconds, .. } => {
                let heard_until = match self.time.since() {
                    Some(since) => timer.due.max(silent_until(since, seconds)),
                    // A process that does not keep time leaves leases to those that do, if any.
                    None => silent_until(timer.due, seconds),
                };
                heard_until.saturating_add(CLOCKS_DIFFER).unwrap_or(heard_until) <= now
            }
        }
    }

    /// This timer cannot be handled before `until`.
    pub(crate) fn put_aside(&self, timer: &TimerRow, until: Timestamp, now: Timestamp) {
        let mut aside = self.lock();
        aside.retain(|_, (_, until)| now < *until);
        aside.insert((timer.run, timer.no), (timer.what, until));
    }

    /// Every change is completed under the lock, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<(RunId, HandoffNo), (TimerKind, Timestamp)>> {
        self.put_aside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

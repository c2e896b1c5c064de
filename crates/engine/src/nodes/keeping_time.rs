//! Since when this node has kept time without a break: awake, and with a store that answers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// A tick that is later than this means that the process was suspended.
const ASLEEP: SignedDuration = SignedDuration::from_secs(5);

/// Empty while no timekeeper runs.
#[derive(Default)]
pub(crate) struct KeepingTime(Mutex<Option<KeptSince>>);

#[derive(Clone, Copy)]
struct KeptSince {
    since: Timestamp,
    next_tick: Timestamp,
}

impl KeepingTime {
    pub(crate) fn start(&self, now: Timestamp, next_tick: Timestamp) {
        *self.lock() = Some(KeptSince { since: now, next_tick });
    }

    pub(crate) fn stop(&self) {
        *self.lock() = None;
    }

    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.lock().map(|it| it.since)
    }

    /// Begins anew where the last tick is so long ago that the process was suspended, or the clock was
    /// set; true then.
    pub(crate) fn notice_sleep(&self, now: Timestamp) -> bool {
        let mut kept = self.lock();
        let Some(kept) = kept.as_mut() else { return false };
        let was_asleep = now.duration_since(kept.next_tick).abs() > ASLEEP;
        if was_asleep {
            kept.since = now;
        }
        was_asleep
    }

    /// The store did not answer: no heartbeat could be written.
    pub(crate) fn interrupt(&self, now: Timestamp) {
        if let Some(kept) = self.lock().as_mut() {
            kept.since = now;
        }
    }

    pub(crate) fn expect_tick(&self, at: Timestamp) {
        if let Some(kept) = self.lock().as_mut() {
            kept.next_tick = at;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<KeptSince>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

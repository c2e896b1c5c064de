//! Leases and other timers in memory, the earliest first.
//!
//! The store has them too: each is written in the transaction of the append that starts or ends it.
//! Only lease renewals are written later, in batches, because every live holder renews every few
//! seconds. A crash loses about a second of renewals, and after a restart every lease gets a full
//! period more (ADR 0009).

mod table;

use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_core::run::{HandoffNo, RunId};
use baton_store::{LeaseRenewal, TimerChange, TimerKind, TimerRow, Version};
use jiff::{SignedDuration, Timestamp};

use self::table::{LeaseTable, Running};
use crate::timers::silent_until;

/// How often renewals are written.
const WRITTEN_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// A tick that is later than this means that the process was suspended.
const ASLEEP: SignedDuration = SignedDuration::from_secs(5);

pub(crate) struct Leases {
    kept: Mutex<LeaseTable>,
}

/// The result of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeartbeatResult {
    Until(Timestamp),
    /// The lease is being ended right now.
    TooLate,
    /// No lease with that fencing token is in memory.
    Unknown,
}

/// A timer that is due. It belongs to the caller that took it, which marks it done or puts it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueTimer {
    pub(crate) run: RunId,
    pub(crate) no: HandoffNo,
    pub(crate) what: TimerKind,
}

/// Due timers that are being handled. Those left when this is dropped become due again.
pub(crate) struct InHand<'a> {
    leases: &'a Leases,
    pub(crate) due: Vec<DueTimer>,
    now: Timestamp,
}

/// Timer changes that the store has not confirmed yet; see [`Leases::expect_changes`].
pub(crate) struct PendingTimerChange<'a> {
    leases: Option<&'a Leases>,
    run: RunId,
    changes: Vec<TimerChange>,
}

impl Leases {
    /// Starts without the timers in the store: they are loaded as they fall due, or all at once by
    /// [`Leases::load`].
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { kept: Mutex::new(LeaseTable::new(now)) }
    }

    /// Loads the timers of the store, every lease with a full period from `now`. Timers that this
    /// memory has, or has seen change, win: the rows may be older.
    pub(crate) fn load(&self, rows: &[TimerRow], now: Timestamp) {
        let mut kept = self.lock();
        for row in rows {
            let key = (row.run, row.no);
            if !kept.timers.contains_key(&key) && !kept.changed.contains(&key) {
                kept.set(key, row.what, row.due);
                if let TimerKind::Lease { seconds, .. } = row.what {
                    kept.put_off(key, silent_until(now, seconds));
                }
            }
        }
    }

    /// For an append that changes timers. If its caller is cancelled before the store answers, the
    /// next tick reads the timers from the store.
    pub(crate) fn expect_changes(
        &self,
        run: RunId,
        changes: &[TimerChange],
    ) -> PendingTimerChange<'_> {
        let leases = (!changes.is_empty()).then_some(self);
        PendingTimerChange { leases, run, changes: changes.to_vec() }
    }

    /// Marks these timers as unconfirmed: the next tick reads them from the store.
    pub(crate) fn doubt(&self, keys: impl IntoIterator<Item = (RunId, HandoffNo)>) {
        self.lock().doubted.extend(keys);
    }

    /// Takes the unconfirmed timers, to read them from the store.
    pub(crate) fn take_doubted(&self) -> Vec<(RunId, HandoffNo)> {
        self.lock().doubted.drain().collect()
    }

    /// True while a timekeeper runs, so that all timers are in memory.
    pub(crate) fn keeps_time(&self) -> bool {
        self.lock().next_tick.is_some()
    }

    pub(crate) fn lacks(&self, row: &TimerRow) -> bool {
        let kept = self.lock();
        kept.timers.get(&(row.run, row.no)).is_none_or(|it| it.what != row.what)
    }

    /// Applies the timer changes of an append. Replies may arrive out of order: the newest version
    /// wins.
    fn change(&self, run: RunId, version: Version, changes: &[TimerChange]) {
        let mut kept = self.lock();
        for change in changes {
            let key = (run, change.no());
            if kept.is_news(key, version) {
                match *change {
                    TimerChange::Set { what, due, .. } => kept.set(key, what, due),
                    TimerChange::Clear { .. } => kept.clear(key),
                }
            }
        }
    }

    /// Adds a timer of the store that this memory does not have; false where the memory is newer.
    pub(crate) fn learn(&self, row: &TimerRow, version: Version) -> bool {
        let key = (row.run, row.no);
        let mut kept = self.lock();
        let is_news = kept.is_news(key, version);
        if is_news {
            kept.set(key, row.what, row.due);
        }
        is_news
    }

    /// The run has no such timer at this version.
    pub(crate) fn unlearn(&self, run: RunId, no: HandoffNo, version: Version) {
        let mut kept = self.lock();
        if kept.is_news((run, no), version) {
            kept.clear((run, no));
        }
    }

    /// A heartbeat with this fencing token: renews the lease for a full period from now.
    pub(crate) fn hear(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
        now: Timestamp,
    ) -> HeartbeatResult {
        let mut kept = self.lock();
        let key = (run, no);
        match kept.timers.get(&key) {
            Some(Running { what: TimerKind::Lease { fence: it, seconds }, is_in_hand, .. })
                if *it == fence =>
            {
                if *is_in_hand {
                    return HeartbeatResult::TooLate;
                }
                let due = silent_until(now, *seconds);
                kept.put_off(key, due);
                HeartbeatResult::Until(due)
            }
            Some(_) | None => HeartbeatResult::Unknown,
        }
    }

    /// Takes all due timers, the earliest first. No heartbeat affects them until released.
    pub(crate) fn take_due(&self, now: Timestamp) -> InHand<'_> {
        let mut kept = self.lock();
        let mut due = Vec::new();
        while let Some(first) = kept.by_due.first().copied().filter(|(at, _)| *at <= now) {
            kept.by_due.remove(&first);
            let (_, (run, no)) = first;
            if let Some(timer) = kept.timers.get_mut(&(run, no)) {
                timer.is_in_hand = true;
                due.push(DueTimer { run, no, what: timer.what });
            }
        }
        InHand { leases: self, due, now }
    }

    /// It could not be handled now: it is due again at `at`.
    pub(crate) fn put_back(&self, due: DueTimer, at: Timestamp) {
        let mut kept = self.lock();
        if kept.has_in_hand(due) {
            kept.set((due.run, due.no), due.what, at);
        }
    }

    /// Nothing is left to do for it.
    pub(crate) fn done_with(&self, due: DueTimer) {
        let mut kept = self.lock();
        if kept.has_in_hand(due) {
            kept.clear((due.run, due.no));
        }
    }

    /// A timekeeper ticks from now on. Heartbeats could not arrive before, so every lease gets a
    /// full period more.
    pub(crate) fn keep_time(&self, now: Timestamp, next_tick: Timestamp) {
        let mut kept = self.lock();
        kept.next_tick = Some(next_tick);
        kept.give_more_time(now);
    }

    pub(crate) fn stop_keeping_time(&self) {
        self.lock().next_tick = None;
    }

    /// If ticks of the timekeeper stopped for long, the process was suspended or the clock was set:
    /// the holders are not at fault, and every lease gets a full period more.
    pub(crate) fn forgive_sleep(&self, now: Timestamp) -> bool {
        let mut kept = self.lock();
        let Some(expected) = kept.next_tick else { return false };
        let was_asleep = now.duration_since(expected).abs() > ASLEEP;
        if was_asleep {
            kept.give_more_time(now);
        }
        was_asleep
    }

    pub(crate) fn expect_tick(&self, at: Timestamp) {
        let mut kept = self.lock();
        if kept.next_tick.is_some() {
            kept.next_tick = Some(at);
        }
    }

    /// The renewals to write now; none if the last write was recent.
    pub(crate) fn take_unwritten(&self, now: Timestamp) -> Vec<LeaseRenewal> {
        let mut kept = self.lock();
        if now.duration_since(kept.written_at).abs() < WRITTEN_EVERY {
            return Vec::new();
        }
        kept.take_unwritten(now)
    }

    /// All renewals, to write before the store is closed.
    pub(crate) fn take_all_unwritten(&self, now: Timestamp) -> Vec<LeaseRenewal> {
        self.lock().take_unwritten(now)
    }

    /// The write failed; keep these renewals for the next one.
    pub(crate) fn still_unwritten(&self, leases: &[LeaseRenewal]) {
        let mut kept = self.lock();
        let keys = leases.iter().map(|it| (it.run, it.no));
        kept.unwritten.extend(keys);
    }

    /// Every change is completed under the lock, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, LeaseTable> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        for due in &self.due {
            self.leases.put_back(*due, self.now);
        }
    }
}

impl PendingTimerChange<'_> {
    pub(crate) fn appended(mut self, version: Version) {
        if let Some(leases) = self.leases.take() {
            leases.change(self.run, version, &self.changes);
        }
    }

    pub(crate) fn not_appended(mut self) {
        self.leases = None;
    }
}

impl Drop for PendingTimerChange<'_> {
    fn drop(&mut self) {
        if let Some(leases) = self.leases {
            leases.doubt(self.changes.iter().map(|it| (self.run, it.no())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_750_000_000, 0);
    const SECOND: SignedDuration = SignedDuration::from_secs(1);
    const RUN: RunId = RunId(uuid::Uuid::from_u128(1));
    const NO: HandoffNo = HandoffNo(1);

    fn none() -> Leases {
        Leases::new(NOW)
    }

    fn set(fence: u32) -> TimerChange {
        let what = TimerKind::Lease { fence, seconds: 20 };
        TimerChange::Set { no: NO, what, due: NOW + SECOND * 20 }
    }

    fn append(leases: &Leases, version: u64, change: TimerChange) {
        leases.expect_changes(RUN, &[change]).appended(Version(version));
    }

    fn n_due(leases: &Leases, now: Timestamp) -> usize {
        leases.take_due(now).due.len()
    }

    #[test]
    fn a_reply_that_was_overtaken_changes_nothing() {
        let leases = none();
        append(&leases, 6, TimerChange::Clear { no: NO });
        append(&leases, 5, set(1));
        assert_eq!(leases.hear(RUN, NO, 1, NOW), HeartbeatResult::Unknown);
        append(&leases, 8, set(3));
        append(&leases, 7, set(2));
        assert_eq!(leases.hear(RUN, NO, 2, NOW), HeartbeatResult::Unknown);
        assert_eq!(leases.hear(RUN, NO, 3, NOW), HeartbeatResult::Until(NOW + SECOND * 20));
        assert_eq!(n_due(&leases, NOW + SECOND * 20), 1);
    }

    #[test]
    fn an_old_reading_of_the_store_brings_nothing_back() {
        let leases = none();
        append(&leases, 6, TimerChange::Clear { no: NO });
        let what = TimerKind::Lease { fence: 1, seconds: 20 };
        let row = TimerRow { run: RUN, no: NO, what, due: NOW };
        leases.learn(&row, Version(5));
        assert!(leases.lacks(&row));
        leases.learn(&row, Version(7));
        assert!(!leases.lacks(&row));
    }

    #[test]
    fn what_is_in_hand_is_heard_of_no_more_until_it_is_let_go() {
        let leases = none();
        append(&leases, 1, set(1));
        let later = NOW + SECOND * 20;
        let in_hand = leases.take_due(later);
        assert_eq!(in_hand.due.len(), 1);
        assert_eq!(leases.hear(RUN, NO, 1, later), HeartbeatResult::TooLate);
        assert_eq!(n_due(&leases, later), 0, "no other caller takes it meanwhile");
        // The handler was cancelled half-way.
        drop(in_hand);
        assert_eq!(n_due(&leases, later), 1);
        assert_eq!(leases.hear(RUN, NO, 1, later), HeartbeatResult::Until(later + SECOND * 20));

        let in_hand = leases.take_due(later + SECOND * 20);
        leases.done_with(in_hand.due[0]);
        drop(in_hand);
        assert_eq!(leases.hear(RUN, NO, 1, later), HeartbeatResult::Unknown);
    }

    #[test]
    fn what_is_set_anew_while_it_is_in_hand_stays() {
        let leases = none();
        append(&leases, 1, set(1));
        let in_hand = leases.take_due(NOW + SECOND * 20);
        append(&leases, 2, set(2));
        leases.done_with(in_hand.due[0]);
        drop(in_hand);
        assert_eq!(leases.hear(RUN, NO, 2, NOW), HeartbeatResult::Until(NOW + SECOND * 20));
    }

    #[test]
    fn what_could_not_be_written_is_written_next_time() {
        let leases = none();
        append(&leases, 1, set(1));
        leases.hear(RUN, NO, 1, NOW + SECOND);
        let first = leases.take_unwritten(NOW + SECOND);
        assert_eq!(first.len(), 1);
        leases.still_unwritten(&first);
        leases.hear(RUN, NO, 1, NOW + SECOND * 3);
        let again = leases.take_unwritten(NOW + SECOND * 3);
        assert_eq!(again, [LeaseRenewal { due: NOW + SECOND * 23, ..first[0] }]);
        leases.still_unwritten(&again);
        append(&leases, 2, TimerChange::Clear { no: NO });
        assert_eq!(leases.take_all_unwritten(NOW), []);
    }

    #[test]
    fn only_an_append_that_nobody_waited_for_leaves_a_doubt() {
        let leases = none();
        append(&leases, 1, set(1));
        leases.expect_changes(RUN, &[set(2)]).not_appended();
        drop(leases.expect_changes(RUN, &[]));
        assert_eq!(leases.take_doubted(), []);
        drop(leases.expect_changes(RUN, &[set(2)]));
        assert_eq!(leases.take_doubted(), [(RUN, NO)]);
        assert_eq!(leases.take_doubted(), []);
    }

    #[test]
    fn what_is_loaded_changes_nothing_that_is_known_better() {
        let leases = none();
        let row = |no| {
            let what = TimerKind::Lease { fence: 1, seconds: 20 };
            TimerRow { run: RUN, no: HandoffNo(no), what, due: NOW }
        };
        append(&leases, 2, set(7));
        append(&leases, 3, TimerChange::Clear { no: HandoffNo(2) });
        leases.load(&[row(1), row(2), row(3)], NOW);
        assert!(leases.lacks(&row(1)), "it has another fence by now");
        assert!(leases.lacks(&row(2)), "it is gone by now");
        assert!(!leases.lacks(&row(3)));
    }
}

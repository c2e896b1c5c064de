//! The table of timers. A renewal is in memory before it is in the store.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;

use baton_core::run::{HandoffNo, RunId};
use baton_store::{LeaseRenewal, TimerKind, Version};
use jiff::Timestamp;
use lru::LruCache;

use super::DueTimer;
use crate::timers::silent_until;

/// Only needed for replies that arrive out of order, and those are microseconds apart.
const MOST_CHANGES: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

type Key = (RunId, HandoffNo);

/// The timers, by handoff and by due time.
pub(super) struct LeaseTable {
    pub(super) timers: HashMap<Key, Running>,
    /// The same timers ordered by due time, without those in hand.
    pub(super) by_due: BTreeSet<(Timestamp, Key)>,
    /// Leases whose renewal is not in the store yet.
    pub(super) unwritten: HashSet<Key>,
    pub(super) written_at: Timestamp,
    /// When the next tick is expected, while a timekeeper runs.
    pub(super) next_tick: Option<Timestamp>,
    /// The version of its run at which a handoff's timer last changed.
    pub(super) changed: LruCache<Key, Version>,
    /// Timers whose append was not confirmed: the next tick asks the store.
    pub(super) doubted: HashSet<Key>,
}

#[derive(Clone, Copy)]
pub(super) struct Running {
    pub(super) what: TimerKind,
    pub(super) due: Timestamp,
    /// It was due, and is being handled now.
    pub(super) is_in_hand: bool,
}

impl LeaseTable {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            timers: HashMap::new(),
            by_due: BTreeSet::new(),
            unwritten: HashSet::new(),
            written_at: now,
            next_tick: None,
            changed: LruCache::new(MOST_CHANGES),
            doubted: HashSet::new(),
        }
    }

    pub(super) fn set(&mut self, key: Key, what: TimerKind, due: Timestamp) {
        self.clear(key);
        self.timers.insert(key, Running { what, due, is_in_hand: false });
        self.by_due.insert((due, key));
    }

    pub(super) fn clear(&mut self, key: Key) {
        if let Some(before) = self.timers.remove(&key) {
            self.by_due.remove(&(before.due, key));
        }
        self.unwritten.remove(&key);
    }

    pub(super) fn put_off(&mut self, key: Key, due: Timestamp) {
        let Some(timer) = self.timers.get_mut(&key) else { return };
        self.by_due.remove(&(timer.due, key));
        self.by_due.insert((due, key));
        timer.due = due;
        self.unwritten.insert(key);
    }

    pub(super) fn is_news(&mut self, key: Key, version: Version) -> bool {
        let is_news = self.changed.get(&key).is_none_or(|it| *it < version);
        if is_news {
            self.changed.put(key, version);
        }
        is_news
    }

    pub(super) fn has_in_hand(&self, due: DueTimer) -> bool {
        let timer = self.timers.get(&(due.run, due.no));
        timer.is_some_and(|it| it.is_in_hand && it.what == due.what)
    }

    pub(super) fn give_more_time(&mut self, now: Timestamp) {
        let leases = self.timers.iter().filter(|(_, it)| !it.is_in_hand);
        let until: Vec<(Key, Timestamp)> = leases
            .filter_map(|(key, it)| match it.what {
                TimerKind::Lease { seconds, .. } => Some((*key, silent_until(now, seconds))),
                TimerKind::Wake => None,
            })
            .collect();
        for (key, due) in until {
            self.put_off(key, due);
        }
    }

    pub(super) fn take_unwritten(&mut self, now: Timestamp) -> Vec<LeaseRenewal> {
        self.written_at = now;
        let unwritten = std::mem::take(&mut self.unwritten);
        let lease = |(run, no): Key| match self.timers.get(&(run, no))? {
            Running { what: TimerKind::Lease { fence, .. }, due, .. } => {
                Some(LeaseRenewal { run, no, fence: *fence, due: *due })
            }
            Running { what: TimerKind::Wake, .. } => None,
        };
        unwritten.into_iter().filter_map(lease).collect()
    }
}

//! Leases that this node has granted or heard of, so that a heartbeat need not read the run. Any
//! entry may be old: the store refuses to extend a lease that is gone.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_core::run::{HandoffNo, RunId};
use baton_store::{TimerChange, TimerKind};
use jiff::Timestamp;
use lru::LruCache;

const MOST_LEASES: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

type Key = (RunId, HandoffNo);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownLease {
    pub(crate) fence: u32,
    pub(crate) seconds: u32,
    /// In the store it is not earlier: no node ends the lease before.
    pub(crate) due: Timestamp,
}

pub(crate) struct KnownLeases(Mutex<LruCache<Key, KnownLease>>);

impl Default for KnownLeases {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST_LEASES)))
    }
}

impl KnownLeases {
    pub(crate) fn find(&self, run: RunId, no: HandoffNo, fence: u32) -> Option<KnownLease> {
        self.lock().get(&(run, no)).copied().filter(|it| it.fence == fence)
    }

    pub(crate) fn remember(&self, run: RunId, no: HandoffNo, lease: KnownLease) {
        self.lock().put((run, no), lease);
    }

    pub(crate) fn forget(&self, run: RunId, no: HandoffNo) {
        self.lock().pop(&(run, no));
    }

    /// The timer changes of an append of this node.
    pub(crate) fn change(&self, run: RunId, changes: &[TimerChange]) {
        for change in changes {
            match *change {
                TimerChange::Set { no, what: TimerKind::Lease { fence, seconds }, due } => {
                    self.remember(run, no, KnownLease { fence, seconds, due });
                }
                TimerChange::Set { no, what: TimerKind::Wake, .. } | TimerChange::Clear { no } => {
                    self.forget(run, no);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Key, KnownLease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

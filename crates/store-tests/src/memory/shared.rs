//! One in-memory store for several nodes, as several processes use one database: each appends, and
//! an append may be visible in the log later than in its run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use baton_store::{Position, StoreLock};
use tokio::sync::watch;

use super::{MemoryStore, MemoryTables, tables};

/// What the nodes share. Each node is a [`MemoryStore`] that is closed by itself.
pub struct SharedMemory {
    kept: Arc<Mutex<MemoryTables>>,
    nodes: Arc<SharedLog>,
}

#[derive(Debug)]
pub(super) struct SharedLog {
    /// Nothing is added below.
    settled: watch::Sender<Position>,
    /// An older transaction is open: nothing that is appended now settles.
    is_held_back: AtomicBool,
    locks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Default for SharedMemory {
    fn default() -> Self {
        let kept = MemoryTables { is_shared: true, ..MemoryTables::default() };
        let nodes = SharedLog {
            settled: watch::Sender::new(kept.next_position()),
            is_held_back: AtomicBool::new(false),
            locks: Mutex::default(),
        };
        Self { kept: Arc::new(Mutex::new(kept)), nodes: Arc::new(nodes) }
    }
}

impl SharedMemory {
    pub fn node(&self) -> MemoryStore {
        let (kept, nodes) = (self.kept.clone(), Some(self.nodes.clone()));
        MemoryStore { kept, is_closed: AtomicBool::new(false), nodes }
    }

    /// Events that are appended from now on stay out of the log of all runs until
    /// [`SharedMemory::let_go`].
    pub fn hold_back(&self) {
        let _kept = tables(&self.kept);
        self.nodes.is_held_back.store(true, Ordering::Release);
    }

    pub fn let_go(&self) {
        let kept = tables(&self.kept);
        self.nodes.is_held_back.store(false, Ordering::Release);
        self.nodes.settle(&kept);
    }
}

impl SharedLog {
    /// Called with the tables locked.
    pub(super) fn settle(&self, kept: &MemoryTables) {
        if !self.is_held_back.load(Ordering::Acquire) {
            self.settled.send_replace(kept.next_position());
        }
    }

    pub(super) fn has_settled(&self, position: Position) -> bool {
        position < *self.settled.borrow()
    }

    pub(super) fn settled(&self) -> watch::Receiver<Position> {
        self.settled.subscribe()
    }

    pub(super) async fn lock(&self, name: &str) -> StoreLock {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.entry(name.to_owned()).or_default().clone()
        };
        StoreLock::until_dropped(lock.lock_owned().await)
    }
}

//! A pool of read-only connections. A query is one statement, so no reader delays a checkpoint for
//! longer than that.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_store::{StoreCheck, StoreError, StoreResult};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connect;
use crate::error::{OpenError, thread_gone, to_store};

const N_CONNECTIONS: u32 = 4;

#[derive(Debug)]
pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    /// One permit per connection; closed with the store.
    free: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_with(|| connect::reading(path))
    }

    pub(crate) fn open_with(
        open: impl Fn() -> Result<Connection, OpenError>,
    ) -> Result<Self, OpenError> {
        let connections: Result<Vec<_>, _> = (0..N_CONNECTIONS).map(|_| open()).collect();
        Ok(Self {
            idle: Arc::new(Mutex::new(connections?)),
            free: Arc::new(Semaphore::new(N_CONNECTIONS as usize)),
        })
    }

    /// Runs `query` on a blocking thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreResult<T> {
        let free = Arc::clone(&self.free);
        let permit = free.acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let idle = Arc::clone(&self.idle);
        // The thread owns the permit: it continues even if the caller stops waiting.
        let read = tokio::task::spawn_blocking(move || {
            let connection = lock(&idle).pop().ok_or_else(thread_gone)?;
            let result = query(&connection);
            lock(&idle).push(connection);
            drop(permit);
            result.map_err(to_store)
        });
        read.await.unwrap_or_else(|_| Err(thread_gone()))
    }

    /// Runs a point query on the current thread, which is faster than waking another one. Queries
    /// that may return many rows go through [`Readers::read`].
    pub(crate) async fn find<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> StoreResult<T> {
        let _permit = self.free.acquire().await.map_err(|_| StoreError::Closed)?;
        let connection = lock(&self.idle).pop().ok_or_else(thread_gone)?;
        let result = query(&connection);
        lock(&self.idle).push(connection);
        result.map_err(to_store)
    }

    /// Every problem with the file that `check` finds.
    pub(crate) async fn check(
        &self,
        check: fn(&Connection) -> rusqlite::Result<StoreCheck>,
    ) -> StoreResult<StoreCheck> {
        match self.read(check).await {
            // Too damaged to be read through is a result too.
            Err(StoreError::Damaged { what }) => Ok(vec![what].into()),
            Ok(problems) => Ok(problems),
            Err(
                error @ (StoreError::Unavailable(_)
                | StoreError::Unwritable(_)
                | StoreError::Closed
                | StoreError::Nul),
            ) => Err(error),
        }
    }

    /// Waits for running queries, then closes every connection.
    pub(crate) async fn close(&self) {
        if let Ok(_all) = self.free.acquire_many(N_CONNECTIONS).await {
            self.free.close();
            lock(&self.idle).clear();
        }
    }
}

/// A connection is in the list or in use, never half in it, so a poisoned lock is still good.
fn lock(idle: &Mutex<Vec<Connection>>) -> MutexGuard<'_, Vec<Connection>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

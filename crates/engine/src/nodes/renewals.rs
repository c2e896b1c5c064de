//! Writes lease renewals before they are answered, those that come at the same time together: while
//! one transaction is under way, the others gather for the next.

use std::sync::{Mutex, PoisonError};

use baton_store::{LeaseRenewal, Store, StoreError, TimerKind};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

/// How many renewals share a transaction: a few milliseconds of the store's time.
const MOST_AT_ONCE: usize = 1000;

#[derive(Default)]
pub(crate) struct Renewals {
    waiting: Mutex<Vec<WaitingRenewal>>,
    turn: tokio::sync::Mutex<()>,
}

struct WaitingRenewal {
    renewal: LeaseRenewal,
    /// True where the lease was there, and is extended.
    answer: oneshot::Sender<Result<bool, StoreError>>,
}

impl Renewals {
    /// Extends a lease in the store; false where it is gone.
    pub(crate) async fn write(
        &self,
        store: &dyn Store,
        renewal: LeaseRenewal,
    ) -> Result<bool, StoreError> {
        loop {
            let (answer, mut written) = oneshot::channel();
            self.push(WaitingRenewal { renewal, answer });
            let _turn = self.turn.lock().await;
            match written.try_recv() {
                Ok(written) => return written,
                // The caller that wrote this one was cancelled.
                Err(TryRecvError::Closed) => continue,
                Err(TryRecvError::Empty) => {}
            }
            write_all(store, self.take()).await;
            if let Ok(written) = written.try_recv() {
                return written;
            }
        }
    }

    fn push(&self, waiting: WaitingRenewal) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(waiting);
    }

    fn take(&self) -> Vec<WaitingRenewal> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn write_all(store: &dyn Store, mut waiting: Vec<WaitingRenewal>) {
    // In one order on all nodes, so that no two of them wait for each other's rows; the latest of
    // several for one lease.
    let order = |it: &LeaseRenewal| (it.run, it.no, it.fence);
    waiting.sort_by_key(|it| (order(&it.renewal), it.renewal.due));
    let mut latest: Vec<LeaseRenewal> = Vec::with_capacity(waiting.len());
    for it in &waiting {
        match latest.last_mut() {
            Some(last) if order(last) == order(&it.renewal) => *last = it.renewal,
            Some(_) | None => latest.push(it.renewal),
        }
    }
    let mut waiting = waiting.into_iter().peekable();
    for part in latest.chunks(MOST_AT_ONCE) {
        let n_written = store.put_off(part).await;
        for renewal in part {
            let result = match &n_written {
                Ok(n) if *n == part.len() as u64 => Ok(true),
                // Some of them are gone.
                Ok(_) => is_in_store(store, renewal).await,
                Err(error) => Err(again(error)),
            };
            while let Some(it) = waiting.next_if(|it| order(&it.renewal) == order(renewal)) {
                let result = match &result {
                    Ok(is_written) => Ok(*is_written),
                    Err(error) => Err(again(error)),
                };
                // A caller that has stopped waiting gets no answer.
                let _ = it.answer.send(result);
            }
        }
    }
}

async fn is_in_store(store: &dyn Store, renewal: &LeaseRenewal) -> Result<bool, StoreError> {
    let timers = store.schedule(renewal.run).await?.timers;
    Ok(timers.iter().any(|it| {
        let is_it = matches!(it.what, TimerKind::Lease { fence, .. } if fence == renewal.fence);
        it.no == renewal.no && is_it && it.due >= renewal.due
    }))
}

/// The same error for another caller.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Closed => StoreError::Closed,
        StoreError::Unwritable(fault) => StoreError::Unwritable(fault.clone()),
        StoreError::Damaged { what } => StoreError::Damaged { what: what.clone() },
        StoreError::Nul => StoreError::Nul,
        StoreError::Unavailable(cause) => StoreError::Unavailable(cause.to_string().into()),
    }
}

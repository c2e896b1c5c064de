//! One agent at a time in a workspace: the next attempt of a run waits for the end of the one before it,
//! which is cut short.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedMutexGuard, watch};
use uuid::Uuid;

/// The turns of all runs.
#[derive(Default)]
pub(crate) struct RunTurns {
    turns: Mutex<HashMap<Uuid, Arc<RunTurn>>>,
}

/// Who is at work in the workspace of a run.
pub(crate) struct RunTurn {
    busy: Arc<tokio::sync::Mutex<()>>,
    /// How many attempts wait for their turn.
    n_waiting: watch::Sender<usize>,
}

impl RunTurns {
    pub(crate) fn of(&self, run: Uuid) -> Arc<RunTurn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        // A turn that only this map knows is over.
        turns.retain(|it, turn| *it == run || Arc::strong_count(turn) > 1);
        let new = || Arc::new(RunTurn { busy: Arc::default(), n_waiting: watch::Sender::new(0) });
        turns.entry(run).or_insert_with(new).clone()
    }
}

impl RunTurn {
    /// Waits until no other attempt is at work.
    pub(crate) async fn begin(&self) -> OwnedMutexGuard<()> {
        self.n_waiting.send_modify(|it| *it += 1);
        let guard = self.busy.clone().lock_owned().await;
        self.n_waiting.send_modify(|it| *it -= 1);
        guard
    }

    /// Waits until another attempt wants the turn: the work has moved on.
    pub(crate) async fn is_wanted(&self) {
        let mut waiting = self.n_waiting.subscribe();
        if waiting.wait_for(|it| *it > 0).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

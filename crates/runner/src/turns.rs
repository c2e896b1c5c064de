//! One agent at a time in a workspace: the next attempt of a run waits for the end of the one before it,
//! which is cut short. And no more agents, and programs of an executor, at once than their limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use baton_wire::project_file::runner::RunnerSettings;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, watch};
use uuid::Uuid;

/// How many agents may be at work at the same time. One that waits for its turn is not at work.
pub(crate) struct AgentSlots(Arc<Semaphore>);

/// Held while an agent is at work.
pub(crate) struct AgentSlot(Option<OwnedSemaphorePermit>);

impl AgentSlots {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most)))
    }

    /// A slot, if one is free now.
    pub(crate) fn try_begin(&self) -> Option<AgentSlot> {
        self.0.clone().try_acquire_owned().ok().map(|it| AgentSlot(Some(it)))
    }

    pub(crate) async fn begin(&self) -> AgentSlot {
        AgentSlot(self.0.clone().acquire_owned().await.ok())
    }

    /// Waits until a slot is free, and leaves it so.
    pub(crate) async fn is_one_free(&self) {
        let _ = self.0.acquire().await;
    }
}

impl AgentSlot {
    /// Gives the slot back until the turn has come.
    pub(crate) async fn take_turn(
        &mut self,
        turn: &RunTurn,
        slots: &AgentSlots,
    ) -> OwnedMutexGuard<()> {
        if let Ok(now) = turn.busy.clone().try_lock_owned() {
            return now;
        }
        self.0 = None;
        let guard = turn.begin().await;
        *self = slots.begin().await;
        guard
    }
}

/// How many programs each executor may still start.
pub(crate) struct ExecutorPermits(HashMap<String, Arc<Semaphore>>);

impl ExecutorPermits {
    pub(crate) fn new(settings: &RunnerSettings) -> Self {
        let limited =
            settings.executors.iter().filter_map(|it| Some((it.name.clone(), it.at_once?)));
        Self(limited.map(|(name, most)| (name, Arc::new(Semaphore::new(most)))).collect())
    }

    /// Waits until the executor may start one more; `None` where it has no limit.
    pub(crate) async fn begin(&self, executor: &str) -> Option<OwnedSemaphorePermit> {
        self.0.get(executor)?.clone().acquire_owned().await.ok()
    }
}

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

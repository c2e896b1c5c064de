//! What only time brings about: handoffs become stale, old answers are forgotten.
//!
//! Pages through everything that is due, by number: a page full of what cannot be moved never
//! hides what comes after it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::command::Command;
use baton_core::decide::stale_at;
use baton_core::names::Principal;
use baton_core::run::State;
use baton_store::{HandoffFilter, HandoffRow, HandoffState, StoreError};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Caller, Engine, EngineError};

const PAGE: u32 = 200;
const EVERY: Duration = Duration::from_secs(30);
/// Nothing is looked at that has moved since: no workflow is so impatient.
const LEAST: SignedDuration = SignedDuration::from_mins(1);
/// How long an answer can be asked for again.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// What one sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub n_stale: u32,
    pub n_forgotten: u64,
}

impl Engine {
    /// Does what is due by now.
    pub async fn sweep(&self) -> Result<Swept, EngineError> {
        let now = self.clock.now();
        let n_forgotten = self.store.forget_answered(now - ANSWERS_KEPT).await?;
        let mut swept = Swept { n_stale: 0, n_forgotten };
        let caller = sweeper();
        let mut after = 0;
        loop {
            let filter = HandoffFilter {
                states: vec![
                    HandoffState::Open(State::Pending),
                    HandoffState::Open(State::Clarification),
                    HandoffState::Open(State::Accepted),
                ],
                is_stale: Some(false),
                unmoved_since: Some(now - LEAST),
                after,
                limit: PAGE,
                ..HandoffFilter::default()
            };
            let page = self.store.handoffs(&filter).await?;
            for row in &page {
                match self.mark_if_due(&caller, row, now).await {
                    Ok(n_marked) => swept.n_stale += n_marked,
                    // Answered meanwhile: all well.
                    Err(EngineError::Refused { .. } | EngineError::Contended) => {}
                    // One run that cannot be read must not hide the others.
                    Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                        let error: &(dyn std::error::Error + 'static) = &error;
                        tracing::warn!(error, run = %row.run, "a run cannot be swept");
                    }
                    Err(error) => return Err(error),
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = last.number,
                Some(_) | None => return Ok(swept),
            }
        }
    }

    async fn mark_if_due(
        &self,
        caller: &Caller,
        row: &HandoffRow,
        now: Timestamp,
    ) -> Result<u32, EngineError> {
        if !self.is_due(row, now).await? {
            return Ok(0);
        }
        self.on_run(caller, row.run, Command::MarkStale { handoff: row.no }).await?;
        Ok(1)
    }

    /// Whether the workflow that the run began with says that it has waited too long.
    async fn is_due(&self, row: &HandoffRow, now: Timestamp) -> Result<bool, EngineError> {
        let (loaded, _) = self.load(row.run).await?;
        let handoff = loaded.run.handoff(row.no);
        let due = handoff.and_then(|it| stale_at(&loaded.workflow, it));
        Ok(due.is_some_and(|it| it <= now))
    }
}

/// Sweeps twice a minute until it is stopped.
pub struct Sweeper {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Sweeper {
    pub fn start(engine: Arc<Engine>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = stopped.wait_for(|it| *it) => return,
                    _ = ticks.tick() => {}
                }
                match engine.sweep().await {
                    Ok(_) => {}
                    Err(EngineError::Closing) => return,
                    Err(error) => {
                        let error: &(dyn std::error::Error + 'static) = &error;
                        tracing::warn!(error, "a sweep failed; the next one tries again");
                    }
                }
            }
        });
        Self { stop, task }
    }

    /// Lets the sweep under way finish.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // A panic in it has been reported by the runtime.
        let _ = self.task.await;
    }
}

fn sweeper() -> Caller {
    match Principal::parse("baton:sweeper") {
        Ok(principal) => Caller::new(principal),
        Err(error) => unreachable!("a constant name is a name: {error}"),
    }
}

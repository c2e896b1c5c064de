//! What only time brings about, and need not be there to the second: handoffs become stale or
//! expire, old answers are forgotten.
//!
//! Pages through everything that is due, by number: a page full of what cannot be moved never
//! hides what comes after it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::command::Command;
use baton_core::decide::{expires_at, stale_at};
use baton_core::run::State;
use baton_store::{HandoffFilter, HandoffRow, HandoffState, StoreError};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Caller, Engine, EngineError, Ticked};

const PAGE: u32 = 200;
const EVERY: Duration = Duration::from_secs(30);
/// How long an answer can be asked for again.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// What one sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub n_stale: u32,
    /// Handoffs that nobody took in the time that their workflow gives.
    pub n_expired: u32,
    pub n_forgotten: u64,
    pub ticked: Ticked,
}

impl Engine {
    /// Does what is due by now, all that a [`Timekeeper`](crate::Timekeeper) does included.
    pub async fn sweep(&self) -> Result<Swept, EngineError> {
        let now = self.clock.now();
        let n_forgotten = self.store.forget_answered(now - ANSWERS_KEPT).await?;
        // Once in a while all is looked at, whoever may have forgotten to tell.
        self.leases.doubt();
        let ticked = self.tick().await?;
        let mut swept = Swept { n_forgotten, ticked, ..Swept::default() };
        let fresh = HandoffFilter {
            states: vec![
                HandoffState::Open(State::Pending),
                HandoffState::Open(State::Clarification),
                HandoffState::Open(State::Accepted),
            ],
            is_stale: Some(false),
            unmoved_since: Some(now),
            ..HandoffFilter::default()
        };
        self.sweep_through(fresh, now, &mut swept).await?;
        // Of those that are marked already only what still waits can be over.
        let stale = HandoffFilter {
            states: vec![HandoffState::Open(State::Pending)],
            is_stale: Some(true),
            ..HandoffFilter::default()
        };
        self.sweep_through(stale, now, &mut swept).await?;
        Ok(swept)
    }

    async fn sweep_through(
        &self,
        mut filter: HandoffFilter,
        now: Timestamp,
        swept: &mut Swept,
    ) -> Result<(), EngineError> {
        filter.limit = PAGE;
        loop {
            let page = self.store.handoffs(&filter).await?;
            for row in &page {
                match self.sweep_one(row, now).await.map_err(EngineError::of_stored_row) {
                    Ok(Some(Due::Stale)) => swept.n_stale += 1,
                    Ok(Some(Due::Expired)) => swept.n_expired += 1,
                    Ok(None) => {}
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
                Some(last) if page.len() == PAGE as usize => filter.after = last.number,
                Some(_) | None => return Ok(()),
            }
        }
    }

    async fn sweep_one(
        &self,
        row: &HandoffRow,
        now: Timestamp,
    ) -> Result<Option<Due>, EngineError> {
        let Some(due) = self.due(row, now).await? else { return Ok(None) };
        let handoff = row.no;
        let command = match due {
            Due::Stale => Command::MarkStale { handoff },
            Due::Expired => Command::Expire { handoff },
        };
        self.on_run(&sweeper(), row.run, command).await?;
        Ok(Some(due))
    }

    /// Whether the workflow that the run began with says that it has waited too long.
    async fn due(&self, row: &HandoffRow, now: Timestamp) -> Result<Option<Due>, EngineError> {
        let (loaded, _) = self.load(row.run).await?;
        let Some(handoff) = loaded.run.handoff(row.no) else { return Ok(None) };
        let is_due = |at: Option<Timestamp>| at.is_some_and(|it| it <= now);
        if is_due(expires_at(&loaded.workflow, handoff)) {
            return Ok(Some(Due::Expired));
        }
        let is_news = !handoff.is_stale && is_due(stale_at(&loaded.workflow, handoff));
        Ok(is_news.then_some(Due::Stale))
    }
}

#[derive(Clone, Copy)]
enum Due {
    Stale,
    Expired,
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
                    // The store has said so when it began, and says when it is over.
                    Err(EngineError::Store(StoreError::Unwritable(_))) => {}
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
    Caller::of_baton("baton:sweeper")
}

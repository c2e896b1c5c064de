//! Time-outs that need no precision to the second: handoffs become stale or expire, and old
//! idempotency records are deleted.
//!
//! The store finds the runs that are due by an index: a sweep costs what is due, not what is open.
//! It reads them in pages, by time: a page full of runs that cannot be moved never hides the ones
//! after it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::collaboration::Collaboration;
use baton_core::command::Command;
use baton_core::decide::{due_at, expires_at, remind_at, stale_at};
use baton_core::run::{Handoff, HandoffNo, Run};
use baton_core::workflow::Workflow;
use baton_store::{DueRow, LookAgain, StoreError};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::{BackgroundTask, Caller, Engine, EngineError, Ticked, jitter};

/// How many runs are processed together; their commands share a commit.
const PAGE: u32 = 64;
/// How many pages a [`Sweeper`] processes per pass, after which it can be stopped.
const PAGES: u32 = 16;
const EVERY: Duration = Duration::from_secs(30);
/// Where other nodes sweep too, the first pass begins within this.
const FIRST: Duration = Duration::from_secs(5);
/// Pause after a pass that left work to do, so that others can write meanwhile.
const SOON: Duration = Duration::from_millis(50);
/// How many runs, leases and idempotency records a process without a [`Sweeper`] handles at most.
const FEW: u32 = 32;
/// How many idempotency records are deleted at once, so that no command waits long behind it.
const MOST_FORGOTTEN: u32 = 1000;
/// How long an idempotency record is kept.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// What one sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub n_stale: u32,
    /// Handoffs that were not accepted within the time-out of their workflow.
    pub n_expired: u32,
    /// Gates of which people were reminded.
    pub n_reminded: u32,
    pub n_forgotten: u64,
    pub ticked: Ticked,
}

/// The limits of a pass.
#[derive(Clone, Copy)]
struct PassLimits {
    /// How many runs make a page.
    page: u32,
    pages: u32,
    answers: u32,
}

/// What one pass did, and where the next one begins.
struct Pass {
    swept: Swept,
    after: Option<DueRow>,
    has_more: bool,
}

impl Engine {
    /// Handles everything that is due now, including all that a [`Timekeeper`](crate::Timekeeper)
    /// does.
    pub async fn sweep(&self) -> Result<Swept, EngineError> {
        let limits = PassLimits { page: PAGE, pages: PAGES, answers: MOST_FORGOTTEN };
        // A due timer that this memory does not have is in the store.
        self.learn_what_is_due(PAGE).await?;
        let mut swept = Swept { ticked: self.tick().await?, ..Swept::default() };
        let mut after = None;
        loop {
            let pass = self.sweep_pass(after.as_ref(), limits).await?;
            swept.add(pass.swept);
            if !pass.has_more {
                return Ok(swept);
            }
            after = pass.after;
        }
    }

    /// One pass of a [`Sweeper`].
    async fn sweep_a_while(&self, after: Option<&DueRow>) -> Result<Pass, EngineError> {
        drop(self.admit().await?);
        self.learn_what_is_due(PAGE).await?;
        let limits = PassLimits { page: PAGE, pages: PAGES, answers: MOST_FORGOTTEN };
        self.sweep_pass(after, limits).await
    }

    /// As [`Engine::sweep`], limited to a small batch, the most overdue first: for a process that
    /// runs one command and ends. While no server runs, each such process does some.
    pub async fn sweep_some(&self) -> Result<Swept, EngineError> {
        self.learn_what_is_due(FEW).await?;
        let ticked = self.tick_once().await?;
        let limits = PassLimits { page: FEW, pages: 1, answers: FEW };
        let pass = self.sweep_pass(None, limits).await?;
        Ok(Swept { ticked, ..pass.swept })
    }

    async fn sweep_pass(
        &self,
        after: Option<&DueRow>,
        limits: PassLimits,
    ) -> Result<Pass, EngineError> {
        let now = self.clock.now();
        let n_forgotten = self.store.forget_answered(now - ANSWERS_KEPT, limits.answers).await?;
        let mut pass = Pass {
            swept: Swept { n_forgotten, ..Swept::default() },
            after: after.copied(),
            has_more: n_forgotten == u64::from(limits.answers),
        };
        for _ in 0..limits.pages {
            let page = self.store.due(now, pass.after.as_ref(), limits.page).await?;
            let mut again = Vec::new();
            for looked in join_all(page.iter().map(|it| self.look_at(it, now))).await {
                let looked = looked?;
                pass.swept.n_stale += looked.n_stale;
                pass.swept.n_expired += looked.n_expired;
                pass.swept.n_reminded += looked.n_reminded;
                again.extend(looked.again);
            }
            if !again.is_empty() {
                self.store.look_again(&again).await?;
            }
            if page.len() < limits.page as usize {
                return Ok(pass);
            }
            pass.after = page.last().copied();
        }
        pass.has_more = true;
        Ok(pass)
    }

    /// Handles what is due in a run, and returns when it is due next.
    async fn look_at(&self, due: &DueRow, now: Timestamp) -> Result<RunSweep, EngineError> {
        match self.look_at_run(due, now).await.map_err(EngineError::of_stored_row) {
            // One unreadable run must not hide the others.
            Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, run = %due.run, "a run cannot be swept");
                Ok(RunSweep::default())
            }
            looked => looked,
        }
    }

    async fn look_at_run(&self, due: &DueRow, now: Timestamp) -> Result<RunSweep, EngineError> {
        let (loaded, _) = self.load_current(due.run).await?;
        let mut looked = RunSweep::default();
        for (no, what) in what_is_due(&loaded.workflow, &loaded.run, now) {
            let (command, n_done) = match what {
                Lateness::Stale => (Command::MarkStale { handoff: no }, &mut looked.n_stale),
                Lateness::Expired => (Command::Expire { handoff: no }, &mut looked.n_expired),
                Lateness::Unanswered => (Command::Remind { gate: no }, &mut looked.n_reminded),
            };
            match self.on_run(&sweeper(), due.run, command).await {
                Ok(_) => *n_done += 1,
                // The handoff was answered meanwhile, so nothing is due.
                Err(EngineError::Refused { .. } | EngineError::Contended) => {}
                Err(error) => return Err(error),
            }
        }
        self.lapse_asks(&loaded.run).await?;
        let (loaded, _) = self.load(due.run).await?;
        let next = due_at(&loaded.workflow, &loaded.run);
        looked.again = Some(LookAgain { run: due.run, version: loaded.version, due: next });
        Ok(looked)
    }
}

impl Engine {
    /// Puts questions between agents again that were not answered in time, or gives them up.
    pub async fn lapse_asks(&self, run: &Run) -> Result<(), EngineError> {
        let now = self.clock.now();
        for ask in run.asks.iter().filter(|it| it.due <= now) {
            let lapse = Command::Collaborate(Collaboration::Lapse { ask: ask.no });
            match self.on_run(&sweeper(), run.id, lapse).await {
                // It was answered meanwhile, or another caller was faster.
                Ok(_) | Err(EngineError::Refused { .. } | EngineError::Contended) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What was done in a run, and when it is due again.
#[derive(Default)]
struct RunSweep {
    n_stale: u32,
    n_expired: u32,
    n_reminded: u32,
    again: Option<LookAgain>,
}

#[derive(Clone, Copy)]
enum Lateness {
    Stale,
    Expired,
    /// A gate has waited for a person for long.
    Unanswered,
}

/// According to the workflow that the run began with.
fn what_is_due(workflow: &Workflow, run: &Run, now: Timestamp) -> Vec<(HandoffNo, Lateness)> {
    let is_due = |at: Option<Timestamp>| at.is_some_and(|it| it <= now);
    let of_handoff = |it: &Handoff| {
        if is_due(expires_at(workflow, it)) {
            return Some((it.no, Lateness::Expired));
        }
        if is_due(remind_at(it)) {
            return Some((it.no, Lateness::Unanswered));
        }
        let is_news = !it.is_stale && is_due(stale_at(workflow, it));
        is_news.then_some((it.no, Lateness::Stale))
    };
    run.handoffs.iter().filter_map(of_handoff).collect()
}

impl Swept {
    fn add(&mut self, other: Self) {
        self.n_stale += other.n_stale;
        self.n_expired += other.n_expired;
        self.n_reminded += other.n_reminded;
        self.n_forgotten += other.n_forgotten;
        self.ticked.add(other.ticked);
    }
}

/// Sweeps twice a minute until it is stopped.
pub struct Sweeper;

impl Sweeper {
    pub fn start(engine: Arc<Engine>) -> BackgroundTask {
        BackgroundTask::start(|stopped| sweep_on(engine, stopped))
    }
}

async fn sweep_on(engine: Arc<Engine>, mut stopped: watch::Receiver<bool>) {
    let mut wait =
        if engine.is_shared() { jitter::part_of(FIRST, engine.clock()) } else { Duration::ZERO };
    let mut after = None;
    loop {
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = match engine.sweep_a_while(after.as_ref()).await {
            Ok(pass) => {
                after = pass.after.filter(|_| pass.has_more);
                if pass.has_more { SOON } else { next(&engine) }
            }
            Err(EngineError::Closing) => return,
            // The store logs the beginning and the end of this condition itself.
            Err(EngineError::Store(StoreError::Unwritable(_))) => next(&engine),
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "a sweep failed; the next one tries again");
                next(&engine)
            }
        };
    }
}

/// Nodes that started together do not sweep together.
fn next(engine: &Engine) -> Duration {
    if engine.is_shared() { jitter::around(EVERY, engine.clock()) } else { EVERY }
}

fn sweeper() -> Caller {
    Caller::of_baton("baton:sweeper")
}

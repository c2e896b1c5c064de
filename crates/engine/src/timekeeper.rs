//! Handles timers on time: leases end, and deferred handoffs are offered.

use std::sync::Arc;
use std::time::Duration;

use baton_core::command::{Command, LoseLease};
use baton_core::refusal::Refusal;
use baton_store::{RunRef, StoreError, TimerKind, TimerRow};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::leases::DueTimer;
use crate::{BackgroundTask, Caller, Engine, EngineError, timers};

/// How many timers are loaded from the store at once.
const PAGE: u32 = 256;
const EVERY: Duration = Duration::from_millis(250);
/// How many commands are sent to the store together, to share a commit.
const AT_ONCE: usize = 64;
/// How long until an unreadable run is tried again.
const AFTER_DAMAGE: SignedDuration = SignedDuration::from_mins(1);

/// What one tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticked {
    /// Leases that ended because no heartbeat came.
    pub n_lost: u32,
    /// Deferred handoffs that were offered.
    pub n_woken: u32,
    /// Lease renewals that were written.
    pub n_written: u64,
}

impl Engine {
    /// Handles what is due now. A process with a [`Timekeeper`] need not call it.
    pub async fn tick(&self) -> Result<Ticked, EngineError> {
        if self.leases.keeps_time() {
            return self.tick_once().await;
        }
        let mut ticked = Ticked::default();
        loop {
            let n_learned = self.learn_what_is_due(PAGE).await?;
            ticked.add(self.tick_once().await?);
            if n_learned == 0 {
                return Ok(ticked);
            }
        }
    }

    /// As [`Engine::tick`], only for the timers in memory.
    pub(crate) async fn tick_once(&self) -> Result<Ticked, EngineError> {
        drop(self.admit().await?);
        let now = self.clock.now();
        if self.leases.forgive_sleep(now) {
            tracing::warn!("nothing was done for a while; every lease gets a full period more");
        }
        self.leases.expect_tick(after(now, EVERY));
        self.learn_what_is_doubted().await?;
        let mut ticked = Ticked::default();
        let in_hand = self.leases.take_due(now);
        for group in in_hand.due.chunks(AT_ONCE) {
            let done = join_all(group.iter().map(|it| self.bring_about(*it, now))).await;
            for (due, done) in group.iter().zip(done) {
                match (done?, due.what) {
                    (TimerOutcome::Yes, TimerKind::Lease { .. }) => ticked.n_lost += 1,
                    (TimerOutcome::Yes, TimerKind::Wake) => ticked.n_woken += 1,
                    (TimerOutcome::No, _) => {}
                }
            }
        }
        drop(in_hand);
        {
            // The shutdown waits for this, and writes the renewals that come until then.
            let _admitted = self.admit().await?;
            let unwritten = self.leases.take_unwritten(now);
            ticked.n_written = self.write_heartbeats(unwritten).await?;
        }
        // Handling many timers takes time, which must not count as a suspended process.
        self.leases.expect_tick(after(self.clock.now(), EVERY));
        Ok(ticked)
    }

    /// For a timekeeper that calls [`Engine::tick`] from now on; loads all timers. Every lease gets
    /// a full period more, because no heartbeat could arrive until now; and again whenever a tick
    /// is so late that the process must have been suspended.
    pub async fn keep_time(&self) -> Result<(), EngineError> {
        self.begin_to_keep_time();
        self.load_timers().await
    }

    fn begin_to_keep_time(&self) {
        let now = self.clock.now();
        self.leases.keep_time(now, after(now, EVERY));
    }

    async fn load_timers(&self) -> Result<(), EngineError> {
        self.leases.load(&self.store.timers(None, 0).await?, self.clock.now());
        Ok(())
    }

    /// Loads due timers that are not in memory from the store: the earliest, at most `most`.
    /// Returns how many there were.
    pub(crate) async fn learn_what_is_due(&self, most: u32) -> Result<usize, EngineError> {
        let rows = self.store.timers(Some(self.clock.now()), most).await?;
        let mut n_learned = 0;
        for timer in rows.iter().filter(|it| self.leases.lacks(it)) {
            // Read after the list: if the run has moved on since, its version shows it.
            let row = match self.store.run(&RunRef::Id(timer.run)).await {
                Ok(Some(row)) => row,
                // One unreadable run must not hide the others.
                Ok(None) => {
                    tracing::warn!(run = %timer.run, "a run that has a timer is not found by its id");
                    continue;
                }
                Err(error @ StoreError::Damaged { .. }) => {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::warn!(error, run = %timer.run, "a run cannot be read when its time has come");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let handoff = row.run.handoff(timer.no);
            if handoff.and_then(timers::timer).is_some_and(|it| it.is(timer.what, timer.due)) {
                n_learned += usize::from(self.leases.learn(timer, row.version));
            }
        }
        Ok(n_learned)
    }

    /// Reads from the store the result of appends whose callers were cancelled meanwhile.
    async fn learn_what_is_doubted(&self) -> Result<(), EngineError> {
        let doubted = self.leases.take_doubted();
        for (n, (run, no)) in doubted.iter().enumerate() {
            let row = match self.store.run(&RunRef::Id(*run)).await {
                Ok(Some(row)) => row,
                Ok(None) => continue,
                // One unreadable run must not hide the others. Its later timers are loaded when
                // they fall due.
                Err(error @ StoreError::Damaged { .. }) => {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::warn!(error, %run, "a run cannot be read");
                    continue;
                }
                Err(error) => {
                    self.leases.doubt(doubted[n..].iter().copied());
                    return Err(error.into());
                }
            };
            match row.run.handoff(*no).and_then(timers::timer) {
                Some(timer) => {
                    let due = timer.due(self.clock.now());
                    let timer = TimerRow { run: *run, no: *no, what: timer.kind(), due };
                    self.leases.learn(&timer, row.version);
                }
                None => self.leases.unlearn(*run, *no, row.version),
            }
        }
        Ok(())
    }

    /// Ends a lease, or offers a deferred handoff.
    async fn bring_about(
        &self,
        due: DueTimer,
        now: Timestamp,
    ) -> Result<TimerOutcome, EngineError> {
        let handoff = due.no;
        let command = match due.what {
            TimerKind::Lease { fence, .. } => {
                Command::LoseLease(LoseLease::unheard(handoff, fence))
            }
            TimerKind::Wake => Command::Wake { handoff },
        };
        let moved = self.on_run(&timekeeper(), due.run, command).await;
        match moved.map_err(EngineError::of_stored_row) {
            // The commit has updated this node's timers; this is for those of another node.
            Ok(_) => {
                self.leases.done_with(due);
                Ok(TimerOutcome::Yes)
            }
            Err(EngineError::Refused { refusal: Refusal::NotYet { until, .. }, .. }) => {
                self.leases.put_back(due, until);
                Ok(TimerOutcome::No)
            }
            // Another command came first, so nothing is due.
            Err(EngineError::Refused { .. }) => {
                self.leases.done_with(due);
                Ok(TimerOutcome::No)
            }
            // One unreadable run must not hide the others.
            Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, run = %due.run, "a run cannot be read when its time has come");
                self.leases.put_back(due, now + AFTER_DAMAGE);
                Ok(TimerOutcome::No)
            }
            // The next tick tries again.
            Err(EngineError::Contended) => Ok(TimerOutcome::No),
            Err(error) => Err(error),
        }
    }
}

impl Ticked {
    pub(crate) fn add(&mut self, other: Self) {
        self.n_lost += other.n_lost;
        self.n_woken += other.n_woken;
        self.n_written += other.n_written;
    }
}

enum TimerOutcome {
    Yes,
    No,
}

/// Ticks four times a second until it is stopped. A server has one.
pub struct Timekeeper;

impl Timekeeper {
    /// Loads the timers of the store, gives every lease a full period more, and starts ticking.
    pub fn start(engine: Arc<Engine>) -> BackgroundTask {
        engine.begin_to_keep_time();
        BackgroundTask::start(|stopped| async move {
            tick_on(&engine, stopped).await;
            engine.leases.stop_keeping_time();
        })
    }
}

async fn tick_on(engine: &Engine, mut stopped: watch::Receiver<bool>) {
    let mut has_loaded = false;
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            _ = ticks.tick() => {}
        }
        if !has_loaded {
            has_loaded = match engine.load_timers().await {
                Ok(()) => true,
                Err(EngineError::Closing) => return,
                Err(error) => {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::warn!(error, "leases could not be read; the next tick tries again");
                    false
                }
            };
        }
        match engine.tick().await {
            Ok(_) => {}
            Err(EngineError::Closing) => return,
            // The store logs the beginning and the end of this condition itself.
            Err(EngineError::Store(StoreError::Unwritable(_))) => {}
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "what was due could not be done; the next tick tries again");
            }
        }
    }
}

fn after(now: Timestamp, duration: Duration) -> Timestamp {
    now.saturating_add(duration).unwrap_or(now)
}

fn timekeeper() -> Caller {
    Caller::of_baton("baton:timekeeper")
}

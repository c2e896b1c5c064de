//! Handles timers on time: leases end, and deferred handoffs are offered. Where other nodes use the
//! store too, `timekeeper/shared.rs` does it.

mod shared;

use std::sync::Arc;
use std::time::Duration;

use baton_core::command::{Command, LoseLease};
use baton_core::refusal::Refusal;
use baton_store::{RunRef, StoreError, TimerKind, TimerRow};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::leases::DueTimer;
use crate::{BackgroundTask, Caller, CommandResult, Engine, EngineError, jitter, timers};

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
        if self.is_shared() || self.leases.keeps_time() {
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
        if let Some(nodes) = &self.nodes {
            return self.tick_with(nodes).await;
        }
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
        match &self.nodes {
            Some(nodes) => nodes.time.start(now, after(now, EVERY)),
            None => self.leases.keep_time(now, after(now, EVERY)),
        }
    }

    fn stop_keeping_time(&self) {
        match &self.nodes {
            Some(nodes) => nodes.time.stop(),
            None => self.leases.stop_keeping_time(),
        }
    }

    async fn load_timers(&self) -> Result<(), EngineError> {
        if self.is_shared() {
            return Ok(());
        }
        self.leases.load(&self.store.timers(None, 0).await?, self.clock.now());
        Ok(())
    }

    /// Loads due timers that are not in memory from the store: the earliest, at most about `most`.
    /// Returns how many there were. A lease has a full period from now, because this process could
    /// hear no heartbeat of a holder that it did not know: a command line that opens the data for a
    /// moment never ends one.
    pub(crate) async fn learn_what_is_due(&self, most: u32) -> Result<usize, EngineError> {
        if self.is_shared() {
            return Ok(0);
        }
        let now = self.clock.now();
        let mut rows = self.store.timers(Some(now), most).await?;
        let is_full = rows.len() >= most as usize;
        rows.retain(|it| self.leases.lacks(it));
        if is_full && !rows.iter().any(|it| it.what == TimerKind::Wake) {
            // A page full of leases that go on must not hide the others.
            rows = self.store.timers(Some(now), 0).await?;
            rows.retain(|it| self.leases.lacks(it));
        }
        let mut n_learned = 0;
        for timer in &rows {
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
            let stored = row.run.handoff(timer.no).and_then(timers::timer);
            if let Some(it) = stored.filter(|it| it.is(timer.what, timer.due)) {
                let timer = TimerRow { due: it.due(now), ..*timer };
                n_learned += usize::from(self.leases.learn(&timer, row.version));
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

    async fn carry_out_due(&self, due: DueTimer) -> Result<CommandResult, EngineError> {
        let handoff = due.no;
        let command = match due.what {
            TimerKind::Lease { fence, .. } => {
                Command::LoseLease(LoseLease::unheard(handoff, fence))
            }
            TimerKind::Wake => Command::Wake { handoff },
        };
        let moved = self.on_run(&timekeeper(), due.run, command).await;
        moved.map_err(EngineError::of_stored_row)
    }

    /// Ends a lease, or offers a deferred handoff.
    async fn bring_about(
        &self,
        due: DueTimer,
        now: Timestamp,
    ) -> Result<TimerOutcome, EngineError> {
        match self.carry_out_due(due).await {
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
            engine.stop_keeping_time();
        })
    }
}

async fn tick_on(engine: &Engine, mut stopped: watch::Receiver<bool>) {
    let mut has_loaded = false;
    let mut ticks = tokio::time::interval_at(Instant::now() + first_tick(engine), EVERY);
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

/// Nodes that start together do not tick together.
fn first_tick(engine: &Engine) -> Duration {
    if engine.is_shared() { jitter::part_of(EVERY, engine.clock()) } else { Duration::ZERO }
}

fn after(now: Timestamp, duration: Duration) -> Timestamp {
    now.saturating_add(duration).unwrap_or(now)
}

fn timekeeper() -> Caller {
    Caller::of_baton("baton:timekeeper")
}

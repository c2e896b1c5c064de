//! Sees to it that what has to happen at a time happens: leases end, and what was held back is
//! offered.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use baton_core::command::Command;
use baton_core::refusal::Refusal;
use baton_store::{RunRef, StoreError, TimerKind};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::leases::Due;
use crate::{Caller, Engine, EngineError, timers};

const EVERY: Duration = Duration::from_millis(250);
/// How many commands go to the store together, where they share a commit.
const AT_ONCE: usize = 64;
/// When a run that cannot be read is tried again.
const AFTER_DAMAGE: SignedDuration = SignedDuration::from_mins(1);

/// What one tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticked {
    /// Leases whose holders were not heard of any more.
    pub n_lost: u32,
    /// Handoffs that were held back until now.
    pub n_woken: u32,
    /// Leases whose new end was written.
    pub n_written: u64,
}

impl Engine {
    /// Does what is due by now. Whoever has a [`Timekeeper`] need not call it.
    pub async fn tick(&self) -> Result<Ticked, EngineError> {
        drop(self.admit().await?);
        let now = self.clock.now();
        if self.leases.forgive_sleep(now) {
            tracing::warn!("nothing was done for a while; every lease gets a full period more");
        }
        self.leases.expect_tick(after(now, EVERY));
        self.learn_what_is_missing().await?;
        let mut ticked = Ticked::default();
        let in_hand = self.leases.take_due(now);
        for group in in_hand.due.chunks(AT_ONCE) {
            let done = all(group.iter().map(|it| self.bring_about(*it, now))).await;
            for (due, done) in group.iter().zip(done) {
                match (done?, due.what) {
                    (Done::Yes, TimerKind::Lease { .. }) => ticked.n_lost += 1,
                    (Done::Yes, TimerKind::Wake) => ticked.n_woken += 1,
                    (Done::No, _) => {}
                }
            }
        }
        drop(in_hand);
        {
            // A shutdown waits for it, and writes what is said until then.
            let _admitted = self.admit().await?;
            let unwritten = self.leases.take_unwritten(now);
            ticked.n_written = self.write_heartbeats(unwritten).await?;
        }
        // To do a lot takes its time, and that is not sleep.
        self.leases.expect_tick(after(self.clock.now(), EVERY));
        Ok(ticked)
    }

    /// From now on somebody calls [`Engine::tick`] all the time. Every lease gets a full period
    /// more, because nobody could be heard of until now; and the same again whenever a tick comes
    /// so late that the process must have been asleep.
    pub fn keep_time(&self) {
        let now = self.clock.now();
        self.leases.keep_time(now, after(now, EVERY));
    }

    /// Asks the store for timers that nobody told of: the caller of a command may be gone before
    /// its answer is here.
    async fn learn_what_is_missing(&self) -> Result<(), EngineError> {
        if !self.leases.take_doubt() {
            return Ok(());
        }
        let rows = self.store.timers(None, 0).await.inspect_err(|_| self.leases.doubt())?;
        for timer in rows.iter().filter(|it| self.leases.lacks(it)) {
            // Read after the list: where the run has gone on since, its version says so.
            let row = self.store.run(&RunRef::Id(timer.run)).await?;
            let Some(row) = row else { continue };
            let handoff = row.run.handoff(timer.no);
            if handoff.and_then(timers::timer).is_some_and(|it| it.is(timer.what, timer.due)) {
                self.leases.learn(timer, row.version);
            }
        }
        Ok(())
    }

    /// Ends a lease, or offers a handoff.
    async fn bring_about(&self, due: Due, now: Timestamp) -> Result<Done, EngineError> {
        let handoff = due.no;
        let command = match due.what {
            TimerKind::Lease { fence, .. } => Command::LoseLease { handoff, fence },
            TimerKind::Wake => Command::Wake { handoff },
        };
        let moved = self.on_run(&timekeeper(), due.run, command).await;
        match moved.map_err(EngineError::of_stored_row) {
            // The commit has set the timers anew; this is for those of another node.
            Ok(_) => {
                self.leases.done_with(due);
                Ok(Done::Yes)
            }
            Err(EngineError::Refused { refusal: Refusal::NotYet { until, .. }, .. }) => {
                self.leases.put_back(due, until);
                Ok(Done::No)
            }
            // Something else came first: all well.
            Err(EngineError::Refused { .. }) => {
                self.leases.done_with(due);
                Ok(Done::No)
            }
            // One run that cannot be read must not hide the others.
            Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, run = %due.run, "a run cannot be read when its time has come");
                self.leases.put_back(due, now + AFTER_DAMAGE);
                Ok(Done::No)
            }
            // The next tick tries again.
            Err(EngineError::Contended) => Ok(Done::No),
            Err(error) => Err(error),
        }
    }
}

enum Done {
    Yes,
    No,
}

/// Ticks four times a second until it is stopped. A server has one.
pub struct Timekeeper {
    engine: Arc<Engine>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Timekeeper {
    /// Gives every lease a full period more, and begins.
    pub fn start(engine: Arc<Engine>) -> Self {
        engine.keep_time();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(tick_on(engine.clone(), stopped));
        Self { engine, stop, task }
    }

    /// Lets the tick under way finish.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // A panic in it has been reported by the runtime.
        let _ = self.task.await;
        self.engine.leases.stop_keeping_time();
    }
}

async fn tick_on(engine: Arc<Engine>, mut stopped: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            _ = ticks.tick() => {}
        }
        match engine.tick().await {
            Ok(_) => {}
            Err(EngineError::Closing) => return,
            // The store has said so when it began, and says when it is over.
            Err(EngineError::Store(StoreError::Unwritable(_))) => {}
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "what was due could not be done; the next tick tries again");
            }
        }
    }
}

/// Waits for all at once, so that they are in the store's queue together.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, output) in waiting.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(it) = future.as_mut().poll(context)
            {
                *output = Some(it);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

fn after(now: Timestamp, duration: Duration) -> Timestamp {
    now.saturating_add(duration).unwrap_or(now)
}

fn timekeeper() -> Caller {
    Caller::of_baton("baton:timekeeper")
}

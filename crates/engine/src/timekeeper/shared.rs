//! Timers of a store that several nodes use: the store has them, and every node looks there.
//!
//! One node at a time handles what is due, under a lock. A lease is ended only while its row, read
//! under that lock, is due: a heartbeat at any node moves the row before it is answered.

use baton_core::refusal::Refusal;
use baton_store::{StoreError, TimerKind, TimerRow};
use futures_util::future::join_all;
use jiff::Timestamp;

use super::{AFTER_DAMAGE, AT_ONCE, EVERY, Ticked, TimerOutcome, after};
use crate::leases::DueTimer;
use crate::nodes::{Nodes, TIMERS};
use crate::{Engine, EngineError};

/// How many due timers are read at once.
const PAGE: u32 = 1000;

impl Engine {
    pub(super) async fn tick_with(&self, nodes: &Nodes) -> Result<Ticked, EngineError> {
        let now = self.clock.now();
        if nodes.time.notice_sleep(now) {
            tracing::warn!(
                "nothing was done for a while; this node ends no lease for a full period"
            );
        }
        nodes.time.expect_tick(after(now, EVERY));
        let ticked = self.handle_due(nodes, now).await;
        let now = self.clock.now();
        if ticked.is_err() {
            nodes.time.interrupt(now);
        }
        // Handling many timers takes time, which must not count as a suspended process.
        nodes.time.expect_tick(after(now, EVERY));
        ticked
    }

    async fn handle_due(&self, nodes: &Nodes, now: Timestamp) -> Result<Ticked, EngineError> {
        let mut ticked = Ticked::default();
        if self.due_in_store(nodes, now).await?.is_empty() {
            return Ok(ticked);
        }
        let _lock = self.store.lock(TIMERS).await?;
        // Another node may have had the lock, and handled them.
        let due = self.due_in_store(nodes, now).await?;
        for group in due.chunks(AT_ONCE) {
            let done = join_all(group.iter().map(|it| self.handle_timer(nodes, it, now))).await;
            for (due, done) in group.iter().zip(done) {
                match (done?, due.what) {
                    (TimerOutcome::Yes, TimerKind::Lease { .. }) => ticked.n_lost += 1,
                    (TimerOutcome::Yes, TimerKind::Wake) => ticked.n_woken += 1,
                    (TimerOutcome::No, _) => {}
                }
            }
        }
        Ok(ticked)
    }

    /// The timers that this node may handle now, the earliest first.
    async fn due_in_store(
        &self,
        nodes: &Nodes,
        now: Timestamp,
    ) -> Result<Vec<TimerRow>, EngineError> {
        let mut due = self.store.timers(Some(now), PAGE).await?;
        let is_full = due.len() >= PAGE as usize;
        due.retain(|it| nodes.may_handle(it, now));
        if due.is_empty() && is_full {
            // A page full of timers that have to wait must not hide the others.
            due = self.store.timers(Some(now), 0).await?;
            due.retain(|it| nodes.may_handle(it, now));
        }
        Ok(due)
    }

    async fn handle_timer(
        &self,
        nodes: &Nodes,
        timer: &TimerRow,
        now: Timestamp,
    ) -> Result<TimerOutcome, EngineError> {
        let TimerRow { run, no, what, .. } = *timer;
        match self.carry_out_due(DueTimer { run, no, what }).await {
            Ok(_) => Ok(TimerOutcome::Yes),
            Err(EngineError::Refused { refusal: Refusal::NotYet { until, .. }, .. }) => {
                nodes.put_aside(timer, until, now);
                Ok(TimerOutcome::No)
            }
            // A command came first: it has removed the timer too.
            Err(EngineError::Refused { .. }) => {
                nodes.put_aside(timer, now + AFTER_DAMAGE, now);
                Ok(TimerOutcome::No)
            }
            // One unreadable run must not hide the others.
            Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, %run, "a run cannot be read when its time has come");
                nodes.put_aside(timer, now + AFTER_DAMAGE, now);
                Ok(TimerOutcome::No)
            }
            // The next tick tries again.
            Err(EngineError::Contended) => Ok(TimerOutcome::No),
            Err(error) => Err(error),
        }
    }
}

//! Heartbeats of the holders.
//!
//! Where only this process uses the store, they are heard in memory (ADR 0009). Where other nodes do
//! too, each is in the store before it is answered: then no node ends the lease before that time.

use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, Run, RunId};
use baton_store::{HandoffRef, LeaseRenewal, RunRef, StoreError, TimerKind, TimerRow};
use jiff::Timestamp;

use crate::leases::HeartbeatResult;
use crate::nodes::{KnownLease, Nodes, TIMERS};
use crate::timers::silent_until;
use crate::{Caller, Engine, EngineError};

/// How many heartbeats share a transaction: a few milliseconds of the store's time.
const MOST_AT_ONCE: usize = 1000;

impl Engine {
    /// Renews the lease of the holder with this fencing token for a full period from now. Returns
    /// when it ends.
    pub async fn heartbeat(
        &self,
        caller: &Caller,
        which: &HandoffRef,
        fence: u32,
    ) -> Result<Timestamp, EngineError> {
        let (run, no) = self.resolve_handoff(which).await?;
        // A token opens one holding, whatever its sender gives.
        let fence = caller.attempt.as_ref().map_or(fence, |it| it.fence);
        if let Some(attempt) = &caller.attempt {
            let own = self.resolve_handoff(&HandoffRef::Id(attempt.handoff)).await?;
            if own != (run, no) {
                let agent = attempt.agent.clone();
                let (handoff, command) = (Some(own.1), "hold");
                return Err(EngineError::OtherAttempt { agent, handoff, command });
            }
        }
        let _admitted = self.admit().await?;
        let heard = match &self.nodes {
            Some(nodes) => self.hear_in_store(nodes, run, no, fence).await?,
            None => self.hear_in_memory(run, no, fence).await?,
        };
        match heard {
            Ok(until) => Ok(until),
            Err(refusal) => {
                let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
                Err(EngineError::refused_about(refusal, handoff))
            }
        }
    }

    async fn hear_in_memory(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<Result<Timestamp, Refusal>, EngineError> {
        match self.leases.hear(run, no, fence, self.clock.now()) {
            HeartbeatResult::Until(until) => Ok(Ok(until)),
            HeartbeatResult::TooLate => Ok(Err(Refusal::NoLease { handoff: no })),
            // The append that granted it may not be confirmed: refuse only after a fresh read.
            HeartbeatResult::Unknown => self.hear_anew(run, no, fence).await,
        }
    }

    /// Extends the lease in the store. Heartbeats that arrive together share a transaction.
    async fn hear_in_store(
        &self,
        nodes: &Nodes,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<Result<Timestamp, Refusal>, EngineError> {
        let known = match nodes.leases.find(run, no, fence) {
            Some(known) => known,
            None => match self.lease_in_store(run, no, fence).await? {
                Ok(known) => known,
                Err(refusal) => return Ok(Err(refusal)),
            },
        };
        let due = silent_until(self.clock.now(), known.seconds);
        let renewal = LeaseRenewal { run, no, fence, due };
        let is_written = nodes.renewals.write(self.store.as_ref(), renewal).await;
        if matches!(is_written, Err(StoreError::Unavailable(_) | StoreError::Unwritable(_))) {
            nodes.time.interrupt(self.clock.now());
        }
        // Before its old end no node has begun to end the lease, so now none will before the new one.
        let mut is_heard = is_written? && self.clock.now() < known.due;
        if !is_heard {
            // Another node may be ending it right now, and holds this lock while it does.
            let _lock = self.store.lock(TIMERS).await?;
            let found = self.lease_in_store(run, no, fence).await?;
            is_heard = found.is_ok_and(|it| it.due >= due);
        }
        if is_heard {
            nodes.leases.remember(run, no, KnownLease { due, ..known });
            return Ok(Ok(due));
        }
        nodes.leases.forget(run, no);
        let refusal = self.lease_in_store(run, no, fence).await?.err();
        Ok(Err(refusal.unwrap_or(Refusal::NoLease { handoff: no })))
    }

    /// The lease with this fencing token as the store has it, or why there is none.
    async fn lease_in_store(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<Result<KnownLease, Refusal>, EngineError> {
        let row = self.run(&RunRef::Id(run)).await?;
        let seconds = match lease_of(&row.run, no, fence) {
            Ok(seconds) => seconds,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let timers = self.store.schedule(run).await?.timers;
        let what = TimerKind::Lease { fence, seconds };
        let timer = timers.iter().find(|it| it.no == no && it.what == what);
        let known = timer.map(|it| KnownLease { fence, seconds, due: it.due });
        Ok(known.ok_or(Refusal::NoLease { handoff: no }))
    }

    async fn hear_anew(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<Result<Timestamp, Refusal>, EngineError> {
        let row = self.run(&RunRef::Id(run)).await?;
        let seconds = match lease_of(&row.run, no, fence) {
            Ok(seconds) => seconds,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let now = self.clock.now();
        let what = TimerKind::Lease { fence, seconds };
        let lease = TimerRow { run, no, what, due: silent_until(now, seconds) };
        self.leases.learn(&lease, row.version);
        // If the lease was lost after the read, the memory is more recent.
        Ok(match self.leases.hear(run, no, fence, now) {
            HeartbeatResult::Until(until) => Ok(until),
            HeartbeatResult::TooLate | HeartbeatResult::Unknown => {
                Err(Refusal::NoLease { handoff: no })
            }
        })
    }

    /// Writes the renewals in batches. Those that could not be written are retried next time.
    pub(crate) async fn write_heartbeats(
        &self,
        leases: Vec<LeaseRenewal>,
    ) -> Result<u64, EngineError> {
        let mut n_written = 0;
        // In batches, so that commands need not wait until all are written.
        for (n, part) in leases.chunks(MOST_AT_ONCE).enumerate() {
            match self.store.put_off(part).await {
                Ok(n_leases) => n_written += n_leases,
                Err(error) => {
                    self.leases.still_unwritten(&leases[n * MOST_AT_ONCE..]);
                    return Err(error.into());
                }
            }
        }
        Ok(n_written)
    }
}

/// The period of the lease that the holder with this fencing token has.
fn lease_of(run: &Run, no: HandoffNo, fence: u32) -> Result<u32, Refusal> {
    let Some(handoff) = run.handoff(no) else { return Err(Refusal::Finished { handoff: no }) };
    if handoff.fence != fence {
        let current = Some(handoff.fence);
        return Err(Refusal::StaleFence { handoff: no, fence, current });
    }
    handoff.lease.ok_or(Refusal::NoLease { handoff: no })
}

//! Heartbeats of the holders.

use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunId};
use baton_store::{HandoffRef, LeaseRenewal, RunRef, TimerKind, TimerRow};
use jiff::Timestamp;

use crate::leases::HeartbeatResult;
use crate::timers::silent_until;
use crate::{Caller, Engine, EngineError};

/// How many heartbeats share a transaction: a few milliseconds of the store's time.
const MOST_AT_ONCE: usize = 1000;

impl Engine {
    /// Renews the lease of the holder with this fencing token for a full period from now. Returns
    /// when it ends. Renewals are kept in memory, and written about once a second in one batch.
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
        let refusal = match self.leases.hear(run, no, fence, self.clock.now()) {
            HeartbeatResult::Until(until) => return Ok(until),
            HeartbeatResult::TooLate => Refusal::NoLease { handoff: no },
            // Another node may have granted the lease: refuse only after a fresh read.
            HeartbeatResult::Unknown => match self.hear_anew(run, no, fence).await? {
                Ok(until) => return Ok(until),
                Err(refusal) => refusal,
            },
        };
        let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
        Err(EngineError::refused_about(refusal, handoff))
    }

    async fn hear_anew(
        &self,
        run: RunId,
        no: HandoffNo,
        fence: u32,
    ) -> Result<Result<Timestamp, Refusal>, EngineError> {
        let row = self.run(&RunRef::Id(run)).await?;
        let no_lease = Refusal::NoLease { handoff: no };
        let Some(handoff) = row.run.handoff(no) else {
            return Ok(Err(Refusal::Finished { handoff: no }));
        };
        if handoff.fence != fence {
            return Ok(Err(Refusal::StaleFence {
                handoff: no,
                fence,
                current: Some(handoff.fence),
            }));
        }
        let Some(seconds) = handoff.lease else { return Ok(Err(no_lease)) };
        let now = self.clock.now();
        let what = TimerKind::Lease { fence, seconds };
        let lease = TimerRow { run, no, what, due: silent_until(now, seconds) };
        self.leases.learn(&lease, row.version);
        // If the lease was lost after the read, the memory is more recent.
        Ok(match self.leases.hear(run, no, fence, now) {
            HeartbeatResult::Until(until) => Ok(until),
            HeartbeatResult::TooLate | HeartbeatResult::Unknown => Err(no_lease),
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

//! A holder says that it is alive.

use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunId};
use baton_store::{HandoffRef, LeaseRenewal, RunRef, TimerKind, TimerRow};
use jiff::Timestamp;

use crate::leases::HeartbeatResult;
use crate::timers::silent_until;
use crate::{Engine, EngineError};

/// How many heartbeats share a transaction: a few milliseconds of the store's time.
const MOST_AT_ONCE: usize = 1000;

impl Engine {
    /// Lets the lease of whoever holds a handoff with this fence last for a full period from now.
    /// Returns until when. It is said in memory, and written about once a second with all others.
    pub async fn heartbeat(
        &self,
        which: &HandoffRef,
        fence: u32,
    ) -> Result<Timestamp, EngineError> {
        let (run, no) = self.resolve_handoff(which).await?;
        let _admitted = self.admit().await?;
        let refusal = match self.leases.hear(run, no, fence, self.clock.now()) {
            HeartbeatResult::Until(until) => return Ok(until),
            HeartbeatResult::TooLate => Refusal::NoLease { handoff: no },
            // Another node may have granted it: a no is said only on a fresh read.
            HeartbeatResult::Unknown => match self.hear_anew(run, no, fence).await? {
                Ok(until) => return Ok(until),
                Err(refusal) => refusal,
            },
        };
        let handoff = self.handoff(&HandoffRef::InRun(run, no)).await?;
        Err(EngineError::Refused { refusal, handoff: Some(Box::new(handoff)) })
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
        // If it was lost between the reading and now, the memory knows better.
        Ok(match self.leases.hear(run, no, fence, now) {
            HeartbeatResult::Until(until) => Ok(until),
            HeartbeatResult::TooLate | HeartbeatResult::Unknown => Err(no_lease),
        })
    }

    /// Writes what holders said, many at once. What could not be written is written next time.
    pub(crate) async fn write_heartbeats(
        &self,
        leases: Vec<LeaseRenewal>,
    ) -> Result<u64, EngineError> {
        let mut n_written = 0;
        // In parts, so that commands need not wait until all are written.
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

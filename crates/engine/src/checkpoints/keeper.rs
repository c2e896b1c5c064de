//! Signs checkpoints while a server runs: after so many events, or after some time with any.

use std::sync::Arc;
use std::time::Duration;

use baton_store::Position;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::{BackgroundTask, Engine, EngineError};

/// However many events there are, no two checkpoints are closer: each is a commit of its own.
const LEAST_APART: Duration = Duration::from_secs(10);

/// How often new events are counted while there are any.
const LOOK: Duration = Duration::from_secs(1);

/// How often checkpoints are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointEvery {
    /// After this many events; `None` for never.
    pub n_events: Option<u64>,
    /// After this long, if there was an event; `None` for never.
    pub time: Option<Duration>,
}

/// Runs until it is stopped or dropped.
pub struct CheckpointKeeper(BackgroundTask);

impl CheckpointKeeper {
    pub fn start(engine: Arc<Engine>, every: CheckpointEvery) -> Self {
        Self(BackgroundTask::start(|stopped| keep(engine, every, stopped)))
    }

    pub async fn stop(self) {
        self.0.stop().await;
    }
}

async fn keep(engine: Arc<Engine>, every: CheckpointEvery, mut stopped: watch::Receiver<bool>) {
    let mut tip = engine.tip();
    let mut new = match engine.signed_position().await {
        Ok(signed) => NewEvents::after(signed.unwrap_or(Position::START)),
        Err(error) => return tell(&error),
    };
    let mut last_at = Instant::now();
    loop {
        let now = *tip.borrow_and_update();
        match new.count(&engine, now).await {
            Ok(()) => {}
            Err(EngineError::Closing) => return,
            Err(error) => tell(&error),
        }
        let wait = wait(every, new.n_events, last_at.elapsed());
        if wait == Some(Duration::ZERO) {
            match sign(&engine, new.signed).await {
                Ok(signed) => new = NewEvents::after(signed.unwrap_or(now)),
                // The next one tries again.
                Err(error) => tell(&error),
            }
            last_at = Instant::now();
            continue;
        }
        tokio::select! {
            changed = tip.changed(), if wait.is_none() => if changed.is_err() { return },
            // Not at every commit: a busy server has thousands in a second.
            () = tokio::time::sleep(wait.unwrap_or(LOOK).min(LOOK)), if wait.is_some() => {}
            ended = stopped.wait_for(|it| *it) => {
                drop(ended);
                return;
            }
        }
    }
}

/// Signs, unless another node has signed meanwhile. Returns up to where the log is signed.
async fn sign(engine: &Engine, known: Position) -> Result<Option<Position>, EngineError> {
    let _lock = engine.store.lock("checkpoints").await?;
    if engine.is_shared()
        && let Some(signed) = engine.signed_position().await?
        && signed > known
    {
        return Ok(Some(signed));
    }
    let row = engine.checkpoint().await?;
    Ok(row.signed.check().ok().map(|it| Position(it.log.position)))
}

/// The events since the last checkpoint.
struct NewEvents {
    signed: Position,
    /// Events are counted up to here.
    upto: Position,
    n_events: u64,
}

impl NewEvents {
    fn after(signed: Position) -> Self {
        Self { signed, upto: signed, n_events: 0 }
    }

    async fn count(&mut self, engine: &Engine, tip: Position) -> Result<(), EngineError> {
        if !engine.is_shared() {
            // Positions are dense where only one process appends.
            self.n_events = tip.0.saturating_sub(self.signed.0);
            return Ok(());
        }
        while self.upto < tip {
            let (n_events, last) = engine.count_events_after(self.upto).await?;
            self.n_events += n_events;
            match last {
                Some(last) => self.upto = last,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// How long until the next checkpoint, unless there are more events before; `None` for until there
/// are.
fn wait(every: CheckpointEvery, n_new: u64, passed: Duration) -> Option<Duration> {
    if n_new == 0 {
        return None;
    }
    let by_count = every.n_events.is_some_and(|it| n_new >= it).then_some(LEAST_APART);
    let due = by_count.into_iter().chain(every.time.map(|it| it.max(LEAST_APART))).min()?;
    Some(due.saturating_sub(passed))
}

fn tell(error: &EngineError) {
    let error: &(dyn std::error::Error + 'static) = error;
    tracing::warn!(error, "no checkpoint could be signed");
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: CheckpointEvery =
        CheckpointEvery { n_events: Some(100), time: Some(Duration::from_secs(600)) };

    #[test]
    fn a_checkpoint_is_due_by_count_or_by_time() {
        let secs = Duration::from_secs;
        for (n_new, passed, expected) in [
            (0, secs(10_000), None),
            (1, secs(0), Some(secs(600))),
            (1, secs(601), Some(secs(0))),
            (100, secs(3), Some(secs(7))),
            (100, secs(11), Some(secs(0))),
        ] {
            assert_eq!(wait(EVERY, n_new, passed), expected, "{n_new} {passed:?}");
        }
        let never = CheckpointEvery { n_events: None, time: None };
        assert_eq!(wait(never, 1_000_000, secs(10_000)), None);
    }
}

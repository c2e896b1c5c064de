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
    let mut signed = match engine.last_checkpoint().await {
        Ok(last) => last.and_then(|it| it.signed.check().ok()).map_or(0, |it| it.log.position),
        Err(error) => return tell(&error.into()),
    };
    let mut last_at = Instant::now();
    loop {
        let Position(now) = *tip.borrow_and_update();
        let wait = wait(every, now.saturating_sub(signed), last_at.elapsed());
        if wait == Some(Duration::ZERO) {
            match engine.checkpoint().await {
                Ok(row) => signed = row.signed.check().map_or(now, |it| it.log.position),
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

//! Keeps the archive up to date while a server runs: at most twice a second, with backoff while the
//! disk fails.

use std::sync::Arc;
use std::time::Duration;

use baton_store::Position;
use tokio::sync::watch;

use super::{Archive, ArchiveError, Archived, RUNS_OF_A_PASS};
use baton_engine::{BackgroundTask, EngineError};

/// Minimum time between two passes.
const EVERY: Duration = Duration::from_millis(500);
/// Maximum backoff while the disk fails.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// The state of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ArchiveHealth {
    /// No archivist is running.
    #[default]
    Off,
    /// Everything up to here is on disk.
    Well { upto: Position },
    /// It is behind, for this reason. No run waits for it.
    Failing { problem: String },
}

/// Follows the log until it is stopped.
pub struct Archivist;

impl Archivist {
    pub fn start(archive: Arc<Archive>) -> BackgroundTask {
        BackgroundTask::start(|stopped| async move {
            follow(&archive, stopped).await;
            archive.health.send_replace(ArchiveHealth::Off);
        })
    }
}

async fn follow(archive: &Archive, mut stopped: watch::Receiver<bool>) {
    let mut tip = archive.engine.tip();
    let mut patience = EVERY;
    loop {
        // Mark the tip as seen before the pass: events committed during it belong to the next one.
        tip.borrow_and_update();
        let caught_up = archive.pass(RUNS_OF_A_PASS).await;
        match caught_up {
            Err(ArchiveError::Engine(EngineError::Closing)) => return,
            Ok(Archived { is_behind: true, .. }) if !*stopped.borrow() => continue,
            Ok(_) | Err(_) => {}
        }
        let is_well = report(archive, caught_up.map(|_| ())).await;
        patience = if is_well { EVERY } else { (patience * 2).min(MOST_PATIENCE) };
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            () = tokio::time::sleep(patience) => {}
        }
        // While the disk fails, there is work to do even without new events.
        if is_well {
            tokio::select! {
                _ = stopped.wait_for(|it| *it) => return,
                changed = tip.changed() => if changed.is_err() { return },
            }
        }
    }
}

/// Publishes the health, and logs only changes of it. True where all is well.
async fn report(archive: &Archive, caught_up: Result<(), ArchiveError>) -> bool {
    let read = match caught_up {
        Ok(()) => archive.written_to().await,
        Err(error) => Err(error),
    };
    let health = match &read {
        Ok(upto) => ArchiveHealth::Well { upto: *upto },
        Err(error) => ArchiveHealth::Failing { problem: error.to_string() },
    };
    let before = archive.health.send_replace(health.clone());
    match (&before, &health) {
        (ArchiveHealth::Failing { .. }, ArchiveHealth::Well { .. }) => {
            tracing::info!("the archive is written again");
        }
        (_, ArchiveHealth::Failing { problem }) if before != health => {
            tracing::warn!(problem, "the archive cannot be written; the runs go on without it");
        }
        (_, ArchiveHealth::Off | ArchiveHealth::Well { .. } | ArchiveHealth::Failing { .. }) => {}
    }
    read.is_ok()
}

//! Keeps the archive up to date while a server runs: at most twice a second, and patient with a
//! disk that fails.

use std::time::Duration;

use baton_store::Position;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Archive, ArchiveError, Archived, PROJECTOR, RUNS_OF_A_PASS};
use crate::{Engine, EngineError};

/// A pass, and then at least so long none.
const EVERY: Duration = Duration::from_millis(500);
/// The longest wait for a disk that fails.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// How the archive fares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ArchiveHealth {
    /// Nobody keeps one.
    #[default]
    Off,
    /// Everything up to here is on disk.
    Well { upto: Position },
    /// It is behind, and this is why. No run waits for it.
    Failing { problem: String },
}

/// Follows the log until it is stopped.
pub struct Archivist {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Archivist {
    pub fn start(archive: Archive) -> Self {
        let (stop, stopped) = watch::channel(false);
        let engine = archive.engine.clone();
        let task = tokio::spawn(async move {
            follow(archive, stopped).await;
            engine.archive.health.send_replace(ArchiveHealth::Off);
        });
        Self { stop, task }
    }

    /// Lets the pass under way finish.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // A panic in it has been reported by the runtime.
        let _ = self.task.await;
    }
}

async fn follow(archive: Archive, mut stopped: watch::Receiver<bool>) {
    let engine = archive.engine.clone();
    let mut tip = engine.tip.subscribe();
    let mut patience = EVERY;
    loop {
        // Seen before the pass: what commits during it is told in the next one.
        tip.borrow_and_update();
        let caught_up = archive.pass(RUNS_OF_A_PASS).await;
        match caught_up {
            Err(ArchiveError::Engine(EngineError::Closing)) => return,
            Ok(Archived { is_behind: true, .. }) if !*stopped.borrow() => continue,
            Ok(_) | Err(_) => {}
        }
        let is_well = report(&engine, caught_up.map(|_| ())).await;
        patience = if is_well { EVERY } else { (patience * 2).min(MOST_PATIENCE) };
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            () = tokio::time::sleep(patience) => {}
        }
        // With a disk that fails there is something to do in any case.
        if is_well {
            tokio::select! {
                _ = stopped.wait_for(|it| *it) => return,
                changed = tip.changed() => if changed.is_err() { return },
            }
        }
    }
}

/// Tells whoever asks, and the log only where it is news. True where all is well.
async fn report(engine: &Engine, caught_up: Result<(), ArchiveError>) -> bool {
    let read = match caught_up {
        Ok(()) => engine.store.cursor(PROJECTOR).await.map_err(ArchiveError::from),
        Err(error) => Err(error),
    };
    let health = match &read {
        Ok(upto) => ArchiveHealth::Well { upto: *upto },
        Err(error) => ArchiveHealth::Failing { problem: error.to_string() },
    };
    let before = engine.archive.health.send_replace(health.clone());
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

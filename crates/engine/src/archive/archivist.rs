//! Keeps the archive up to date while a server runs: at most twice a second, and patient with a
//! disk that fails.

use std::sync::Arc;
use std::time::Duration;

use baton_store::Position;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::{Archive, ArchiveError, Archived, PROJECTOR};
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

/// Where the engine and its archivist meet.
#[derive(Default)]
pub(crate) struct Desk {
    health: watch::Sender<ArchiveHealth>,
    /// To whoever keeps the archive now.
    keeper: watch::Sender<Option<mpsc::Sender<Rebuild>>>,
}

/// Somebody wants everything made again, and waits for the answer.
type Rebuild = oneshot::Sender<Result<Archived, ArchiveError>>;

impl Engine {
    /// How the archive fares, now and from now on.
    pub fn archive_health(&self) -> watch::Receiver<ArchiveHealth> {
        self.archive.health.subscribe()
    }

    /// How many events there are that the archive does not tell of yet.
    pub async fn archive_behind(&self) -> Result<u64, EngineError> {
        let done = self.store.cursor(PROJECTOR).await?;
        let last = self.store.last_position().await?;
        Ok(last.0.saturating_sub(done.0))
    }

    /// Lets the archivist make everything again, between two of its passes.
    pub async fn rebuild_archive(&self) -> Result<Archived, EngineError> {
        let keeper = self.archive.keeper.borrow().clone().ok_or(EngineError::NoArchive)?;
        let (answer, answered) = oneshot::channel();
        keeper.send(answer).await.map_err(|_| EngineError::Closing)?;
        match answered.await {
            Ok(Ok(archived)) => Ok(archived),
            Ok(Err(ArchiveError::Engine(error))) => Err(error),
            Ok(Err(ArchiveError::Disk(error))) => {
                Err(EngineError::ArchiveFailing { problem: error.to_string() })
            }
            Err(_) => Err(EngineError::Closing),
        }
    }
}

/// Follows the log until it is stopped.
pub struct Archivist {
    engine: Arc<Engine>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Archivist {
    pub fn start(archive: Archive) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (keeper, rebuilds) = mpsc::channel(1);
        let engine = archive.engine.clone();
        engine.archive.keeper.send_replace(Some(keeper));
        let task = tokio::spawn(follow(archive, stopped, rebuilds));
        Self { engine, stop, task }
    }

    /// Lets the pass under way finish.
    pub async fn stop(self) {
        self.engine.archive.keeper.send_replace(None);
        self.stop.send_replace(true);
        // A panic in it has been reported by the runtime.
        let _ = self.task.await;
    }
}

async fn follow(
    archive: Archive,
    mut stopped: watch::Receiver<bool>,
    mut rebuilds: mpsc::Receiver<Rebuild>,
) {
    let engine = archive.engine.clone();
    let mut tip = engine.tip.subscribe();
    let mut patience = EVERY;
    loop {
        // Seen before the pass: what commits during it is told in the next one.
        tip.borrow_and_update();
        let caught_up = archive.catch_up().await;
        if let Err(ArchiveError::Engine(EngineError::Closing)) = caught_up {
            return;
        }
        let is_well = report(&engine, caught_up.map(|_| ())).await;
        patience = if is_well { EVERY } else { (patience * 2).min(MOST_PATIENCE) };
        let pause = async {
            tokio::time::sleep(patience).await;
            // With a disk that fails there is something to do in any case.
            if is_well && tip.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let asked = tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            Some(answer) = rebuilds.recv() => Some(answer),
            () = pause => None,
        };
        if let Some(answer) = asked {
            // Whoever asked may be gone; it is made again all the same.
            let _ = answer.send(archive.rebuild().await);
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

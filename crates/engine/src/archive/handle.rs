//! What the engine knows of its archive, and how others ask for it.

use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex, MutexGuard, watch};

use super::{Archive, ArchiveError, ArchiveHealth, ArchivePlaces, Archived, PROJECTOR};
use crate::{Engine, EngineError};

#[derive(Default)]
pub(crate) struct ArchiveHandle {
    pub(super) health: watch::Sender<ArchiveHealth>,
    places: OnceLock<ArchivePlaces>,
    /// Held by whoever writes: two at once would be in each other's way.
    at_work: Mutex<()>,
}

impl ArchiveHandle {
    pub(super) async fn work(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().await
    }
}

/// How far the files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveStatus {
    pub places: ArchivePlaces,
    /// How many events there are that the files do not tell of yet.
    pub n_behind: u64,
    /// What keeps it from being written.
    pub problem: Option<String>,
}

impl Engine {
    /// From now on there is an archive, at these places. Whoever comes second changes nothing.
    pub fn keep_archive(&self, places: ArchivePlaces) {
        let _ = self.archive.places.set(places);
    }

    /// None where the project keeps none.
    pub fn archive(self: &Arc<Self>) -> Option<Archive> {
        self.archive.places.get().map(|it| Archive::new(self.clone(), it.clone()))
    }

    /// How the archive fares under an [`Archivist`](crate::Archivist), now and from now on.
    pub fn archive_health(&self) -> watch::Receiver<ArchiveHealth> {
        self.archive.health.subscribe()
    }

    /// How many events there are that the archive does not tell of yet.
    pub async fn archive_behind(&self) -> Result<u64, EngineError> {
        let done = self.store.cursor(PROJECTOR).await?;
        let last = self.store.last_position().await?;
        Ok(last.0.saturating_sub(done.0))
    }

    /// How far the archive is. Where nobody follows the log, it is brought up to date first.
    pub async fn archive_status(self: &Arc<Self>) -> Result<ArchiveStatus, EngineError> {
        let archive = self.archive().ok_or(EngineError::NoArchive)?;
        let places = archive.places().clone();
        let health = self.archive.health.borrow().clone();
        let problem = match health {
            ArchiveHealth::Off => match archive.catch_up().await {
                Ok(_) => None,
                Err(ArchiveError::Disk(error)) => Some(error.to_string()),
                Err(ArchiveError::Engine(error)) => return Err(error),
            },
            ArchiveHealth::Well { .. } => None,
            ArchiveHealth::Failing { problem } => Some(problem),
        };
        Ok(ArchiveStatus { places, n_behind: self.archive_behind().await?, problem })
    }

    /// Makes the archive again, to the end, even where whoever asked has gone.
    pub async fn rebuild_archive(self: &Arc<Self>) -> Result<Archived, EngineError> {
        let archive = self.archive().ok_or(EngineError::NoArchive)?;
        let rebuilt = tokio::spawn(async move { archive.rebuild().await }).await;
        match rebuilt {
            Ok(Ok(archived)) => Ok(archived),
            Ok(Err(ArchiveError::Engine(error))) => Err(error),
            Ok(Err(ArchiveError::Disk(error))) => {
                Err(EngineError::ArchiveFailing { problem: error.to_string() })
            }
            // The runtime is going down.
            Err(_) => Err(EngineError::Closing),
        }
    }
}

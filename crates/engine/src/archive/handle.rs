//! The engine's handle on its archive, and its status for callers.

use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex, MutexGuard, watch};

use super::{Archive, ArchiveError, ArchiveHealth, ArchivePlaces, Archived, PROJECTOR};
use crate::{Engine, EngineError};

#[derive(Default)]
pub(crate) struct ArchiveHandle {
    pub(super) health: watch::Sender<ArchiveHealth>,
    places: OnceLock<ArchivePlaces>,
    /// Held while writing: two concurrent writers would conflict.
    at_work: Mutex<()>,
}

impl ArchiveHandle {
    pub(super) async fn work(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().await
    }
}

/// How up to date the files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveStatus {
    pub places: ArchivePlaces,
    /// How many events the files do not contain yet.
    pub n_behind: u64,
    /// What prevents it from being written.
    pub problem: Option<String>,
}

impl Engine {
    /// Turns the archive on, at these places. A second call changes nothing.
    pub fn keep_archive(&self, places: ArchivePlaces) {
        let _ = self.archive.places.set(places);
    }

    /// None where the project keeps no archive.
    pub fn archive(self: &Arc<Self>) -> Option<Archive> {
        self.archive.places.get().map(|it| Archive::new(self.clone(), it.clone()))
    }

    /// The health of the archive under an [`Archivist`](crate::Archivist), now and as it changes.
    pub fn archive_health(&self) -> watch::Receiver<ArchiveHealth> {
        self.archive.health.subscribe()
    }

    /// How many events the archive does not contain yet.
    pub async fn archive_behind(&self) -> Result<u64, EngineError> {
        let done = self.store.cursor(PROJECTOR).await?;
        let last = self.store.last_position().await?;
        Ok(last.0.saturating_sub(done.0))
    }

    /// How up to date the archive is. Without an archivist, it is brought up to date first.
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

    /// Rebuilds the archive to the end, even if the caller is cancelled.
    pub async fn rebuild_archive(self: &Arc<Self>) -> Result<Archived, EngineError> {
        let archive = self.archive().ok_or(EngineError::NoArchive)?;
        let rebuilt = tokio::spawn(async move { archive.rebuild().await }).await;
        match rebuilt {
            Ok(Ok(archived)) => Ok(archived),
            Ok(Err(ArchiveError::Engine(error))) => Err(error),
            Ok(Err(ArchiveError::Disk(error))) => {
                Err(EngineError::ArchiveFailing { problem: error.to_string() })
            }
            // The runtime is shutting down.
            Err(_) => Err(EngineError::Closing),
        }
    }
}

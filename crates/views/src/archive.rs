//! The YAML handoff's `state/current.json` and the archive of sessions: files that follow the log.
//!
//! A projection: everything here can be rebuilt from the store, no run waits for it, and its cursor
//! moves only once the files are on disk. So a pass that is killed at any point is repeated, and
//! writes the same files. `docs/archive.md` describes their content.

mod archivist;
mod bounds;
mod cursor;
mod decided;
mod disk;
mod escaped;
mod event_text;
mod facts;
mod handoff;
mod log;
mod newer;
mod rebuild;
mod rendered;
mod session;
mod state;
mod workflow_state;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{Mutex, OnceCell, watch};

use baton_core::run::RunId;
use baton_store::{EventFilter, Position, StoreError, StoredEvent};

use self::bounds::Bounds;
use self::disk::Disk;
use self::rendered::{RenderedSession, is_own, rendered};
use crate::Views;
use baton_engine::{Caller, Engine, EngineError};

pub use self::archivist::{ArchiveHealth, Archivist};
pub use self::bounds::MOST_LOG_BYTES as ARCHIVED_LOG_MOST_BYTES;
pub use self::disk::DiskError;
pub use self::newer::run_of_session;

const PAGE: u32 = 500;
/// How many runs a pass writes before the cursor moves and the pass can be stopped.
const RUNS_OF_A_PASS: usize = 500;
/// How many runs a short-lived process (one command) writes at most.
const FEW_RUNS: usize = 16;

/// Where the files go: relative to the project, and never outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivePlaces {
    /// The project's own folder.
    pub root: PathBuf,
    /// The folder of `current.json` and `runs/`.
    pub state: PathBuf,
    /// The folder of the sessions.
    pub sessions: PathBuf,
}

/// Writes the projection of the log. Only one process may have one.
pub struct Archive {
    engine: Arc<Engine>,
    /// The reader of the log: Baton itself.
    caller: Caller,
    places: Arc<ArchivePlaces>,
    disk: Disk,
    /// The name of its cursor in the store.
    cursor: OnceCell<String>,
    health: watch::Sender<ArchiveHealth>,
    /// Held while writing: two concurrent writers would conflict.
    at_work: Mutex<()>,
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

/// What one pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Archived {
    pub n_runs: u64,
    /// Runs that cannot be read, so their archive files are out of date or missing.
    pub n_unreadable: u64,
    /// Session folders whose name matches no run of this store. Only a rebuild looks for them.
    pub n_unknown: u64,
    /// Sessions with events that this store does not have; they were moved aside.
    pub n_kept: u64,
    /// More runs remain to be written.
    pub is_behind: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Disk(DiskError),
    #[error(transparent)]
    Engine(EngineError),
}

impl From<EngineError> for ArchiveError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<StoreError> for ArchiveError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Archive {
    pub fn new(engine: Arc<Engine>, places: ArchivePlaces) -> Self {
        let disk = Disk::new(places.root.clone());
        let health = watch::Sender::default();
        let (caller, at_work) = (Caller::of_baton("baton:archive"), Mutex::new(()));
        let (places, cursor) = (Arc::new(places), OnceCell::new());
        Self { engine, caller, places, disk, cursor, health, at_work }
    }

    pub fn places(&self) -> &ArchivePlaces {
        &self.places
    }

    /// The health of the archive under an [`Archivist`], now and as it changes.
    pub fn health(&self) -> watch::Receiver<ArchiveHealth> {
        self.health.subscribe()
    }

    /// Whether an [`Archivist`] keeps it up to date.
    pub fn is_followed(&self) -> bool {
        *self.health.borrow() != ArchiveHealth::Off
    }

    /// How many events the files do not contain yet.
    pub async fn behind(&self) -> Result<u64, EngineError> {
        let done = match self.written_to().await {
            Ok(done) => done,
            Err(ArchiveError::Engine(error)) => return Err(error),
            Err(ArchiveError::Disk(error)) => {
                return Err(EngineError::ArchiveFailing { problem: error.to_string() });
            }
        };
        self.engine.n_behind(done).await
    }

    /// How up to date the archive is. Without an archivist, it is brought up to date first.
    pub async fn status(&self) -> Result<ArchiveStatus, EngineError> {
        let health = self.health.borrow().clone();
        let problem = match health {
            ArchiveHealth::Off => match self.catch_up().await {
                Ok(_) => None,
                Err(ArchiveError::Disk(error)) => Some(error.to_string()),
                Err(ArchiveError::Engine(error)) => return Err(error),
            },
            ArchiveHealth::Well { .. } => None,
            ArchiveHealth::Failing { problem } => Some(problem),
        };
        Ok(ArchiveStatus { places: self.places().clone(), n_behind: self.behind().await?, problem })
    }

    /// Rebuilds the archive to the end, even if the caller is cancelled.
    pub async fn rebuild_to_the_end(self: &Arc<Self>) -> Result<Archived, EngineError> {
        let archive = self.clone();
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

    fn views(&self) -> Views<'_> {
        Views::new(&self.engine, &self.caller)
    }

    /// Writes every event that is not written yet.
    pub async fn catch_up(&self) -> Result<Archived, ArchiveError> {
        let mut archived = Archived::default();
        loop {
            let pass = self.pass(RUNS_OF_A_PASS).await?;
            archived.n_runs += pass.n_runs;
            archived.n_unreadable += pass.n_unreadable;
            archived.n_kept += pass.n_kept;
            if !pass.is_behind {
                return Ok(archived);
            }
        }
    }

    /// As [`Archive::catch_up`], limited to a small batch: for a process that runs one command and
    /// ends.
    pub async fn catch_up_some(&self) -> Result<Archived, ArchiveError> {
        self.pass(FEW_RUNS).await
    }

    /// Writes the next batch of events, each file at most once.
    async fn pass(&self, most_runs: usize) -> Result<Archived, ArchiveError> {
        let _at_work = self.at_work.lock().await;
        let _held = self.hold().await?;
        let from = self.written_to().await?;
        let Some(news) = self.news(from, most_runs).await? else { return Ok(Archived::default()) };
        let mut archived = Archived { is_behind: news.is_cut, ..Archived::default() };
        let mut last = None;
        for run in &news.runs {
            let rendered = self.rendered(*run, &mut archived).await?;
            let is_last = *run == news.last;
            let Some(rendered) = rendered else { continue };
            last = is_last.then(|| rendered.state.clone()).or(last);
            let kept = self.on_disk(move |disk, places| write(disk, places, &rendered)).await?;
            archived.n_kept += u64::from(kept.is_some());
        }
        if let Some(state) = last {
            self.on_disk(move |disk, places| disk.write(&places.state, CURRENT, &state)).await?;
        }
        self.write_project().await?;
        // If another writer has advanced the cursor meanwhile, it has written the same files.
        self.move_cursor(from, news.upto).await?;
        Ok(archived)
    }

    /// Records the archive's project, so that a project that lost its data does not look new.
    async fn write_project(&self) -> Result<(), ArchiveError> {
        let project = self.views().identity().await?.project;
        let text = format!("{{\n  \"project\": \"{project}\"\n}}\n");
        self.on_disk(move |disk, places| disk.write(&places.state, ARCHIVED_PROJECT, &text)).await
    }

    /// The first `most_runs` runs with events after the cursor, and which of them moved last.
    async fn news(&self, from: Position, most_runs: usize) -> Result<Option<News>, ArchiveError> {
        let mut news: Option<News> = None;
        loop {
            let after = news.as_ref().map_or(from, |it| it.upto);
            let filter = EventFilter { after, run: None, limit: PAGE };
            let events = self.views().events(&filter).await?;
            if events.is_empty() {
                return Ok(news);
            }
            for event in &events {
                let news = news.get_or_insert_with(|| News::before(event));
                if !news.runs.contains(&event.run) && news.runs.len() >= most_runs {
                    news.is_cut = true;
                    break;
                }
                news.add(event);
            }
            if news.as_ref().is_some_and(|it| it.is_cut) {
                return Ok(news);
            }
        }
    }

    /// One unreadable run must not hide the others.
    async fn rendered(
        &self,
        run: RunId,
        archived: &mut Archived,
    ) -> Result<Option<RenderedSession>, EngineError> {
        match self.views().history(run).await {
            Ok(history) => {
                archived.n_runs += 1;
                // Large packages take a while to print, so not on a thread that serves requests.
                match tokio::task::spawn_blocking(move || rendered(&history, &Bounds::default()))
                    .await
                {
                    Ok(rendered) => Ok(Some(rendered)),
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                }
            }
            Err(error @ EngineError::Store(StoreError::Damaged { .. })) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, %run, "a run cannot be archived");
                archived.n_unreadable += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs on a blocking thread, where waiting for the disk delays no request.
    async fn on_disk<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Disk, &ArchivePlaces) -> Result<T, DiskError> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        let (disk, places) = (self.disk.clone(), self.places.clone());
        let written = tokio::task::spawn_blocking(move || write(&disk, &places)).await;
        match written {
            Ok(written) => written.map_err(ArchiveError::Disk),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

/// The events after the cursor.
struct News {
    runs: BTreeSet<RunId>,
    /// The run with the newest event.
    last: RunId,
    upto: Position,
    /// Other runs have moved too, and are left for the next pass.
    is_cut: bool,
}

impl News {
    fn before(event: &StoredEvent) -> Self {
        Self { runs: BTreeSet::new(), last: event.run, upto: event.position, is_cut: false }
    }

    fn add(&mut self, event: &StoredEvent) {
        self.runs.insert(event.run);
        self.last = event.run;
        self.upto = event.position;
    }
}

/// In the folder of states: which project the archive belongs to.
pub const ARCHIVED_PROJECT: &str = "project.json";
/// In the folder of states: the workflows that runs are pinned to, by their hashes.
pub const ARCHIVED_WORKFLOWS: &str = "workflows";
/// In a session folder: the run as hash-chained lines that can be verified on their own.
pub const ARCHIVED_LOG: &str = log::LOG;
const CURRENT: &str = "current.json";
const RUNS: &str = "runs";

/// Writes the files of a run, in the folders that exist. Returns the new name of a session that was
/// moved aside because it has more events.
fn write(
    disk: &Disk,
    places: &ArchivePlaces,
    rendered: &RenderedSession,
) -> Result<Option<String>, DiskError> {
    let name = rendered.run.to_string();
    let kept = keep_newer(disk, places, rendered)?;
    write_session(disk, places, &name, rendered)?;
    // Leftovers of a rebuild that was killed.
    disk.remove(&places.sessions, &fresh(&name))?;
    disk.settle(&places.sessions, &name, is_own)?;
    write_state(disk, places, &name, rendered)?;
    Ok(kept)
}

/// Moves the session of a run aside if it has events that the store does not have.
fn keep_newer(
    disk: &Disk,
    places: &ArchivePlaces,
    rendered: &RenderedSession,
) -> Result<Option<String>, DiskError> {
    let RenderedSession { run, hashes, .. } = rendered;
    let kept = disk.keep_newer(&places.sessions, *run, hashes, is_own)?;
    if let Some(folder) = &kept {
        let folder = places.sessions.join(folder);
        tracing::warn!(
            %run,
            folder = %folder.display(),
            "the archive had more events of this run than the database; they are kept"
        );
    }
    Ok(kept)
}

fn fresh(name: &str) -> String {
    format!(".{name}.new")
}

fn write_session(
    disk: &Disk,
    places: &ArchivePlaces,
    folder: &str,
    rendered: &RenderedSession,
) -> Result<(), DiskError> {
    let folder = places.sessions.join(folder);
    for (path, text) in &rendered.session {
        match path.rsplit_once('/') {
            Some((below, name)) => disk.write(&folder.join(below), name, text)?,
            None => disk.write(&folder, path, text)?,
        }
    }
    Ok(())
}

/// Only open runs have a state.
fn write_state(
    disk: &Disk,
    places: &ArchivePlaces,
    name: &str,
    rendered: &RenderedSession,
) -> Result<(), DiskError> {
    if let Some((file, text)) = &rendered.workflow {
        disk.write(&places.state.join(ARCHIVED_WORKFLOWS), file, text)?;
    }
    let runs = places.state.join(RUNS);
    let file = format!("{name}.json");
    if rendered.is_open {
        disk.write(&runs, &file, &rendered.state)
    } else {
        disk.remove(&runs, &file)
    }
}

#[cfg(test)]
mod tests;

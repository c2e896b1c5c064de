//! The workflow and agent files of a database (`baton push`): every node uses them, whatever files its own
//! folder has. Where none was pushed, the files of the folder count.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::hash::Hash;
use baton_engine::{Catalog, CatalogSource};
use baton_store::StoreResult;
use baton_store_postgres::{PostgresStore, PushedFile};
use baton_wire::project_file::{self, ProjectFile};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::loaded::LoadedFiles;
use super::source::{self, MOST_BYTES};
use super::watched::WatchedFiles;
use super::{FOLDER, PROJECT_FILE, Project};
use crate::failure::Failure;

/// The files that a project would push: its own, and no built-in ones.
pub(crate) fn to_push(project: &Project) -> Result<Vec<PushedFile>, Failure> {
    let mut files = Vec::new();
    for (path, file) in source::own_files(&project.dir) {
        let text = file.text()?.to_owned();
        files.push(PushedFile { path, hash: Hash::of(text.as_bytes()), text });
    }
    let path = settings_path();
    match project.dir.read_text(&path, MOST_BYTES) {
        Ok(text) => files.push(PushedFile { path, hash: Hash::of(text.as_bytes()), text }),
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(error.into()),
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn settings_path() -> String {
    format!("{FOLDER}/{PROJECT_FILE}")
}

/// The files that a process with a database uses.
pub(crate) struct DatabaseFiles {
    own: WatchedFiles,
    settings: ProjectFile,
    seen: Mutex<SeenPush>,
}

struct SeenPush {
    files: Vec<PushedFile>,
    /// Whether the catalog has not been made of them yet.
    is_news: bool,
}

impl DatabaseFiles {
    /// The files as they are now, and their catalog.
    pub(crate) fn of(
        project: &Project,
        pushed: Vec<PushedFile>,
    ) -> Result<(Self, Catalog), Failure> {
        let (own, own_catalog) = WatchedFiles::of(project)?;
        let settings = project.file.clone();
        let catalog = catalog_of(&pushed, &settings).unwrap_or(own_catalog);
        let seen = Mutex::new(SeenPush { files: pushed, is_news: false });
        Ok((Self { own, settings, seen }, catalog))
    }

    pub(crate) fn n_pushed(&self) -> usize {
        self.seen().files.len()
    }

    fn take(&self, files: Vec<PushedFile>) {
        let mut seen = self.seen();
        if seen.files != files {
            *seen = SeenPush { files, is_news: true };
        }
    }

    fn seen(&self) -> MutexGuard<'_, SeenPush> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CatalogSource for DatabaseFiles {
    fn changed(&self) -> Option<Catalog> {
        let mut seen = self.seen();
        let is_news = std::mem::take(&mut seen.is_news);
        match catalog_of(&seen.files, &self.settings) {
            Some(catalog) => is_news.then_some(catalog),
            // The pushed files were taken away, or there never were any.
            None => self.own.changed().or_else(|| is_news.then(|| self.own.catalog())),
        }
    }
}

/// `None` where nothing was pushed. Files were checked before they were pushed.
fn catalog_of(files: &[PushedFile], own: &ProjectFile) -> Option<Catalog> {
    if files.is_empty() {
        return None;
    }
    Some(LoadedFiles::of_pushed(files).catalog(&settings_in(files, own)))
}

/// The settings among pushed files. What is started here is said by the files of this machine, which its
/// user trusts.
pub(super) fn settings_in(files: &[PushedFile], own: &ProjectFile) -> ProjectFile {
    let settings = files.iter().find(|it| it.path == settings_path());
    let settings = settings.and_then(|it| project_file::parse(&it.text).ok());
    let settings = settings.unwrap_or_else(|| own.clone());
    ProjectFile { runner: own.runner.clone(), checks: own.checks.clone(), ..settings }
}

const EVERY: Duration = Duration::from_secs(2);

/// Looks for another push every few seconds.
pub(crate) struct PushWatcher {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl PushWatcher {
    pub(crate) fn start(store: Arc<PostgresStore>, files: Arc<DatabaseFiles>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let mut version = None;
            loop {
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    _ = stopped.changed() => return,
                }
                if let Err(error) = look(&store, &files, &mut version).await {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "pushed files cannot be looked for");
                }
            }
        });
        Self { stop, task }
    }

    pub(crate) async fn stop(self) {
        // The task is gone if it failed.
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}

async fn look(
    store: &PostgresStore,
    files: &DatabaseFiles,
    version: &mut Option<Option<String>>,
) -> StoreResult<()> {
    let found = Some(store.pushed_version().await?);
    if found != *version {
        files.take(store.pushed_files().await?);
        *version = found;
    }
    Ok(())
}

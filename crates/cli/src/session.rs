//! A project opened in this process: its store and the engine over it.

mod database;
mod folder;

use std::sync::Arc;

use baton_core::names::Principal;
use baton_engine::{Catalog, CatalogSource, Clock, Engine, EngineError, SystemClock};
use baton_files::Dir;
use baton_http::{Backend, UsageMetrics};
use baton_store::{Store, StoreError};
use baton_store_sqlite::DataLock;
use baton_views::Archive;

pub(crate) use self::database::{
    DatabaseStore, as_nodes_use_it, forget_database, open_database, open_existing_database,
    pushed_files, refuse_folder,
};
pub(crate) use self::folder::{FolderStore, OpenedStore, cannot_tell, inspect};
use crate::api::warn_not_ready;
use crate::archive;
use crate::args::Cli;
use crate::checkpoint_key::DataKeys;
use crate::failure::Failure;
use crate::nodes::DatabaseNodes;
use crate::project::{DatabaseFiles, Project, ProjectDatabase, WatchedFiles, tell_left_out};
use crate::workspace::Folder;

/// How a command accesses the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Read and possibly write.
    Change,
    /// Read the current state: overdue handoffs are marked first, unless a killed process left a
    /// log and the data is damaged or larger than what is verified in a moment.
    Read,
    /// Read without changing anything.
    Inspect,
}

pub(crate) struct Session {
    pub(crate) engine: Arc<Engine>,
    /// None where the project keeps no archive.
    pub(crate) archive: Option<Arc<Archive>>,
    /// The engine's own store.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) project: Project,
    /// The same store, for what only its backend has.
    pub(crate) backend: StoreBackend,
    writing: Writing,
}

/// Where the data is.
pub(crate) enum StoreBackend {
    Folder(FolderStore),
    Database(DatabaseStore),
}

impl Session {
    /// Over data in a folder, which the caller has locked.
    pub(crate) async fn of(
        project: Project,
        lock: DataLock,
        purpose: Purpose,
    ) -> Result<Self, Failure> {
        FolderStore::prepare(&project, &lock)?;
        let (files, catalog) = WatchedFiles::of(&project)?;
        tell_files(&catalog, purpose);
        let (opened, writing) = FolderStore::open(&project, lock, purpose).await?;
        let (store, clock) = (opened.store.clone(), Arc::new(SystemClock));
        let (files, backend) = ((Arc::new(files) as _, catalog), StoreBackend::Folder(opened));
        Self::over(project, files, (store, clock), backend, (writing, purpose)).await
    }

    /// Over a database, which other processes may use too.
    pub(crate) async fn of_database(
        project: Project,
        database: &ProjectDatabase,
        purpose: Purpose,
    ) -> Result<Self, Failure> {
        let opened = DatabaseStore::open(&project, database).await?;
        let (files, catalog) = match DatabaseFiles::of(&project, opened.store.pushed_files().await?)
        {
            Ok(files) => files,
            Err(failure) => {
                opened.store.close().await;
                return Err(failure);
            }
        };
        tell_files(&catalog, purpose);
        let files = Arc::new(files);
        let opened = DatabaseStore { files: Some(files.clone()), ..opened };
        let writing = match purpose {
            Purpose::Change | Purpose::Read => Writing::Allowed,
            Purpose::Inspect => Writing::Withheld,
        };
        let (store, clock) = (opened.store.clone(), Arc::new(opened.clock()));
        let backend = StoreBackend::Database(opened);
        Self::over(project, (files, catalog), (store, clock), backend, (writing, purpose)).await
    }

    async fn over(
        project: Project,
        (files, catalog): (Arc<dyn CatalogSource>, Catalog),
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
        backend: StoreBackend,
        (writing, purpose): (Writing, Purpose),
    ) -> Result<Self, Failure> {
        let engine = Engine::open(store.clone(), clock, catalog).await?;
        let engine = engine.with_catalog_source(files);
        let data = backend.data();
        let (identity, data_dir) = (data.own_entry()?.identity, Some(data.again()?));
        let folder = Folder { dir: project.dir.again()?, data: identity, data_dir };
        let engine = engine.with_workspace(Arc::new(folder));
        let engine = engine.with_checkpoint_keys(Arc::new(DataKeys(data.again()?)));
        match writing {
            Writing::Allowed => sweep(store.as_ref(), &engine, purpose).await?,
            Writing::Withheld => {}
        }
        let engine = Arc::new(engine);
        let archive = archive::places(&project);
        let archive = archive.map(|it| Arc::new(Archive::new(engine.clone(), it)));
        Ok(Self { engine, archive, store, project, backend, writing })
    }

    /// The folder of the data, or of what belongs to this machine where the data is in a database.
    pub(crate) fn data(&self) -> &Dir {
        self.backend.data()
    }

    /// What the faces of this process stand on.
    pub(crate) fn faces(&self) -> Backend {
        Backend {
            engine: self.engine.clone(),
            archive: self.archive.clone(),
            project: self.project.name(),
            runner_key: None,
            usage: UsageMetrics::default(),
            notice: None,
            cluster: match &self.backend {
                StoreBackend::Folder(_) => None,
                StoreBackend::Database(it) => Some(Arc::new(DatabaseNodes(it.store.clone()))),
            },
        }
    }

    /// Writes the archive, where there is one, and closes everything.
    pub(crate) async fn close(self) {
        // No archive while writes fail; the user has been warned.
        if self.writing == Writing::Allowed && self.engine.write_fault().is_none() {
            archive::catch_up(&self).await;
        }
        self.engine.shutdown().await;
    }
}

impl StoreBackend {
    fn data(&self) -> &Dir {
        match self {
            Self::Folder(it) => it.lock.dir(),
            Self::Database(it) => &it.data,
        }
    }
}

/// What is left out of the workflow and agent files.
fn tell_files(catalog: &Catalog, purpose: Purpose) {
    match purpose {
        Purpose::Change | Purpose::Read => tell_left_out(catalog),
        // These commands use no workflow, or report on all files.
        Purpose::Inspect => {}
    }
}

/// Whether a session writes on its own: marks overdue handoffs, keeps the archive up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    Allowed,
    Withheld,
}

/// While no server runs, only commands mark what is overdue. All of it could be a lot: every
/// command does some, and a server does the rest.
async fn sweep(store: &dyn Store, engine: &Engine, purpose: Purpose) -> Result<(), Failure> {
    match (store.write_fault(), engine.sweep_some().await) {
        (None, Ok(_)) => {}
        (Some(fault), _) | (_, Err(EngineError::Store(StoreError::Unwritable(fault)))) => {
            match purpose {
                // What it cannot record is its error, in the same words.
                Purpose::Change => {}
                Purpose::Read | Purpose::Inspect => warn_not_ready(&fault.state()),
            }
        }
        (None, Err(error)) => return Err(error.into()),
    }
    Ok(())
}

/// The account's name, where the environment has none: services often run without one.
fn account() -> String {
    format!("uid-{}", rustix::process::getuid().as_raw())
}

#[expect(clippy::disallowed_methods, reason = "who is asking is the environment's to say")]
pub(crate) fn principal(cli: &Cli) -> Result<Principal, Failure> {
    let named = |it: &&str| std::env::var(it).ok().filter(|name| !name.trim().is_empty());
    let login = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(named);
    let name = cli.principal.clone().or_else(login).unwrap_or_else(account);
    Ok(Principal::typed(&name)?)
}

//! A project opened in this process: its lock, its store and the engine over them.

use std::sync::Arc;

use baton_core::names::Principal;
use baton_engine::{Engine, EngineError, SystemClock};
use baton_files::Dir;
use baton_store::{Store as _, StoreError};
use baton_store_sqlite::{DATABASE_FILE, DataLock, OpenError, SqliteStore};
use uuid::Uuid;

use crate::api;
use crate::archive;
use crate::args::Cli;
use crate::data::finish_interrupted;
use crate::failure::Failure;
use crate::lost_data;
use crate::project::Project;
use crate::show;
use crate::workspace::Folder;

pub(crate) struct Session {
    pub(crate) engine: Arc<Engine>,
    /// The engine's own, for what only this backend can do.
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) project: Project,
    /// Let go last, when everything is closed.
    lock: DataLock,
}

impl Session {
    pub(crate) async fn of(project: Project, lock: DataLock) -> Result<Self, Failure> {
        finish_interrupted(lock.dir())?;
        lost_data::refuse(&project, lock.dir())?;
        let (catalog, unreadable) = project.catalog();
        for failure in &unreadable {
            show::note(&format!(
                "{} {failure}; `baton doctor` tells more",
                show::warn("left out:")
            ));
        }
        let store = Arc::new(open(lock.dir())?);
        let engine = Engine::open(store.clone(), Arc::new(SystemClock), catalog).await?;
        let data = lock.dir().own_entry()?.identity;
        let folder = Folder { dir: project.dir.again()?, data };
        let engine = engine.with_workspace(Arc::new(folder));
        // While no server runs, nobody else marks what has waited too long. All of it could be a
        // lot: every command does some, and a server does the rest.
        match (store.write_fault(), engine.sweep_some().await) {
            (None, Ok(_)) => {}
            (Some(fault), _) | (_, Err(EngineError::Store(StoreError::Unwritable(fault)))) => {
                show::note(&format!("{} {fault}", show::warn("nothing can be written:")));
            }
            (None, Err(error)) => return Err(error.into()),
        }
        if let Some(places) = archive::places(&project) {
            engine.keep_archive(places);
        }
        Ok(Self { engine: Arc::new(engine), store, project, lock })
    }

    /// Tells whoever finds the data in use where to ask instead.
    pub(crate) fn say_where(&self, url: &str, instance: Uuid) -> Result<(), Failure> {
        let note = api::note(url, instance);
        Ok(self.lock.set_note(&note)?)
    }

    /// Writes the archive, where there is one, and lets everything go.
    pub(crate) async fn close(self) {
        // What cannot be written is behind already, and that was said.
        if self.engine.write_fault().is_none() {
            archive::catch_up(&self).await;
        }
        self.engine.shutdown().await;
    }
}

/// Where nothing can be written, what is there can be read all the same.
fn open(data: &Dir) -> Result<SqliteStore, Failure> {
    let error = match SqliteStore::open_in(data) {
        Ok(store) => return Ok(store),
        Err(error) => error,
    };
    let Some(fault) = error.write_fault() else { return Err(Failure::Open(error)) };
    match SqliteStore::open_frozen(data, fault.clone()) {
        Ok(store) => Ok(store),
        // Something else is wrong besides.
        Err(other) if other.write_fault().is_none() => Err(Failure::Open(other)),
        Err(_) => {
            let path = data.path().join(DATABASE_FILE);
            Err(Failure::Open(OpenError::Unwritable { path, fault }))
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "who is asking is the environment's to say")]
pub(crate) fn principal(cli: &Cli) -> Result<Principal, Failure> {
    let named = |it: &&str| std::env::var(it).ok().filter(|name| !name.trim().is_empty());
    let login = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(named);
    let name = cli.principal.clone().or_else(login).unwrap_or_else(|| "somebody".to_owned());
    Ok(Principal::typed(&name)?)
}

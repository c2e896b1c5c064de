//! A project opened in this process: its lock, its store and the engine over them.

use std::sync::Arc;

use baton_core::names::Principal;
use baton_engine::{Engine, SystemClock};
use baton_store_sqlite::{DataLock, SqliteStore};
use uuid::Uuid;

use crate::api;
use crate::archive;
use crate::args::Cli;
use crate::failure::Failure;
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
        let (catalog, unreadable) = project.catalog()?;
        for failure in &unreadable {
            show::note(&format!(
                "{} {failure}; `baton doctor` tells more",
                show::warn("left out:")
            ));
        }
        let store = Arc::new(SqliteStore::open(&project.data()).map_err(Failure::Open)?);
        let engine = Engine::open(store.clone(), Arc::new(SystemClock), catalog).await?;
        let engine = engine.with_workspace(Arc::new(Folder(project.root.clone())));
        // While no server runs, nobody else marks what has waited too long. All of it could be a
        // lot: every command does some, and a server does the rest.
        engine.sweep_some().await?;
        if let Some(places) = archive::places(&project) {
            engine.keep_archive(places);
        }
        Ok(Self { engine: Arc::new(engine), store, project, lock })
    }

    /// Tells whoever finds the data in use where to ask instead.
    pub(crate) fn say_where(&self, url: &str, instance: Uuid) -> Result<(), Failure> {
        let note = api::note(url, instance);
        self.lock.set_note(&note).map_err(|error| Failure::io("write the lock file", error))
    }

    /// Writes the archive, where there is one, and lets everything go.
    pub(crate) async fn close(self) {
        archive::catch_up(&self).await;
        self.engine.shutdown().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "who is asking is the environment's to say")]
pub(crate) fn principal(cli: &Cli) -> Result<Principal, Failure> {
    let named = |it: &&str| std::env::var(it).ok().filter(|name| !name.trim().is_empty());
    let login = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(named);
    let name = cli.principal.clone().or_else(login).unwrap_or_else(|| "somebody".to_owned());
    Ok(Principal::parse(&name)?)
}

//! A project opened for work: its lock, its store and the engine over them.

use std::sync::Arc;
use std::time::Duration;

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_engine::{Caller, Engine, Key, Mode, SystemClock};
use baton_store_sqlite::{DataLock, SqliteStore};
use sha2::{Digest as _, Sha256};

use crate::archive;
use crate::args::{Cli, Write};
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, Format};

/// How long one command waits for another to finish with the data.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Session {
    pub(crate) engine: Arc<Engine>,
    /// The engine's own, for what only this backend can do.
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) project: Project,
    pub(crate) format: Format,
    principal: Principal,
    /// Let go last, when everything is closed.
    lock: DataLock,
}

impl Session {
    pub(crate) async fn open(cli: &Cli) -> Result<Self, Failure> {
        let project = Project::find(cli.project.as_deref())?;
        let principal = principal(cli)?;
        let format = cli.format();
        Self::of(project, principal, format).await
    }

    pub(crate) async fn of(
        project: Project,
        principal: Principal,
        format: Format,
    ) -> Result<Self, Failure> {
        let (catalog, unreadable) = project.catalog()?;
        for failure in &unreadable {
            show::note(&format!(
                "{} {failure}; `baton doctor` tells more",
                show::warn("left out:")
            ));
        }
        let data = project.data();
        std::fs::create_dir_all(&data)
            .map_err(|error| Failure::io(format!("make `{}`", data.display()), error))?;
        let lock = DataLock::take(&data, PATIENCE)?;
        let store = Arc::new(SqliteStore::open(&data).map_err(Failure::Open)?);
        let engine = Engine::open(store.clone(), Arc::new(SystemClock), catalog).await?;
        // While no server runs, nobody else marks what has waited too long.
        engine.sweep().await?;
        Ok(Self { engine: Arc::new(engine), store, project, format, principal, lock })
    }

    /// Whoever types, meaning it or trying it out.
    pub(crate) fn caller(&self, write: &Write) -> Caller {
        self.caller_with(write, "")
    }

    /// As [`Session::caller`], with what was read from elsewhere than the command line.
    pub(crate) fn caller_with(&self, write: &Write, read: &str) -> Caller {
        let mode = if write.dry_run { Mode::DryRun } else { Mode::Commit };
        let key = write.key.as_ref().map(|key| Key {
            scope: format!("cli:{}", self.principal),
            key: key.clone(),
            request: request_hash(read),
        });
        Caller { principal: self.principal.clone(), key, mode, expected: None }
    }

    pub(crate) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Tells whoever finds the data in use where to ask instead.
    pub(crate) fn say_where(&self, url: &str) -> Result<(), Failure> {
        self.lock.set_note(url).map_err(|error| Failure::io("write the lock file", error))
    }

    /// Writes the archive, where there is one, and lets everything go.
    pub(crate) async fn close(self) {
        archive::catch_up(&self).await;
        self.engine.shutdown().await;
    }
}

/// The whole command line and what it points to: the same words mean the same request.
fn request_hash(read: &str) -> Hash {
    let mut digest = Sha256::new();
    let words = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    for word in words.chain([read.to_owned()]) {
        digest.update((word.len() as u64).to_be_bytes());
        digest.update(word.as_bytes());
    }
    Hash(digest.finalize().into())
}

#[expect(clippy::disallowed_methods, reason = "who is asking is the environment's to say")]
pub(crate) fn principal(cli: &Cli) -> Result<Principal, Failure> {
    let named = |it: &&str| std::env::var(it).ok().filter(|name| !name.trim().is_empty());
    let login = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(named);
    let name = cli.principal.clone().or_else(login).unwrap_or_else(|| "somebody".to_owned());
    Ok(Principal::parse(&name)?)
}

//! A project opened in this process: its lock, its store and the engine over them.

use std::sync::Arc;

use baton_core::names::Principal;
use baton_engine::{Engine, EngineError, SystemClock, verify_all};
use baton_files::{Dir, Staging};
use baton_store::{Store as _, StoreError};
use baton_store_sqlite::{
    DATABASE_FILE, DataLock, LOG_FILE, MarkState, OpenError, SqliteStore, has_trusted_mark,
};
use uuid::Uuid;

use crate::api;
use crate::archive;
use crate::args::Cli;
use crate::data::{finish_interrupted, staging_in};
use crate::failure::Failure;
use crate::lost_data;
use crate::project::Project;
use crate::show;
use crate::workspace::Folder;

/// What a command wants of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To change it, perhaps.
    Change,
    /// To read it as it is now: what has waited too long is marked first, unless a killed process
    /// left a log and the data is damaged or, with that log, larger than [`MOST_BYTES_VERIFIED`].
    Read,
    /// To look at it without changing anything.
    Inspect,
}

/// Of the database and the log that a killed process left, together: up to this size everything is
/// verified before the log is moved, because that takes no longer than a person waits.
const MOST_BYTES_VERIFIED: u64 = 8 << 20;

pub(crate) struct Session {
    pub(crate) engine: Arc<Engine>,
    /// The engine's own, for what only this backend can do.
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) project: Project,
    writing: Writing,
    _copied_into: Option<Staging>,
    /// Let go last, when everything is closed.
    lock: DataLock,
}

impl Session {
    pub(crate) async fn of(
        project: Project,
        lock: DataLock,
        purpose: Purpose,
    ) -> Result<Self, Failure> {
        finish_interrupted(lock.dir())?;
        lost_data::refuse(&project, lock.dir())?;
        let (catalog, unreadable) = project.catalog();
        for failure in &unreadable {
            show::note(&format!(
                "{} {failure}; `baton doctor` tells more",
                show::warn("left out:")
            ));
        }
        let opened = open_for(&project, lock.dir(), purpose).await;
        let opened = opened.map_err(|it| lost_data::name_copy(&project, lock.dir(), it))?;
        if purpose != Purpose::Inspect
            && let Some(failure) =
                lost_data::behind_copy(&project, lock.dir(), &opened.store).await?
        {
            opened.store.close().await;
            return Err(failure);
        }
        let OpenedStore { store, writing, copied_into } = opened;
        let store = Arc::new(store);
        tell_of_mark(&project, store.as_ref()).await?;
        let engine = Engine::open(store.clone(), Arc::new(SystemClock), catalog).await?;
        let data = lock.dir().own_entry()?.identity;
        let folder = Folder { dir: project.dir.again()?, data };
        let engine = engine.with_workspace(Arc::new(folder));
        match writing {
            Writing::Allowed => sweep(&store, &engine).await?,
            Writing::Withheld => {}
        }
        if let Some(places) = archive::places(&project) {
            engine.keep_archive(places);
        }
        Ok(Self {
            engine: Arc::new(engine),
            store,
            project,
            writing,
            _copied_into: copied_into,
            lock,
        })
    }

    /// Tells whoever finds the data in use where to ask instead.
    pub(crate) fn say_where(&self, url: &str, instance: Uuid) -> Result<(), Failure> {
        let note = api::note(url, instance);
        Ok(self.lock.set_note(&note)?)
    }

    /// Writes the archive, where there is one, and lets everything go.
    pub(crate) async fn close(self) {
        // No archive while writes fail; the user has been warned.
        if self.writing == Writing::Allowed && self.engine.write_fault().is_none() {
            archive::catch_up(&self).await;
        }
        self.engine.shutdown().await;
    }
}

/// Whether a session writes by itself: marks what has waited too long, keeps the archive up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    Allowed,
    Withheld,
}

/// While no server runs, nothing else marks what has waited too long. All of it could be a lot: every
/// command does some, and a server does the rest.
async fn sweep(store: &SqliteStore, engine: &Engine) -> Result<(), Failure> {
    match (store.write_fault(), engine.sweep_some().await) {
        (None, Ok(_)) => {}
        (Some(fault), _) | (_, Err(EngineError::Store(StoreError::Unwritable(fault)))) => {
            show::note(&format!("{} {fault}", show::warn("nothing can be written:")));
        }
        (None, Err(error)) => return Err(error.into()),
    }
    Ok(())
}

/// A store, and what it needs.
pub(crate) struct OpenedStore {
    pub(crate) store: SqliteStore,
    writing: Writing,
    /// Has the copy that is open instead of data with an older schema.
    copied_into: Option<Staging>,
}

impl OpenedStore {
    fn writing(store: SqliteStore) -> Self {
        Self { store, writing: Writing::Allowed, copied_into: None }
    }

    fn withheld(store: SqliteStore) -> Self {
        Self { store, writing: Writing::Withheld, copied_into: None }
    }
}

/// A command that only reads does not move the log of a killed process into the database before the
/// data is known to be sound: what it reads later may be damaged, and then the old log is needed.
/// Where the mark is lost, it writes nothing at all; what changes something is refused where the
/// archive knows of more.
async fn open_for(project: &Project, data: &Dir, purpose: Purpose) -> Result<OpenedStore, Failure> {
    let n_bytes = |name| data.entry(name).map(|it| it.map_or(0, |it| it.n_bytes));
    let (n_log, n_database) = (n_bytes(LOG_FILE)?, n_bytes(DATABASE_FILE)?);
    let is_marked = has_trusted_mark(data)?;
    match purpose {
        Purpose::Inspect => return inspect(data),
        Purpose::Change if is_marked => return Ok(OpenedStore::writing(open(data)?)),
        Purpose::Read if is_marked && n_log == 0 => return Ok(OpenedStore::writing(open(data)?)),
        Purpose::Change | Purpose::Read => {}
    }
    // What cannot be opened without writing is new, has an older schema, or is damaged: then `open`
    // gives the reason.
    let Ok(store) = SqliteStore::open_to_read(data) else {
        let store = open(data)?;
        return Ok(match purpose {
            Purpose::Read if n_log > 0 => OpenedStore::withheld(store),
            Purpose::Read | Purpose::Change | Purpose::Inspect => OpenedStore::writing(store),
        });
    };
    if let Some(what) = store.mark_state().loss() {
        let ahead = archive::ahead_of(project, &store).await?;
        match (purpose, ahead.as_slice()) {
            (Purpose::Change, [first, ..]) => {
                let (what, first) = (what.to_owned(), first.clone());
                store.close().await;
                return Err(Failure::LostEvents { what, first });
            }
            (Purpose::Read, [_, ..]) => return Ok(OpenedStore::withheld(store)),
            (Purpose::Read, []) if store.mark_state() != MarkState::Renewed => {
                return Ok(OpenedStore::withheld(store));
            }
            (Purpose::Read | Purpose::Change | Purpose::Inspect, _) => {}
        }
    }
    if purpose == Purpose::Read && n_log > 0 {
        if n_log + n_database > MOST_BYTES_VERIFIED {
            return Ok(OpenedStore::withheld(store));
        }
        if !verify_all(&store).await?.is_sound() {
            show::note(&format!(
                "{} the data is damaged, so nothing is written; `baton verify` names what is wrong",
                show::warn("careful:")
            ));
            return Ok(OpenedStore::withheld(store));
        }
    }
    store.close().await;
    Ok(OpenedStore::writing(open(data)?))
}

/// Nothing that is there is changed: what has an older schema is brought up to date in a copy.
pub(crate) fn inspect(data: &Dir) -> Result<OpenedStore, Failure> {
    match SqliteStore::open_to_read(data) {
        Ok(store) => Ok(OpenedStore::withheld(store)),
        Err(OpenError::OlderSchema { .. }) => {
            let copied_into = staging_in(data)?;
            let store = SqliteStore::open_copy_of_older(data, copied_into.dir());
            let store = store.map_err(Failure::Open)?;
            Ok(OpenedStore { store, writing: Writing::Withheld, copied_into: Some(copied_into) })
        }
        // The project is new.
        Err(OpenError::Missing { position: None, .. }) => Ok(OpenedStore::withheld(open(data)?)),
        Err(error) if error.write_fault().is_some() => Ok(OpenedStore::withheld(open(data)?)),
        Err(error) => Err(Failure::Open(error)),
    }
}

/// Without its mark, nothing in the data folder tells whether the newest part is missing.
async fn tell_of_mark(project: &Project, store: &SqliteStore) -> Result<(), Failure> {
    let Some(what) = store.mark_state().loss() else { return Ok(()) };
    let ahead = archive::ahead_of(project, store).await?;
    // That a mark was made anew is told by `verify` and `doctor`, and here only if it has a reason.
    if store.mark_state() == MarkState::Renewed && ahead.is_empty() {
        return Ok(());
    }
    show::note(&format!("{} {}", show::warn("careful:"), cannot_tell(what)));
    for line in &ahead {
        show::note(&show::visible(line));
    }
    if !ahead.is_empty() {
        show::note("`baton recover` brings back what the archive proves");
    }
    Ok(())
}

/// What follows from a mark that is lost.
pub(crate) fn cannot_tell(what: &str) -> String {
    format!("{what}, so nothing there tells whether the newest events are missing")
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

/// Of the account, where the environment has no name for it: services often run without one.
fn account() -> String {
    #[cfg(unix)]
    return format!("uid-{}", rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    return "unnamed-account".to_owned();
}

#[expect(clippy::disallowed_methods, reason = "who is asking is the environment's to say")]
pub(crate) fn principal(cli: &Cli) -> Result<Principal, Failure> {
    let named = |it: &&str| std::env::var(it).ok().filter(|name| !name.trim().is_empty());
    let login = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(named);
    let name = cli.principal.clone().or_else(login).unwrap_or_else(account);
    Ok(Principal::typed(&name)?)
}

//! Data in a folder: an SQLite file, with its lock, its mark and the log that a killed process leaves.

use std::sync::Arc;

use baton_engine::verify_all;
use baton_files::{Dir, Staging};
use baton_store::Store as _;
use baton_store_sqlite::{
    DATABASE_FILE, DataLock, LOG_FILE, MarkState, OpenError, SqliteStore, has_trusted_mark,
};
use uuid::Uuid;

use super::{Purpose, Writing};
use crate::api;
use crate::archive;
use crate::data::{finish_interrupted, staging_in};
use crate::failure::Failure;
use crate::lost_data;
use crate::project::Project;
use crate::show;

/// Size of the database plus the log that a killed process left: up to this, everything is verified
/// before the checkpoint, because that takes no longer than a person waits.
const MOST_BYTES_VERIFIED: u64 = 8 << 20;

/// An open SQLite file, and what only this backend has.
pub(crate) struct FolderStore {
    pub(crate) store: Arc<SqliteStore>,
    _copied_into: Option<Staging>,
    /// Released last, when everything is closed.
    pub(super) lock: DataLock,
}

impl FolderStore {
    pub(super) async fn open(
        project: &Project,
        lock: DataLock,
        purpose: Purpose,
    ) -> Result<(Self, Writing), Failure> {
        let opened = open_for(project, lock.dir(), purpose).await;
        let opened = opened.map_err(|it| lost_data::name_copy(project, lock.dir(), it))?;
        if purpose != Purpose::Inspect
            && let Some(failure) =
                lost_data::behind_copy(project, lock.dir(), &opened.store).await?
        {
            opened.store.close().await;
            return Err(failure);
        }
        let OpenedStore { store, writing, copied_into } = opened;
        tell_of_mark(project, &store).await?;
        Ok((Self { store: Arc::new(store), _copied_into: copied_into, lock }, writing))
    }

    /// Writes an address into the lock file, for processes that find the data in use.
    pub(crate) fn say_where(&self, url: &str, instance: Uuid) -> Result<(), Failure> {
        Ok(self.lock.set_note(&api::note(url, instance))?)
    }

    /// Before anything is read: finishes what was interrupted, and refuses data that is gone.
    pub(super) fn prepare(project: &Project, lock: &DataLock) -> Result<(), Failure> {
        finish_interrupted(lock.dir())?;
        lost_data::refuse(project, lock.dir())
    }
}

/// A store, and what it depends on.
pub(crate) struct OpenedStore {
    pub(crate) store: SqliteStore,
    writing: Writing,
    /// Holds the copy that is opened instead of data with an older schema.
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

/// A command that only reads does not checkpoint the log of a killed process before the data is
/// known to be sound: damage may be found later, and then the old log is needed. Where the mark is
/// lost, it writes nothing at all; a command that writes is refused where the archive has more than
/// the database.
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
    // Data that cannot be opened without writing is new, has an older schema, or is damaged: then
    // `open` gives the reason.
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

/// Changes nothing on disk: data with an older schema is migrated in a copy.
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

/// Without its mark, nothing in the data folder shows whether the newest part is missing.
async fn tell_of_mark(project: &Project, store: &SqliteStore) -> Result<(), Failure> {
    let Some(what) = store.mark_state().loss() else { return Ok(()) };
    let ahead = archive::ahead_of(project, store).await?;
    // `verify` and `doctor` report a recreated mark; here it is reported only if there is a reason.
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

/// The consequences of a lost mark.
pub(crate) fn cannot_tell(what: &str) -> String {
    format!("{what}, so nothing there tells whether the newest events are missing")
}

/// Where nothing can be written, the data can still be read.
fn open(data: &Dir) -> Result<SqliteStore, Failure> {
    let error = match SqliteStore::open_in(data) {
        Ok(store) => return Ok(store),
        Err(error) => error,
    };
    let Some(fault) = error.write_fault() else { return Err(Failure::Open(error)) };
    match SqliteStore::open_frozen(data, fault.clone()) {
        Ok(store) => Ok(store),
        // There is another problem besides.
        Err(other) if other.write_fault().is_none() => Err(Failure::Open(other)),
        Err(_) => {
            let path = data.path().join(DATABASE_FILE);
            Err(Failure::Open(OpenError::Unwritable { path, fault }))
        }
    }
}

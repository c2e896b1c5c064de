//! Direct access to the data, for operations on the store rather than the API: exclusive while no
//! other process has it open, else read-only beside the server that has.

use baton_engine::{CheckpointTrust, Verified, readable, verify_all, verify_all_with};
use baton_files::{Dir, Staging};
use baton_store::{Store as _, StoreCheck};
use baton_store_sqlite::{
    Interrupted, MarkState, OpenError, ReadOnlyStore, STAGING_PREFIX, SqliteStore,
};

use crate::api::{DataHolder, RemoteServer, holder};
use crate::archive;
use crate::failure::Failure;
use crate::lost_data;
use crate::no_file::{FileTool, no_file};
use crate::project::{Project, ProjectDatabase};
use crate::session::{DatabaseStore, Purpose, Session, StoreBackend, cannot_tell, inspect};
use crate::show;

/// What to do about a lost mark.
pub(crate) const SETTLE_MARK: &str = "`baton recover` looks for more; to go on with what is there, type \
     `baton backup FILE` and `baton restore --replace FILE`";

pub(crate) enum Data {
    Ours(Box<Session>),
    Beside { store: ReadOnlyStore, project: Box<Project>, server: RemoteServer },
}

impl Data {
    pub(crate) async fn open(project: Project) -> Result<Self, Failure> {
        if let Some(database) = project.database.clone() {
            let session = Session::of_database(project, &database, Purpose::Inspect).await?;
            return Ok(Self::Ours(Box::new(session)));
        }
        let data = project.data_dir()?;
        match holder(&data).await? {
            DataHolder::Us(lock) => {
                let session = Session::of(project, lock, Purpose::Inspect).await?;
                Ok(Self::Ours(Box::new(session)))
            }
            DataHolder::Server(server) => {
                let store = ReadOnlyStore::open(&data).map_err(Failure::Open)?;
                Ok(Self::Beside { store, project: Box::new(project), server })
            }
        }
    }

    /// A snapshot of everything, as a new database in `dir`.
    pub(crate) async fn copy_into(&self, dir: &Dir) -> Result<(), Failure> {
        match self {
            Self::Ours(session) => match &session.backend {
                StoreBackend::Folder(it) => it.store.copy_into(dir).await?,
                StoreBackend::Database(_) => {
                    return Err(no_file(&session.project, FileTool::Backup));
                }
            },
            Self::Beside { store, .. } => store.copy_into(dir).await?,
        }
        Ok(())
    }

    /// Verifies every hash chain.
    pub(crate) async fn verify(&self) -> Result<Verified, Failure> {
        match self {
            Self::Ours(session) => Ok(verify_all(session.store.as_ref()).await?),
            Self::Beside { store, project, .. } => {
                verify_beside(store, project, &CheckpointTrust::default()).await
            }
        }
    }

    pub(crate) async fn close(self) {
        match self {
            Self::Ours(session) => session.close().await,
            Self::Beside { store, .. } => store.close().await,
        }
    }
}

/// Verifies every chain of a project. No run is swept and no workflow file is read; only an
/// interrupted restore is finished.
pub(crate) async fn verify_project(project: &Project) -> Result<Verified, Failure> {
    verify_project_with(project, &CheckpointTrust::default()).await
}

/// As [`verify_project`], with checkpoints that are kept elsewhere and the key of all of them.
pub(crate) async fn verify_project_with(
    project: &Project,
    trust: &CheckpointTrust,
) -> Result<Verified, Failure> {
    if let Some(database) = &project.database {
        return verify_database(project, database, trust).await;
    }
    let data = project.data_dir()?;
    match holder(&data).await? {
        // The lock is released when everything is closed.
        DataHolder::Us(lock) => {
            finish_interrupted(lock.dir())?;
            lost_data::refuse(project, lock.dir())?;
            verify_unserved(project, lock.dir(), trust).await
        }
        DataHolder::Server(_) => {
            let store = ReadOnlyStore::open(&data).map_err(Failure::Open)?;
            let verified = verify_beside(&store, project, trust).await;
            store.close().await;
            verified
        }
    }
}

/// Beside the nodes that use it: they go on meanwhile.
async fn verify_database(
    project: &Project,
    database: &ProjectDatabase,
    trust: &CheckpointTrust,
) -> Result<Verified, Failure> {
    let opened = DatabaseStore::open(project, database).await?;
    let store = opened.store.as_ref();
    let verified = async {
        let verified = verify_all_with(store, trust).await?;
        tell_ahead(archive::ahead_of(project, store).await?);
        Ok(verified)
    };
    let verified = verified.await;
    store.close().await;
    verified
}

fn tell_ahead(ahead: Vec<String>) {
    for line in ahead {
        let line = show::visible(&line);
        show::note(&format!("{} {line}", show::warn("the archive knows more:")));
    }
}

/// Nothing is written, so that a log which is needed for recovery stays where it is. Where the mark
/// is lost, runs that the archive has and the database lacks are a problem; otherwise the data may
/// be a restored backup, and they are only reported.
async fn verify_unserved(
    project: &Project,
    data: &Dir,
    trust: &CheckpointTrust,
) -> Result<Verified, Failure> {
    // Kept beside the store: the copy that the store may have open.
    let opened = match inspect(data) {
        Ok(opened) => opened,
        // Damage is what we look for: report it and continue.
        Err(Failure::Open(damage @ OpenError::Damaged { .. })) => {
            return Ok(verify_damaged(data, &damage, trust).await);
        }
        Err(other) => return Err(other),
    };
    let store = &opened.store;
    let verified = async {
        let mut verified = verify_all_with(store, trust).await?;
        let ahead = archive::ahead_of(project, store).await?;
        if let Some(behind) = lost_data::behind_copy(project, data, store).await? {
            verified.extend([behind.to_string()]);
        }
        if let Some(what) = store.mark_state().loss() {
            show::note(&format!("{} {}", show::warn("careful:"), cannot_tell(what)));
            show::note(SETTLE_MARK);
        }
        match store.mark_state() {
            MarkState::Unreadable | MarkState::Missing | MarkState::Renewed => {
                verified.extend(ahead);
            }
            MarkState::Present | MarkState::NeverWritten => tell_ahead(ahead),
        }
        Ok(verified)
    };
    let verified = verified.await;
    store.close().await;
    verified
}

/// Every detectable problem of data that is too damaged to be opened for work.
async fn verify_damaged(data: &Dir, damage: &OpenError, trust: &CheckpointTrust) -> Verified {
    let mut verified = Verified::default();
    if let Ok(store) = SqliteStore::open_damaged(data) {
        // A store that fails midway is damaged too, and `damage` says how.
        verified = verify_all_with(&store, trust).await.unwrap_or_default();
        store.close().await;
    }
    if verified.is_sound() {
        verified.extend([damage.to_string()]);
    }
    verified
}

/// Beside a server, the file is checked in place and the chains in a copy: the server continues
/// meanwhile.
async fn verify_beside(
    store: &ReadOnlyStore,
    project: &Project,
    trust: &CheckpointTrust,
) -> Result<Verified, Failure> {
    let problems = store.check().await?;
    let staging = staging_in(&project.data_dir()?)?;
    let copied = match readable(store.copy_into(staging.dir()).await)? {
        Ok(()) => verify_copy_with(staging.dir(), trust).await?,
        // A database that SQLite cannot copy is damaged; that is a result, not an error.
        Err(what) => {
            let mut verified = Verified::default();
            verified.extend([what]);
            verified
        }
    };
    let copied_problems = StoreCheck { problems: copied.problems, n_problems: copied.n_problems };
    let mut verified = Verified { problems: Vec::new(), n_problems: 0, ..copied };
    verified.extend_with(problems);
    verified.extend_with(copied_problems);
    Ok(verified)
}

/// Opens a copy as the next Baton would, and verifies every chain in it.
pub(crate) async fn verify_copy(dir: &Dir) -> Result<Verified, Failure> {
    verify_copy_with(dir, &CheckpointTrust::default()).await
}

async fn verify_copy_with(dir: &Dir, trust: &CheckpointTrust) -> Result<Verified, Failure> {
    let store = SqliteStore::open_in(dir).map_err(Failure::Open)?;
    let verified = verify_all_with(&store, trust).await;
    store.close().await;
    Ok(verified?)
}

/// A private folder for a copy, removed on drop. Leftovers of killed commands are removed too.
pub(crate) fn staging_in(parent: &Dir) -> Result<Staging, Failure> {
    Staging::remove_abandoned(parent, STAGING_PREFIX)?;
    Ok(Staging::make(parent, STAGING_PREFIX)?)
}

/// Finishes an interrupted restore, before anything else is done with the data, and reports it.
pub(crate) fn finish_interrupted(data: &Dir) -> Result<(), Failure> {
    let finished = baton_store_sqlite::finish_interrupted(data)
        .map_err(|error| Failure::Open(OpenError::Interrupted(error)))?;
    match finished {
        None => {}
        Some(Interrupted::Finished { aside: Some(aside) }) => show::note(&format!(
            "a restore that was interrupted is finished; what was there before is in {}",
            data.path().join(aside).display()
        )),
        Some(Interrupted::Finished { aside: None }) => {
            show::note("a restore that was interrupted is finished");
        }
        Some(Interrupted::Undone) => {
            show::note("a restore that was interrupted is undone: the data is as it was before");
        }
    }
    Ok(())
}

//! The data itself, for what is done to the store rather than asked of the API: ours while nobody
//! else has it, else read beside the server that does.

use baton_engine::{Verified, verify_all};
use baton_files::{Dir, Staging};
use baton_store::Store as _;
use baton_store_sqlite::{Beside, Interrupted, OpenError, STAGING_PREFIX, SqliteStore};

use crate::api::{Holder, Server, holder};
use crate::failure::Failure;
use crate::project::Project;
use crate::session::Session;
use crate::show;

pub(crate) enum Data {
    Ours(Box<Session>),
    Beside { store: Beside, project: Box<Project>, server: Server },
}

impl Data {
    pub(crate) async fn open(project: Project) -> Result<Self, Failure> {
        let data = project.data_dir()?;
        match holder(&data).await? {
            Holder::Us(lock) => Ok(Self::Ours(Box::new(Session::of(project, lock).await?))),
            Holder::Server(server) => {
                let store = Beside::open(&data).map_err(Failure::Open)?;
                Ok(Self::Beside { store, project: Box::new(project), server })
            }
        }
    }

    /// All of it as it is at one moment, as a new database in `dir`.
    pub(crate) async fn copy_into(&self, dir: &Dir) -> Result<(), Failure> {
        match self {
            Self::Ours(session) => session.store.copy_into(dir).await?,
            Self::Beside { store, .. } => store.copy_into(dir).await?,
        }
        Ok(())
    }

    /// Walks every chain. Beside a server the file is checked as it is, and the chains in a copy:
    /// while they are walked, the server goes on.
    pub(crate) async fn verify(&self) -> Result<Verified, Failure> {
        match self {
            Self::Ours(session) => Ok(verify_all(session.engine.store()).await?),
            Self::Beside { store, project, .. } => {
                let mut problems = store.check().await?;
                let staging = staging_in(&project.data_dir()?)?;
                store.copy_into(staging.dir()).await?;
                let verified = verify_copy(staging.dir()).await?;
                problems.extend(verified.problems);
                Ok(Verified { problems, ..verified })
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

/// Opens a copy as the next Baton would, and walks every chain in it.
pub(crate) async fn verify_copy(dir: &Dir) -> Result<Verified, Failure> {
    let store = SqliteStore::open_in(dir).map_err(Failure::Open)?;
    let verified = verify_all(&store).await;
    store.close().await;
    Ok(verified?)
}

/// A private folder for a copy, gone when it is dropped. What killed commands have left there goes
/// too.
pub(crate) fn staging_in(parent: &Dir) -> Result<Staging, Failure> {
    Staging::remove_abandoned(parent, STAGING_PREFIX)?;
    Ok(Staging::make(parent, STAGING_PREFIX)?)
}

/// Ends a restore that was killed, before anything else is done with the data, and tells it.
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

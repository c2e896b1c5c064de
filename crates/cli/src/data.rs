//! The data itself, for what is done to the store rather than asked of the API: ours while nobody
//! else has it, else read beside the server that does.

use std::path::Path;

use baton_engine::{Verified, verify_all};
use baton_store::Store as _;
use baton_store_sqlite::{Beside, SqliteStore};

use crate::api::{Holder, Server, holder};
use crate::failure::Failure;
use crate::project::Project;
use crate::session::Session;

pub(crate) enum Data {
    Ours(Box<Session>),
    Beside { store: Beside, project: Box<Project>, server: Server },
}

impl Data {
    pub(crate) async fn open(project: Project) -> Result<Self, Failure> {
        let data = project.data();
        match holder(&data).await? {
            Holder::Us(lock) => Ok(Self::Ours(Box::new(Session::of(project, lock).await?))),
            Holder::Server(server) => {
                let store = Beside::open(&data).map_err(Failure::Open)?;
                Ok(Self::Beside { store, project: Box::new(project), server })
            }
        }
    }

    /// All of it as it is at one moment, as a new database in `dir`.
    pub(crate) async fn copy_into(&self, dir: &Path) -> Result<(), Failure> {
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
                let workshop = workshop_in(&project.data())?;
                store.copy_into(workshop.path()).await?;
                let verified = verify_copy(workshop.path()).await?;
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
pub(crate) async fn verify_copy(dir: &Path) -> Result<Verified, Failure> {
    let store = SqliteStore::open(dir).map_err(Failure::Open)?;
    let verified = verify_all(&store).await;
    store.close().await;
    Ok(verified?)
}

/// A folder for a copy, gone when it is dropped.
pub(crate) fn workshop_in(parent: &Path) -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix(".baton-copy-")
        .tempdir_in(parent)
        .map_err(|error| Failure::io(format!("write into `{}`", parent.display()), error))
}

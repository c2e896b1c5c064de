//! The data itself, for what is done to the store rather than asked of the API: ours while nobody
//! else has it, else read beside the server that does.

use std::path::Path;

use baton_engine::{Verified, verify_all};
use baton_store::{Store as _, StoreError};
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

    /// Walks every chain.
    pub(crate) async fn verify(&self) -> Result<Verified, Failure> {
        match self {
            Self::Ours(session) => Ok(verify_all(session.engine.store()).await?),
            Self::Beside { store, project, .. } => verify_beside(store, project).await,
        }
    }

    pub(crate) async fn close(self) {
        match self {
            Self::Ours(session) => session.close().await,
            Self::Beside { store, .. } => store.close().await,
        }
    }
}

/// Walks every chain of a project and changes nothing: no run is swept, and no workflow file is read.
pub(crate) async fn verify_project(project: &Project) -> Result<Verified, Failure> {
    let data = project.data();
    match holder(&data).await? {
        // The lock is let go when everything is closed.
        Holder::Us(_lock) => verify_copy(&data).await,
        Holder::Server(_) => {
            let store = Beside::open(&data).map_err(Failure::Open)?;
            let verified = verify_beside(&store, project).await;
            store.close().await;
            verified
        }
    }
}

/// Beside a server the file is checked as it is, and the chains in a copy: while they are walked,
/// the server goes on.
async fn verify_beside(store: &Beside, project: &Project) -> Result<Verified, Failure> {
    let problems = store.check().await?;
    let workshop = workshop_in(&project.data())?;
    let copied = match store.copy_into(workshop.path()).await {
        Ok(()) => verify_copy(workshop.path()).await?,
        // What SQLite cannot copy is damaged; that is the answer, and no reason to give none.
        Err(StoreError::Damaged { what }) => {
            let mut verified = Verified::default();
            verified.extend([what]);
            verified
        }
        Err(error @ (StoreError::Unavailable(_) | StoreError::Closed | StoreError::Nul)) => {
            return Err(error.into());
        }
    };
    let mut verified = Verified { problems: Vec::new(), ..copied };
    verified.extend(problems);
    verified.extend(copied.problems);
    Ok(verified)
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

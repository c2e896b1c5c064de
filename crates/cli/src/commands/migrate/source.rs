//! Where data is moved from: it is only read.

use baton_engine::{Verified, verify_all};
use baton_store::moved_tables::{LastNumbers, MovedRow, MovedTable, MovedValue};
use baton_store::{Store, StoreResult};
use baton_store_postgres::PostgresStore;
use baton_store_sqlite::{DATABASE_FILE, DataLock, refuse_unfinished_move};
use uuid::Uuid;

use super::MovePlace;
use super::target::refuse_nodes;
use crate::api::lock;
use crate::failure::Failure;
use crate::session::{OpenedStore, inspect, open_existing_database};

pub(super) enum MoveSource {
    /// The lock keeps others away while the rows are read.
    Folder {
        opened: Box<OpenedStore>,
        _lock: DataLock,
    },
    Database(PostgresStore),
}

impl MoveSource {
    pub(super) async fn open(place: &MovePlace) -> Result<Self, Failure> {
        match place {
            MovePlace::Folder(path) => {
                let dir = MovePlace::data_folder(path)?;
                if dir.entry(DATABASE_FILE)?.is_none_or(|it| it.n_bytes == 0) {
                    refuse_unfinished_move(&dir).map_err(Failure::Open)?;
                    let message =
                        format!("there is no `{DATABASE_FILE}` in `{}`", dir.path().display());
                    return Err(Failure::NotFound(message));
                }
                let lock = lock(&dir).await?;
                let opened = Box::new(inspect(lock.dir())?);
                Ok(Self::Folder { opened, _lock: lock })
            }
            MovePlace::Database(database) => {
                let store = open_existing_database(database).await?;
                refuse_nodes(&store, database).await?;
                Ok(Self::Database(store))
            }
        }
    }

    fn store(&self) -> &dyn Store {
        match self {
            Self::Folder { opened, .. } => &opened.store,
            Self::Database(store) => store,
        }
    }

    /// Every chain of it, before anything is moved.
    pub(super) async fn verify(&self) -> Result<Verified, Failure> {
        let verified = verify_all(self.store()).await?;
        match verified.is_sound() {
            true => Ok(verified),
            false => Err(Failure::Unsound(Box::new(verified))),
        }
    }

    pub(super) async fn project(&self) -> StoreResult<Uuid> {
        Ok(self.store().identity().await?.project)
    }

    pub(super) async fn rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        match self {
            Self::Folder { opened, .. } => opened.store.moved_rows(table, after, limit).await,
            Self::Database(store) => store.moved_rows(table, after, limit).await,
        }
    }

    pub(super) async fn last_numbers(&self) -> StoreResult<LastNumbers> {
        match self {
            Self::Folder { opened, .. } => opened.store.last_numbers().await,
            Self::Database(store) => store.last_numbers().await,
        }
    }

    pub(super) async fn close(self) {
        self.store().close().await;
    }
}

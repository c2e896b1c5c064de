//! Where data is moved to: nothing else can open it before all of it is there.

use baton_engine::{Verified, verify_all};
use baton_files::{Dir, FileMode};
use baton_store::moved_tables::{LastNumbers, MovedRow, MovedTable, MovedValue};
use baton_store::{Store as _, StoreResult};
use baton_store_postgres::{MoveTarget as DatabaseState, PostgresStore};
use baton_store_sqlite::{
    DATABASE_FILE, DataLock, MovedDatabase, SqliteStore, UNFINISHED_MOVE as UNFINISHED,
};
use uuid::Uuid;

use super::MovePlace;
use crate::api::lock;
use crate::failure::Failure;
use crate::nodes::live_nodes;
use crate::project::ProjectDatabase;
use crate::session::forget_database;
use crate::show;

/// In there: the project that is moved.
const PROJECT_FILE: &str = "project";
const MOST_PROJECT_BYTES: u64 = 100;

pub(super) enum MoveDestination {
    Folder { database: MovedDatabase, unfinished: Dir, lock: DataLock },
    Database(PostgresStore),
}

/// What there is at the destination.
pub(super) enum FoundTarget {
    /// Nothing, or a part of the same data.
    Open(MoveDestination),
    /// Data of the same project, to be compared.
    Whole(WholeCopy),
}

/// A store that has been filled.
pub(super) enum WholeCopy {
    Folder { store: SqliteStore, _lock: DataLock },
    Database(PostgresStore),
}

impl MoveDestination {
    pub(super) async fn open(place: &MovePlace, project: Uuid) -> Result<FoundTarget, Failure> {
        match place {
            MovePlace::Folder(path) => Self::open_folder(path, project).await,
            MovePlace::Database(database) => Self::open_database(database, project).await,
        }
    }

    async fn open_folder(path: &std::path::Path, project: Uuid) -> Result<FoundTarget, Failure> {
        let dir = Dir::open_or_make(path, FileMode::Private)?;
        let lock = lock(&dir).await?;
        if dir.entry(DATABASE_FILE)?.is_some_and(|it| it.n_bytes > 0) {
            let store = SqliteStore::open_to_read(&dir).map_err(Failure::Open)?;
            if store.identity().await?.project == project {
                return Ok(FoundTarget::Whole(WholeCopy::Folder { store, _lock: lock }));
            }
            store.close().await;
            return Err(in_the_way(&path.display().to_string()));
        }
        let is_begun = dir.entry(UNFINISHED)?.is_some();
        let unfinished = dir.make_dirs(UNFINISHED, FileMode::Private)?;
        let text = project.to_string();
        if is_begun && unfinished.entry(PROJECT_FILE)?.is_some() {
            if unfinished.read_text(PROJECT_FILE, MOST_PROJECT_BYTES)? != text {
                let path = unfinished.path().display();
                return Err(Failure::Conflict(format!(
                    "`{path}` is a move of another project that has not ended; remove it, or name \
                     another folder"
                )));
            }
            tell_going_on();
        }
        unfinished.write_atomic(PROJECT_FILE, text.as_bytes(), FileMode::Private)?;
        let database = MovedDatabase::open(&unfinished).map_err(Failure::Open)?;
        Ok(FoundTarget::Open(Self::Folder { database, unfinished, lock }))
    }

    async fn open_database(
        database: &ProjectDatabase,
        project: Uuid,
    ) -> Result<FoundTarget, Failure> {
        let failed = |error| Failure::database(database, error);
        let store = PostgresStore::open_to_move(&database.settings()?).await.map_err(failed)?;
        refuse_nodes(&store, database).await?;
        match store.move_target().await? {
            DatabaseState::Empty => store.begin_move(project).await?,
            DatabaseState::Begun(known) if known == project => tell_going_on(),
            DatabaseState::Used(known) if known == project => {
                return Ok(FoundTarget::Whole(WholeCopy::Database(store)));
            }
            DatabaseState::Begun(_) | DatabaseState::Used(_) => {
                store.close().await;
                return Err(in_the_way(&database.url.to_string()));
            }
        }
        Ok(FoundTarget::Open(Self::Database(store)))
    }

    pub(super) async fn rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        match self {
            Self::Folder { database, .. } => database.rows(table, after, limit),
            Self::Database(store) => store.moved_rows(table, after, limit).await,
        }
    }

    pub(super) async fn last_key(
        &self,
        table: &'static MovedTable,
    ) -> StoreResult<Option<Vec<MovedValue>>> {
        match self {
            Self::Folder { database, .. } => database.last_key(table),
            Self::Database(store) => store.last_moved_key(table).await,
        }
    }

    pub(super) async fn put(
        &mut self,
        table: &'static MovedTable,
        rows: &[MovedRow],
    ) -> StoreResult<()> {
        match self {
            Self::Folder { database, .. } => database.put(table, rows),
            Self::Database(store) => store.put_moved(table, rows).await,
        }
    }

    pub(super) async fn clear(&mut self, table: &'static MovedTable) -> StoreResult<()> {
        match self {
            Self::Folder { database, .. } => database.clear(table),
            Self::Database(store) => store.clear_moved(table).await,
        }
    }

    /// Makes it whole, verified before it can be opened by others where that is possible.
    pub(super) async fn finish(
        self,
        project: Uuid,
        last: LastNumbers,
    ) -> Result<Verified, Failure> {
        match self {
            Self::Folder { database, unfinished, lock } => {
                database.finish(project, last)?;
                let store = SqliteStore::open_to_read(&unfinished).map_err(Failure::Open)?;
                let verified = sound(&store).await;
                store.close().await;
                let verified = verified?;
                let dir = lock.dir();
                unfinished.rename_new(DATABASE_FILE, dir, DATABASE_FILE)?;
                dir.sync()?;
                dir.remove(UNFINISHED)?;
                forget_database(dir)?;
                Ok(verified)
            }
            Self::Database(store) => {
                store.finish_move(project, last).await?;
                let verified = sound(&store).await;
                store.close().await;
                verified
            }
        }
    }

    pub(super) async fn leave(self) {
        match self {
            Self::Folder { .. } => {}
            Self::Database(store) => store.close().await,
        }
    }
}

impl WholeCopy {
    pub(super) async fn rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        match self {
            Self::Folder { store, .. } => store.moved_rows(table, after, limit).await,
            Self::Database(store) => store.moved_rows(table, after, limit).await,
        }
    }

    pub(super) async fn close(self) {
        match self {
            Self::Folder { store, .. } => store.close().await,
            Self::Database(store) => store.close().await,
        }
    }
}

async fn sound(store: &dyn baton_store::Store) -> Result<Verified, Failure> {
    let verified = verify_all(store).await?;
    match verified.is_sound() {
        true => Ok(verified),
        false => Err(Failure::Unsound(Box::new(verified))),
    }
}

/// Refuses a database that servers are at work on: what they write would be moved in part.
pub(super) async fn refuse_nodes(
    store: &PostgresStore,
    database: &ProjectDatabase,
) -> Result<(), Failure> {
    let nodes = live_nodes(store).await?;
    let Some(first) = nodes.first() else { return Ok(()) };
    store.close().await;
    let more = match nodes.len() {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    Err(Failure::Conflict(format!(
        "a node is at work on {}: {} at {}{more}; stop it first",
        database.url,
        show::visible(&first.name),
        show::visible(&first.url),
    )))
}

fn in_the_way(place: &str) -> Failure {
    Failure::Conflict(format!(
        "`{place}` has other data already; name a folder without data, or an empty database"
    ))
}

fn tell_going_on() {
    show::note("a move of this project was left here; it goes on");
}

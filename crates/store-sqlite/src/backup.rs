//! A snapshot of the database, taken while it is in use.

use baton_files::{Dir, FileMode};
use baton_store::{StoreError, StoreResult, WriteFault};
use rusqlite::Connection;

use crate::reader::Readers;
use crate::{FILE, SqliteStore};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

impl SqliteStore {
    /// Writes everything that is on disk by now into a new database in `dir`, which must have none.
    /// Only its owner may read it, from its first byte on. Readers and the writer continue
    /// meanwhile.
    pub async fn copy_into(&self, dir: &Dir) -> StoreResult<()> {
        self.readers.copy_into(dir).await
    }
}

impl Readers {
    pub(crate) async fn copy_into(&self, dir: &Dir) -> StoreResult<()> {
        let path = new_file(dir).map_err(StoreError::Unavailable)?;
        match self.read(move |connection: &Connection| vacuum_into(connection, &path)).await {
            // The copy may be on another disk than the data.
            Err(StoreError::Unwritable(WriteFault::DiskFull)) => {
                Err(StoreError::Unavailable("the disk of the copy is full; make room there".into()))
            }
            Err(StoreError::Unwritable(WriteFault::ReadOnly)) => {
                Err(StoreError::Unavailable("the folder of the copy is read-only".into()))
            }
            copied => copied,
        }
    }
}

/// As [`SqliteStore::copy_into`], on one connection.
pub(crate) fn copy_to(connection: &Connection, dir: &Dir) -> Result<(), AnyError> {
    Ok(vacuum_into(connection, &new_file(dir)?)?)
}

/// The path of an empty file in `dir`, which SQLite takes for a new database and whose mode it
/// keeps.
fn new_file(dir: &Dir) -> Result<String, AnyError> {
    dir.create_new(FILE, FileMode::Private)?;
    let path = dir.real_path()?.join(FILE);
    let path = path.to_str().ok_or("a copy can only be made where the path is UTF-8")?;
    Ok(path.to_owned())
}

fn vacuum_into(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    // The file is opened read-only whatever this flag says; with the flag, SQLite would not write
    // another file either.
    connection.execute_batch("pragma query_only = off")?;
    let copied = connection.execute("vacuum into ?1", [path]);
    connection.execute_batch("pragma query_only = on")?;
    copied.map(|_| ())
}

#[cfg(test)]
mod tests {
    use baton_store::{RunFilter, Store};
    use baton_store_tests::{dump, sample};

    use super::*;

    #[tokio::test]
    async fn a_copy_is_what_the_store_was_at_that_moment() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let into = Dir::open(there.path()).unwrap();
        let store = SqliteStore::open(here.path()).unwrap();
        for append in sample::tale(1, "s1") {
            store.append(append.into()).await.unwrap();
        }
        let before = dump(&store).await;
        store.copy_into(&into).await.unwrap();
        let copy = SqliteStore::open(there.path()).unwrap();
        assert_eq!(dump(&copy).await, before);
        assert_eq!(copy.check().await.unwrap().problems, Vec::<String>::new());
        assert!(store.copy_into(&into).await.is_err(), "nothing is written over");
        assert!(!copy.runs(&RunFilter::default()).await.unwrap().is_empty());
    }
}

//! A copy of the database as it is at one moment, made while it is in use.

use std::path::Path;

use baton_store::{StoreError, WriteFault};
use rusqlite::Connection;

use crate::reader::Readers;
use crate::{FILE, SqliteStore};

impl SqliteStore {
    /// Writes everything that is on disk by now into a new database in `dir`, where there is none
    /// yet. Readers and the writer go on meanwhile.
    pub async fn copy_into(&self, dir: &Path) -> Result<(), StoreError> {
        self.readers.copy_into(dir).await
    }
}

impl Readers {
    pub(crate) async fn copy_into(&self, dir: &Path) -> Result<(), StoreError> {
        let path = dir.join(FILE);
        let Some(path) = path.to_str().map(str::to_owned) else {
            let what = "a copy can only be made where the path is UTF-8".into();
            return Err(StoreError::Unavailable(what));
        };
        match self.read(move |connection: &Connection| vacuum_into(connection, &path)).await {
            // The disk of the copy is not the one of the data.
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

/// As [`SqliteStore::copy_into`], on one connection and to a file by its name.
pub(crate) fn copy_to(
    connection: &Connection,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let path = path.to_str().ok_or("a copy can only be made where the path is UTF-8")?;
    Ok(vacuum_into(connection, path)?)
}

fn vacuum_into(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    // The file is opened for reading only, whatever this says; with it, SQLite would not write
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
        let store = SqliteStore::open(here.path()).unwrap();
        for append in sample::tale(1, "s1") {
            store.append(append.into()).await.unwrap();
        }
        let before = dump(&store).await;
        store.copy_into(there.path()).await.unwrap();
        let copy = SqliteStore::open(there.path()).unwrap();
        assert_eq!(dump(&copy).await, before);
        assert_eq!(copy.check().await.unwrap(), Vec::<String>::new());
        assert!(store.copy_into(there.path()).await.is_err(), "nothing is written over");
        assert!(!copy.runs(&RunFilter::default()).await.unwrap().is_empty());
    }
}

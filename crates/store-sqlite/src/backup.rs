//! A copy of the database as it is at one moment, made while it is in use.

use baton_files::{Dir, FileError, Mode};
use baton_store::StoreError;
use rusqlite::Connection;

use crate::reader::Readers;
use crate::{FILE, SqliteStore};

impl SqliteStore {
    /// Writes everything that is on disk by now into a new database in `dir`, where there is none
    /// yet. Only its owner may read it, from its first byte on. Readers and the writer go on
    /// meanwhile.
    pub async fn copy_into(&self, dir: &Dir) -> Result<(), StoreError> {
        self.readers.copy_into(dir).await
    }
}

impl Readers {
    pub(crate) async fn copy_into(&self, dir: &Dir) -> Result<(), StoreError> {
        let unavailable = |error: FileError| StoreError::Unavailable(Box::new(error));
        // SQLite takes an empty file for a new one, and leaves its mode alone.
        dir.create_new(FILE, Mode::Private).map_err(unavailable)?;
        let path = dir.real_path().map_err(unavailable)?.join(FILE);
        let Some(path) = path.to_str().map(str::to_owned) else {
            let what = "a copy can only be made where the path is UTF-8".into();
            return Err(StoreError::Unavailable(what));
        };
        let copy = move |connection: &Connection| {
            // The file is opened for reading only, whatever this says; with it, SQLite would not
            // write another file either.
            connection.execute_batch("pragma query_only = off")?;
            let copied = connection.execute("vacuum into ?1", [path]);
            connection.execute_batch("pragma query_only = on")?;
            copied.map(|_| ())
        };
        self.read(copy).await
    }
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
        assert_eq!(copy.check().await.unwrap(), Vec::<String>::new());
        assert!(store.copy_into(&into).await.is_err(), "nothing is written over");
        assert!(!copy.runs(&RunFilter::default()).await.unwrap().is_empty());
    }
}

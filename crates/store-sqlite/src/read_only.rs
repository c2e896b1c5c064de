//! A database that another process has open: it is read and never written, so no lock is needed.
//! SQLite's write-ahead log gives each statement a consistent snapshot, whatever the writer does.

use baton_files::Dir;
use baton_store::{StoreCheck, StoreResult};

use crate::check;
use crate::error::OpenError;
use crate::filesystem;
use crate::reader::Readers;

/// Offers only single-statement queries: two queries may see two snapshots.
#[derive(Debug)]
pub struct ReadOnlyStore {
    readers: Readers,
}

impl ReadOnlyStore {
    pub fn open(dir: &Dir) -> Result<Self, OpenError> {
        Ok(Self { readers: Readers::open(&filesystem::path_in(dir)?)? })
    }

    /// As [`SqliteStore::copy_into`](crate::SqliteStore::copy_into).
    pub async fn copy_into(&self, dir: &Dir) -> StoreResult<()> {
        self.readers.copy_into(dir).await
    }

    /// Every problem with the file itself. Whether its contents are true can be verified in a copy.
    pub async fn check(&self) -> StoreResult<StoreCheck> {
        self.readers.check(check::in_file).await
    }

    pub async fn close(&self) {
        self.readers.close().await;
    }
}

#[cfg(test)]
mod tests {
    use baton_store::Store as _;
    use baton_store_tests::{dump, sample};

    use super::*;
    use crate::{FILE, SqliteStore};

    #[tokio::test]
    async fn what_another_has_open_is_copied_and_checked_while_it_writes() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = SqliteStore::open(here.path()).unwrap();
        let beside = ReadOnlyStore::open(&Dir::open(here.path()).unwrap()).unwrap();
        for append in sample::tale(1, "s1") {
            store.append(append.into()).await.unwrap();
        }
        let before = dump(&store).await;
        beside.copy_into(&Dir::open(there.path()).unwrap()).await.unwrap();
        for append in sample::tale(2, "s2") {
            store.append(append.into()).await.unwrap();
        }
        assert_eq!(beside.check().await.unwrap().problems, Vec::<String>::new());
        beside.close().await;
        let copy = SqliteStore::open(there.path()).unwrap();
        assert_eq!(dump(&copy).await, before);
        assert_ne!(dump(&store).await, before, "the other goes on");
    }

    #[test]
    fn where_there_is_no_database_none_is_made() {
        let dir = tempfile::tempdir().unwrap();
        assert!(ReadOnlyStore::open(&Dir::open(dir.path()).unwrap()).is_err());
        assert!(!dir.path().join(FILE).exists());
    }
}

//! The suite that every store passes, on a file of its own for each case.
#![expect(clippy::unwrap_used, reason = "the stores here are for tests")]

use std::sync::Arc;

use async_trait::async_trait;
use baton_store::Store;
use baton_store_sqlite::SqliteStore;
use baton_store_tests::Place;
use tempfile::TempDir;

baton_store_tests::conformance!(fresh_store);
baton_store_tests::reopening!(fresh_place);

async fn fresh_store() -> (Arc<dyn Store>, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Arc::new(SqliteStore::open(dir.path()).unwrap()), dir)
}

async fn fresh_place() -> InDirectory {
    InDirectory(tempfile::tempdir().unwrap())
}

struct InDirectory(TempDir);

#[async_trait]
impl Place for InDirectory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path()).unwrap())
    }
}

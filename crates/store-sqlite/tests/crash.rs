//! What was acknowledged is there after a crash, however little time there was.
#![expect(clippy::unwrap_used, reason = "the files here are for tests")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

use std::fs;
use std::path::Path;

use baton_store::Store;
use baton_store_sqlite::SqliteStore;
use baton_store_tests::dump;
use baton_store_tests::sample::*;

#[tokio::test]
async fn every_acknowledged_append_survives_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for append in tale(1, "s-1") {
        put(&store, &append).await;
        let left = what_a_crash_leaves(dir.path());
        let again = SqliteStore::open(left.path()).unwrap();
        assert_eq!(dump(&again).await, dump(&store).await);
        assert_eq!(again.check().await.unwrap().problems, Vec::<String>::new());
    }
}

/// The files as they are at this moment, with nothing finished and nothing closed. The log comes
/// last: a checkpoint in between moves pages out of it, and removes none.
fn what_a_crash_leaves(dir: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for file in ["baton.db", "baton.db-wal"] {
        fs::copy(dir.join(file), left.path().join(file)).unwrap();
    }
    left
}

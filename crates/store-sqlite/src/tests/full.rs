//! A full disk: reported by name, retried, and still readable.

use std::fs;

use baton_files::Dir;
use baton_store::{AppendError, RunFilter, Store, StoreError, WriteFault};
use baton_store_tests::dump;
use baton_store_tests::sample::*;
use rusqlite::Connection;

use super::lost::until;
use crate::error::to_store;
use crate::{FILE, OpenError, SqliteStore};

#[tokio::test]
async fn a_full_disk_is_named_and_room_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    assert_eq!(store.write_fault(), None);
    set_most_pages(&store, 1).await;
    let mut large = start(2, "s-2");
    large.contents.push(words(&"x".repeat(100_000)));
    let before = dump(&store).await;
    let error = store.append(large.clone().into()).await.unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::Unwritable(WriteFault::DiskFull))),
        "{error:?}"
    );
    assert_eq!(error.to_string(), WriteFault::DiskFull.to_string());
    assert_eq!(dump(&store).await, before);
    set_most_pages(&store, 1_000_000).await;
    put(&store, &large).await;
    until(&store, || store.write_fault().is_none());
}

/// `max_page_count` makes SQLite report a full disk.
async fn set_most_pages(store: &SqliteStore, n_pages: u32) {
    let set = move |it: &Connection| {
        let sql = format!("pragma max_page_count = {n_pages}");
        it.query_row(&sql, [], |_| Ok(())).map_err(to_store)
    };
    store.writer.write(move |it| set(it)).await.unwrap();
}

#[tokio::test]
async fn a_frozen_store_is_read_and_says_why_it_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    // Every byte that has a meaning in a URI, and some that have none.
    let data = dir.path().join("a b?c#d%20e:ä&=");
    let store = SqliteStore::open(&data).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    let before = dump(&store).await;
    store.close().await;
    let files = || fs::read_dir(&data).unwrap().count();
    assert_eq!(files(), 2, "the database and its mark");
    for fault in [WriteFault::DiskFull, WriteFault::ReadOnly] {
        let frozen = SqliteStore::open_frozen(&Dir::open(&data).unwrap(), fault.clone()).unwrap();
        assert_eq!(dump(&frozen).await, before);
        assert_eq!(frozen.check().await.unwrap().problems, Vec::<String>::new());
        assert_eq!(frozen.write_fault(), Some(fault.clone()));
        let error = frozen.append(start(2, "s-2").into()).await.unwrap_err();
        assert_eq!(error.to_string(), fault.to_string());
        assert_eq!(files(), 2, "nothing is made beside it");
        frozen.close().await;
        assert_eq!(files(), 2);
    }
}

/// Data that is only in the log would be ignored.
#[tokio::test]
async fn a_database_with_a_log_is_not_read_frozen() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    let copy = tempfile::tempdir().unwrap();
    for name in [FILE, "baton.db-wal"] {
        fs::copy(dir.path().join(name), copy.path().join(name)).unwrap();
    }
    let error = SqliteStore::open_frozen(&Dir::open(copy.path()).unwrap(), WriteFault::ReadOnly)
        .unwrap_err();
    assert!(matches!(error, OpenError::Unwritable { .. }), "{error:?}");
    assert_eq!(error.write_fault(), Some(WriteFault::ReadOnly));
    let whole = SqliteStore::open(copy.path()).unwrap();
    assert!(whole.was_left_open());
    assert_eq!(whole.runs(&RunFilter::default()).await.unwrap().len(), 1);
    whole.close().await;
    assert!(!SqliteStore::open(copy.path()).unwrap().was_left_open());
}

#[tokio::test]
async fn a_slow_check_finds_the_same_and_ends_with_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    assert_eq!(store.check_slowly().await.unwrap().problems, Vec::<String>::new());
    let forge = |it: &Connection| {
        it.execute_batch("update runs set baton = 'held' where number = 1").map_err(to_store)
    };
    store.writer.write(move |it| forge(it)).await.unwrap();
    let found = store.check_slowly().await.unwrap();
    assert_eq!(found, store.check().await.unwrap());
    assert_eq!(found.problems, ["run 1: `baton` differs from its state"]);
    store.close().await;
    let late = store.check_slowly().await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}

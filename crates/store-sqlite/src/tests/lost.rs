//! Files that are deleted or replaced under a store that is in use: nothing more is recorded, and
//! what is still open is not lost.

use std::fs;
use std::path::Path;

use baton_files::Dir;
use baton_store::{AppendError, RunFilter, Store, StoreError, WriteFault};
use baton_store_tests::dump;
use baton_store_tests::sample::*;

use crate::{DataLock, FILE, SqliteStore, lock};

#[tokio::test]
async fn nothing_is_recorded_once_the_database_is_gone() {
    for name in [FILE, "baton.db-wal", "baton.db-shm", lock::FILE] {
        let dir = tempfile::tempdir().unwrap();
        let _lock =
            DataLock::take(&Dir::open(dir.path()).unwrap(), std::time::Duration::ZERO).unwrap();
        let store = with_a_tale(dir.path()).await;
        fs::remove_file(dir.path().join(name)).unwrap();
        store.guard.look();
        let what = refused(&store).await;
        let expected =
            format!("{}` was deleted or moved while Baton had it open", path(&dir, name));
        assert!(what.contains(&expected), "{what}");
        assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1, "reads go on");
    }
}

#[tokio::test]
async fn nothing_is_recorded_once_the_database_is_another() {
    for name in [FILE, lock::FILE] {
        let dir = tempfile::tempdir().unwrap();
        let _lock =
            DataLock::take(&Dir::open(dir.path()).unwrap(), std::time::Duration::ZERO).unwrap();
        let store = with_a_tale(dir.path()).await;
        fs::copy(dir.path().join(name), dir.path().join("other")).unwrap();
        fs::rename(dir.path().join("other"), dir.path().join(name)).unwrap();
        store.guard.look();
        let what = refused(&store).await;
        assert!(what.contains("was replaced by another file"), "{what}");
    }
}

#[tokio::test]
async fn the_thread_notices_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_a_tale(dir.path()).await;
    assert_eq!(store.write_fault(), None);
    fs::remove_file(dir.path().join(FILE)).unwrap();
    until(|| store.write_fault().is_some());
}

#[tokio::test]
async fn all_that_was_recorded_is_copied_while_it_is_still_open() {
    let project = tempfile::tempdir().unwrap();
    let data = project.path().join("data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost();
    let before = dump(&store).await;
    fs::remove_dir_all(&data).unwrap();
    let copy = data.join("rescued-1");
    let is_named = || {
        let fault = store.write_fault().map(|it| it.to_string()).unwrap_or_default();
        fault.ends_with(&format!("`baton restore {} --replace`", copy.join(FILE).display()))
    };
    until(is_named);
    store.close().await;
    let copy = SqliteStore::open(&copy).unwrap();
    assert_eq!(dump(&copy).await, before);
}

#[tokio::test]
async fn a_stop_right_after_the_loss_copies_it_too() {
    let project = tempfile::tempdir().unwrap();
    let data = project.path().join("data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost();
    let before = dump(&store).await;
    for name in [FILE, "baton.db-wal", "baton.db-shm"] {
        fs::remove_file(data.join(name)).unwrap();
    }
    store.close().await;
    let copy = SqliteStore::open(&data.join("rescued-1")).unwrap();
    assert_eq!(dump(&copy).await, before);
    assert!(!data.join(FILE).exists(), "no empty database is left in its place");
}

#[tokio::test]
async fn where_the_whole_project_is_gone_nothing_is_made() {
    let parent = tempfile::tempdir().unwrap();
    let project = parent.path().join("project");
    let store = with_a_tale(&project.join("data")).await;
    store.rescue_when_lost();
    fs::remove_dir_all(&project).unwrap();
    store.close().await;
    assert!(!project.exists());
}

#[tokio::test]
async fn what_was_put_in_its_place_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_a_tale(dir.path()).await;
    let others = [(FILE, "another database"), ("baton.db-wal", "its log"), ("baton.db-shm", "x")];
    for (name, text) in others {
        fs::remove_file(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name), text).unwrap();
    }
    store.close().await;
    for (name, text) in others {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), text, "{name}");
    }
}

async fn with_a_tale(dir: &Path) -> SqliteStore {
    let store = SqliteStore::open(dir).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    store
}

async fn refused(store: &SqliteStore) -> String {
    let error = store.append(start(2, "s-2").into()).await.unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::Unwritable(WriteFault::Replaced { .. }))),
        "{error:?}"
    );
    assert_eq!(store.write_fault().unwrap().to_string(), error.to_string());
    error.to_string()
}

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    format!("`{}", dir.path().join(name).display())
}

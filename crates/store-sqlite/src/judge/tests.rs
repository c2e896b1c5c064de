use std::fs;
use std::path::Path;

use baton_store::{Identity, Position, Store as _};
use baton_store_tests::dump;
use baton_store_tests::sample::{put_all, tale};
use uuid::Uuid;

use super::*;
use crate::mark::{MARK_FILE, Mark};
use crate::{SqliteStore, connect};

/// The contents of a data folder: every file with its bytes.
type Files = Vec<(String, Vec<u8>)>;

const FRAME: usize = 24 + 4096;

/// A database that was closed, and written again until its process was killed, with a mark that
/// covers all of it.
async fn killed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    store.close().await;
    let store = SqliteStore::open(dir.path()).unwrap();
    for n in 2..6 {
        put_all(&store, &tale(n, &format!("s-{n}"))).await;
    }
    let left = copy(dir.path());
    mark_all(left.path());
    left
}

fn copy(dir: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for (name, bytes) in files(dir) {
        fs::write(left.path().join(name), bytes).unwrap();
    }
    left
}

/// Writes the mark that the writer would write now.
fn mark_all(dir: &Path) {
    let dir = Dir::open(dir).unwrap();
    let ReadWal { wal: Wal::Frames(frames), .. } = read_wal(&dir).unwrap() else { panic!() };
    let StoredMark::Mark(mark) = StoredMark::read(&dir).unwrap() else { panic!() };
    let part = LogPart { salts: frames.header.salts, n_frames: frames.n_committed };
    Mark { log: MarkedLog::Needed(part), ..mark }.write(&dir).unwrap();
}

fn files(dir: &Path) -> Files {
    [FILE, WAL_FILE, MARK_FILE]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), fs::read(dir.join(name)).ok()?)))
        .collect()
}

/// Opening is refused with `expected`, and changes nothing.
#[track_caller]
fn check_refused(dir: &Path, expected: &str) {
    let before = files(dir);
    let error = SqliteStore::open(dir).unwrap_err().to_string();
    assert!(error.contains(expected), "`{error}` is not about `{expected}`");
    assert!(files(dir) == before, "something was changed where `{error}`");
}

fn change(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(dir.join(name)).unwrap();
    change(&mut bytes);
    fs::write(dir.join(name), bytes).unwrap();
}

#[tokio::test]
async fn what_a_killed_process_left_is_opened() {
    let dir = killed().await;
    let store = SqliteStore::open(dir.path()).unwrap();
    assert!(store.was_left_open());
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    store.close().await;
    assert!(!dir.path().join(WAL_FILE).exists());
    assert!(!SqliteStore::open(dir.path()).unwrap().was_left_open());
}

#[tokio::test]
async fn a_flipped_bit_anywhere_in_the_log_is_refused() {
    let dir = killed().await;
    let n_bytes = fs::metadata(dir.path().join(WAL_FILE)).unwrap().len() as usize;
    for at in (0..n_bytes).step_by(n_bytes / 40).chain([n_bytes - 1]) {
        let dir = copy(dir.path());
        change(dir.path(), WAL_FILE, |bytes| bytes[at] ^= 1);
        check_refused(dir.path(), "baton.db-wal` is damaged");
    }
}

#[tokio::test]
async fn a_log_that_was_cut_or_deleted_is_refused() {
    let dir = killed().await;
    let n_bytes = fs::metadata(dir.path().join(WAL_FILE)).unwrap().len() as usize;
    for length in [0, 1, 31, 32, 32 + FRAME, n_bytes / 2, n_bytes - 1] {
        let dir = copy(dir.path());
        change(dir.path(), WAL_FILE, |bytes| bytes.truncate(length));
        check_refused(dir.path(), "baton.db-wal` is damaged");
    }
    fs::remove_file(dir.path().join(WAL_FILE)).unwrap();
    check_refused(dir.path(), "it is missing or empty, and had");
}

#[tokio::test]
async fn the_end_of_a_write_that_was_cut_short_is_no_damage() {
    let dir = killed().await;
    change(dir.path(), WAL_FILE, |bytes| bytes.extend([7; 5000]));
    SqliteStore::open(dir.path()).unwrap();
}

#[tokio::test]
async fn a_database_that_is_cut_or_has_another_head_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for n in 1..9 {
        put_all(&store, &tale(n, &format!("s-{n}"))).await;
    }
    store.close().await;
    let n_bytes = fs::metadata(dir.path().join(FILE)).unwrap().len() as usize;
    for length in [1, 99, 511, 4095, 4096, n_bytes / 2, n_bytes - 1] {
        let dir = copy(dir.path());
        change(dir.path(), FILE, |bytes| bytes.truncate(length));
        check_refused(dir.path(), "baton.db` is damaged");
    }
    let dir = copy(dir.path());
    change(dir.path(), FILE, |bytes| bytes[..100].fill(0));
    check_refused(dir.path(), "its first page is not that of a database");
}

#[tokio::test]
async fn a_project_that_lost_its_database_does_not_look_new() {
    for is_deleted in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        put_all(&store, &tale(1, "s-1")).await;
        store.close().await;
        if is_deleted {
            fs::remove_file(dir.path().join(FILE)).unwrap();
        } else {
            fs::write(dir.path().join(FILE), b"").unwrap();
        }
        check_refused(dir.path(), "missing or empty, and this project had a database");
        fs::write(dir.path().join(MARK_FILE), b"nothing").unwrap();
        check_refused(dir.path(), "missing or empty, and this project had a database");
    }
}

#[tokio::test]
async fn an_older_or_another_database_is_refused() {
    let [dir, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for it in [&dir, &other] {
        let store = SqliteStore::open(it.path()).unwrap();
        put_all(&store, &tale(1, "s-1")).await;
        store.close().await;
    }
    let older = fs::read(dir.path().join(FILE)).unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(2, "s-2")).await;
    store.close().await;
    let newest = fs::read(dir.path().join(FILE)).unwrap();
    fs::write(dir.path().join(FILE), older).unwrap();
    check_refused(dir.path(), "is older than what was last written here");
    fs::copy(other.path().join(FILE), dir.path().join(FILE)).unwrap();
    check_refused(dir.path(), "is not the database that was last open here");
    fs::write(dir.path().join(FILE), newest).unwrap();
    SqliteStore::open(dir.path()).unwrap();
}

#[tokio::test]
async fn a_damaged_mark_alone_keeps_nothing_closed() {
    let dir = killed().await;
    fs::write(dir.path().join(MARK_FILE), b"nothing").unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    store.close().await;
    let files = Dir::open(dir.path()).unwrap();
    assert!(matches!(StoredMark::read(&files).unwrap(), StoredMark::Mark(_)));
}

#[tokio::test]
async fn a_journal_is_never_played_back() {
    let dir = killed().await;
    fs::write(dir.path().join("baton.db-journal"), b"anything").unwrap();
    check_refused(dir.path(), "Baton leaves no such file behind");
}

#[tokio::test]
async fn only_looking_leaves_every_byte() {
    let dir = killed().await;
    let before = files(dir.path());
    let judgement = judge_files(&Dir::open(dir.path()).unwrap()).unwrap();
    let path = dir.path().join(FILE);
    judge_contents(&connect::looking(&path).unwrap(), &path, &judgement).unwrap();
    assert!(files(dir.path()) == before);
}

/// The state in which SQLite itself destroys a database: all of the log is checkpointed, and the
/// end of the log is gone. SQLite would lay the rest of it over newer pages.
#[tokio::test]
async fn a_log_that_was_moved_and_then_cut_is_refused() {
    let dir = killed().await;
    let connection = connect::writing(&dir.path().join(FILE)).unwrap();
    connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())).unwrap();
    drop(connection);
    let files = Dir::open(dir.path()).unwrap();
    let StoredMark::Mark(mark) = StoredMark::read(&files).unwrap() else { panic!() };
    let MarkedLog::Needed(part) = mark.log else { panic!() };
    for log in [MarkedLog::Needed(part), MarkedLog::Moved(part)] {
        Mark { log, ..mark.clone() }.write(&files).unwrap();
        let dir = copy(dir.path());
        change(dir.path(), WAL_FILE, |bytes| bytes.truncate(bytes.len() - 2 * FRAME));
        check_refused(dir.path(), "whole frames, and had");
    }
    // Once a mark says that all of it was checkpointed, the log may be missing.
    let whole = SqliteStore::open(copy(dir.path()).path()).unwrap();
    fs::write(dir.path().join(WAL_FILE), b"").unwrap();
    let without = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(dump(&without).await, dump(&whole).await);
}

#[test]
fn a_mark_of_another_project_is_not_taken_for_ours() {
    let dir = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(dir.path()).unwrap());
    let files = Dir::open(dir.path()).unwrap();
    let identity = Identity { project: Uuid::from_u128(1), epoch: "00000000".to_owned() };
    let (number, position) = (MarkNumber(0), Position(0));
    Mark { identity, number, position, log: MarkedLog::Empty, is_renewed: false }
        .write(&files)
        .unwrap();
    check_refused(dir.path(), "is not the database that was last open here");
}

#[test]
fn a_database_without_its_identity_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(dir.path()).unwrap());
    let connection = connect::writing(&dir.path().join(FILE)).unwrap();
    connection.execute("delete from identity", []).unwrap();
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    connect::remove_log_on_close(&connection);
    drop(connection);
    check_refused(dir.path(), "baton.db` is damaged");
}

/// The moment in which an empty file becomes a database.
#[tokio::test]
async fn a_database_whose_making_was_cut_short_is_made_again() {
    let made = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(made.path()).unwrap());
    let first_page = fs::read(made.path().join(FILE)).unwrap()[..4096].to_vec();
    for page in [&first_page[..], &first_page[..100], b""] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), page).unwrap();
        // The journal says that the database had no page before.
        let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        journal.extend([0; 4]);
        journal.extend([1, 2, 3, 4]);
        journal.extend([0; 4]);
        journal.extend(512_u32.to_be_bytes());
        journal.extend(4096_u32.to_be_bytes());
        journal.resize(512, 0);
        fs::write(dir.path().join("baton.db-journal"), journal).unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        put_all(&store, &tale(1, "s-1")).await;
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    }
}

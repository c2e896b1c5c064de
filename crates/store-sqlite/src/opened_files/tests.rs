use std::fs::{self, File};
use std::time::Duration;

use super::*;

/// A change to the folder, and what is detected.
#[test]
fn every_way_to_lose_a_file_is_noticed() {
    use DataFile::{Database, Index, Lock, Log};
    use FileChange::{Cut, Gone, Overwritten, Replaced};
    type Act = fn(&Path);
    let cases: [(Act, Option<(DataFile, FileChange)>); 14] = [
        (|_| {}, None),
        (|dir| remove(dir, "baton.db"), Some((Database, Gone))),
        (|dir| remove(dir, "baton.db-wal"), Some((Log, Gone))),
        (|dir| remove(dir, "baton.db-shm"), Some((Index, Gone))),
        (|dir| remove(dir, "baton.lock"), Some((Lock, Gone))),
        (|dir| fs::remove_dir_all(dir).unwrap(), Some((Database, Gone))),
        (|dir| fs::rename(dir, dir.with_extension("x")).unwrap(), Some((Database, Gone))),
        (|dir| replace(dir, "baton.db"), Some((Database, Replaced))),
        (|dir| replace(dir, "baton.lock"), Some((Lock, Replaced))),
        (|dir| write_later(dir, "baton.db", "1234"), Some((Database, Cut { from: 8, to: 4 }))),
        (|dir| write_later(dir, "baton.db", "abcdefgh"), Some((Database, Overwritten))),
        (|dir| write_later(dir, "baton.db", "longer than before"), Some((Database, Overwritten))),
        (|dir| write_later(dir, "baton.db-wal", ""), Some((Log, Cut { from: 8, to: 0 }))),
        // As a commit does.
        (|dir| write_later(dir, "baton.db-wal", "longer than before"), None),
    ];
    for (number, (act, expected)) in cases.into_iter().enumerate() {
        let (_parent, dir) = data();
        let files = OpenedFiles::of(&dir);
        assert_eq!(files.lost(), None);
        act(&dir);
        let found = files.lost().map(|it| (it.kind, it.change));
        assert_eq!(found, expected, "case {number}");
        assert_eq!(files.begin_move().is_ok(), expected.is_none(), "case {number}");
    }
}

#[test]
fn a_log_that_grew_may_not_shrink_again() {
    let (_parent, dir) = data();
    let files = OpenedFiles::of(&dir);
    fs::write(dir.join("baton.db-wal"), "123456789").unwrap();
    assert_eq!(files.lost(), None);
    fs::write(dir.join("baton.db-wal"), "12345678").unwrap();
    let change = files.lost().unwrap().change;
    assert_eq!(change, FileChange::Cut { from: 9, to: 8 });
}

#[test]
fn while_the_log_is_moved_both_may_change() {
    let (_parent, dir) = data();
    let files = OpenedFiles::of(&dir);
    let moving = files.begin_move().unwrap();
    write_later(&dir, "baton.db", "longer than before");
    fs::write(dir.join("baton.db-wal"), "").unwrap();
    assert_eq!(files.lost(), None);
    drop(moving);
    assert_eq!(files.lost(), None);
    let moving = files.begin_move().unwrap();
    remove(&dir, "baton.db");
    assert_eq!(files.lost().unwrap().change, FileChange::Gone);
    drop(moving);
    assert_eq!(files.lost().unwrap().change, FileChange::Gone, "it stays lost");
}

#[test]
fn files_that_were_moved_together_are_known_again() {
    let (parent, dir) = data();
    let files = OpenedFiles::of(&dir);
    let there = parent.path().join("there");
    fs::rename(&dir, &there).unwrap();
    assert!(files.are_in(&there) && !files.are_in(&dir));
    replace(&there, "baton.db-wal");
    assert!(!files.are_in(&there));
}

fn data() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data");
    fs::create_dir(&dir).unwrap();
    for name in ["baton.db", "baton.db-wal", "baton.db-shm", "baton.lock"] {
        fs::write(dir.join(name), "12345678").unwrap();
    }
    (parent, dir)
}

fn remove(dir: &Path, name: &str) {
    fs::remove_file(dir.join(name)).unwrap();
}

fn replace(dir: &Path, name: &str) {
    fs::write(dir.join("other"), "12345678").unwrap();
    fs::rename(dir.join("other"), dir.join(name)).unwrap();
}

/// File-system timestamps are coarser than a test is fast.
fn write_later(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    let before = path.metadata().unwrap().modified().unwrap();
    fs::write(&path, text).unwrap();
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(before + Duration::from_secs(1))
        .unwrap();
}

//! Commands that only read leave damaged data as they find it, and say what the archive knows.

use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::Project;

const FILES: [&str; 3] = ["baton.db", "baton.db-wal", "baton.mark"];

impl Project {
    fn data_file(&self, name: &str) -> PathBuf {
        self.path().join(".baton/data").join(name)
    }

    fn data_bytes(&self) -> [Option<Vec<u8>>; 3] {
        FILES.map(|it| std::fs::read(self.data_file(it)).ok())
    }

    /// As a killed process leaves it: what `sql` changes is in the log alone.
    fn change_in_the_log(&self, sql: &str) {
        let connection = Connection::open(self.data_file("baton.db")).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        assert!(std::fs::metadata(self.data_file("baton.db-wal")).unwrap().len() > 0);
    }
}

const READING: [&[&str]; 8] = [
    &["status"],
    &["run", "list"],
    &["run", "show", "s1"],
    &["story", "list"],
    &["handoff", "list"],
    &["inbox"],
    &["doctor"],
    &["verify"],
];

#[test]
fn a_command_that_reads_moves_no_log_of_data_that_is_damaged() {
    for sql in [
        "update runs set state = '{'; update events set body = '{' where version = 2",
        "update events set hash = zeroblob(32) where version = 2",
        "update stories set title = 'forged'",
    ] {
        let project = Project::started();
        project.change_in_the_log(sql);
        let before = project.data_bytes();
        for command in READING {
            let said = project.run(command);
            assert!(project.data_bytes() == before, "{command:?} after {sql}: {said:?}");
        }
        assert_eq!(project.run(&["verify"]).code, 1, "{sql}");
        let said = project.run(&["backup", "kept.db"]);
        assert_ne!(said.code, 0, "{said:?}");
        assert!(project.data_bytes() == before, "backup after {sql}: {said:?}");
    }
}

#[test]
fn a_log_that_is_sound_is_moved_by_the_next_command_and_not_by_verify() {
    let project = Project::started();
    project.change_in_the_log("begin; create table t (x); drop table t; commit");
    let before = project.data_bytes();
    for command in [&["verify"][..], &["doctor"], &["backup", "kept.db"]] {
        project.ok(command);
        assert!(project.data_bytes() == before, "{command:?}");
    }
    project.ok(&["status"]);
    assert!(project.data_bytes()[1].is_none(), "all of it is in the database");
    project.ok(&["verify"]);
}

/// The mark is what tells that the newest part of a database is missing. Without it, the archive
/// may.
#[test]
fn where_the_mark_is_lost_the_archive_says_what_is_missing() {
    for spoil in [(|mark| std::fs::write(mark, "baton mark 1\n").unwrap()) as fn(PathBuf), |mark| {
        std::fs::remove_file(mark).unwrap()
    }] {
        let project = Project::started();
        std::fs::copy(project.data_file("baton.db"), project.path().join("older.db")).unwrap();
        project.ok(&["handoff", "accept", "1"]);
        std::fs::copy(project.path().join("older.db"), project.data_file("baton.db")).unwrap();
        spoil(project.data_file("baton.mark"));
        let said = project.run(&["verify"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains("the archive has 4 events of run 1"), "{said:?}");
        let said = project.run(&["status"]);
        assert!(said.stderr.contains("baton.mark"), "{said:?}");
        assert!(said.stderr.contains("the archive has 4 events of run 1"), "{said:?}");
        assert!(said.stderr.contains("baton recover"), "{said:?}");
        let before = project.data_bytes();
        for command in READING {
            project.run(command);
            assert!(project.data_bytes() == before, "{command:?}");
        }
        for command in [&["story", "add", "new"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            project.fails(command, 5, "the archive has 4 events of run 1");
            assert!(project.data_bytes() == before, "{command:?}");
        }
        let said = project.run(&["verify"]);
        assert_eq!(said.code, 1, "{said:?}");
        let said = project.run(&["doctor"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stdout.contains("the archive has 4 events of run 1"), "{said:?}");
        let said = project.run(&["recover", "--json"]);
        assert!(said.stdout.contains("\"events\": 4"), "{said:?}");
        // A person goes on with what is there.
        project.ok(&["backup", "kept.db"]);
        project.ok(&["restore", "--replace", "kept.db"]);
        project.ok(&["story", "add", "new"]);
        let said = project.run(&["verify"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
}

#[test]
fn damaged_pages_are_named_and_nothing_is_written() {
    let project = Project::started();
    for n in 2..30 {
        let key = format!("s{n}");
        project.ok(&["story", "add", &key, "--title", &"long title ".repeat(20)]);
        project.ok(&["run", "start", &key]);
    }
    let sound = std::fs::read(project.data_file("baton.db")).unwrap();
    for first in [5, 20] {
        let mut bytes = sound.clone();
        for (index, byte) in bytes[first * 4096..(first + 5) * 4096].iter_mut().enumerate() {
            *byte = u8::try_from((index * 7919 + index / 13) % 251).unwrap();
        }
        std::fs::write(project.data_file("baton.db"), &bytes).unwrap();
        let before = project.data_bytes();
        let said = project.run(&["verify"]);
        assert!(project.data_bytes() == before, "{said:?}");
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains("[broken]"), "{said:?}");
        assert!(said.stderr.lines().count() > 3, "{said:?}");
    }
}

#[test]
fn a_first_page_that_is_no_database_is_a_problem_like_others() {
    let project = Project::started();
    let mut bytes = std::fs::read(project.data_file("baton.db")).unwrap();
    bytes[..4096].fill(b'x');
    std::fs::write(project.data_file("baton.db"), &bytes).unwrap();
    let before = project.data_bytes();
    let said = project.run(&["verify"]);
    assert!(project.data_bytes() == before, "{said:?}");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("its first page is not that of a database"), "{said:?}");
}

#[test]
fn that_a_mark_was_lost_stays_known_until_a_restore() {
    let project = Project::started();
    std::fs::remove_file(project.data_file("baton.mark")).unwrap();
    let before = project.data_bytes();
    for command in [&["verify"][..], &["status"], &["doctor"], &["verify"]] {
        let said = project.run(command);
        assert_eq!(said.code, 0, "{said:?}");
        let words = format!("{}{}", said.stdout, said.stderr);
        assert!(words.contains("nothing there tells whether the newest events"), "{said:?}");
        assert!(project.data_bytes() == before, "{command:?}");
    }
    let said = project.run(&["recover", "--dry-run"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("no file tells whether the newest events"), "{said:?}");
    assert!(!said.stdout.contains("nothing is missing"), "{said:?}");
    project.ok(&["story", "add", "new"]);
    for command in ["verify", "doctor"] {
        let said = project.run(&[command]);
        let words = format!("{}{}", said.stdout, said.stderr);
        assert!(words.contains("was lost and made anew"), "{said:?}");
    }
    project.ok(&["backup", "kept.db"]);
    project.ok(&["restore", "--replace", "kept.db"]);
    for command in ["verify", "doctor"] {
        let said = project.run(&[command]);
        assert!(!format!("{}{}", said.stdout, said.stderr).contains("baton.mark"), "{said:?}");
    }
}

/// A doctor only looks, also where the archive is behind what a killed process left.
#[test]
fn a_doctor_says_that_the_archive_is_behind_and_writes_neither() {
    let project = Project::started();
    project.change_in_the_log("update cursors set position = 0");
    let before = project.data_bytes();
    let said = project.run(&["doctor"]);
    assert!(said.stdout.contains("2 events are not in it yet"), "{said:?}");
    assert!(project.data_bytes() == before);
}

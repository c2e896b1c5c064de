//! A project whose data is gone does not look like a new one.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::Project;

#[test]
fn data_that_was_cleaned_away_is_missed() {
    let project = Project::started();
    fs::remove_dir_all(project.path().join(".baton/data")).unwrap();
    for command in [&["status"][..], &["verify"], &["story", "list"], &["story", "add", "new"]] {
        let refused = project.run(command);
        assert_eq!(refused.code, 5, "{refused:?}");
        assert!(refused.stderr.contains("the archive in `state` tells of runs"), "{refused:?}");
        assert!(refused.stderr.contains("baton init --new-data"), "{refused:?}");
        assert!(!project.path().join(".baton/data/baton.db").exists());
    }
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    project.ok(&["init", "--new-data"]);
    assert!(project.ok(&["status"]).contains("no run is open"));
}

#[test]
fn a_database_that_was_deleted_or_emptied_is_missed() {
    for is_deleted in [true, false] {
        let project = Project::started();
        let database = project.path().join(".baton/data/baton.db");
        if is_deleted {
            fs::remove_file(&database).unwrap();
        } else {
            fs::write(&database, "").unwrap();
        }
        let refused = project.run(&["status"]);
        assert_eq!(refused.code, 5, "{refused:?}");
        assert!(refused.stderr.contains("is missing or empty"), "{refused:?}");
        project.ok(&["init", "--new-data"]);
        assert!(project.ok(&["status"]).contains("no run is open"));
    }
}

#[test]
fn data_that_is_there_is_not_begun_anew() {
    let project = Project::started();
    let refused = project.run(&["init", "--new-data"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(project.ok(&["status"]).contains("s1"));
}

#[test]
fn a_clone_without_an_archive_is_a_new_project() {
    let project = Project::new();
    project.ok(&["story", "add", "s-1"]);
    fs::remove_dir_all(project.path().join(".baton/data")).unwrap();
    assert!(project.ok(&["status"]).contains("no run is open"));
}

#[test]
fn a_copy_beside_lost_data_is_named() {
    let project = Project::started();
    let backup = project.path().join("backup.db");
    project.ok(&["backup", backup.to_str().unwrap()]);
    project.ok(&["restore", "--replace", backup.to_str().unwrap()]);
    let data = project.path().join(".baton/data");
    fs::remove_file(data.join("baton.db")).unwrap();
    fs::remove_file(data.join("baton.mark")).unwrap();
    project.fails(&["status"], 5, "baton restore ");
    project.ok(&["restore", data.join("before-restore-1").to_str().unwrap()]);
    assert!(project.ok(&["status"]).contains("s1"));
}

/// Names do not tell which copy is newest: `rescued-10` sorts before `rescued-2`, and what was put
/// aside may be newer than what a server saved long ago.
#[test]
fn of_several_copies_the_one_with_the_newest_data_is_named() {
    let project = Project::started();
    let data = project.path().join(".baton/data");
    let database = fs::read(data.join("baton.db")).unwrap();
    fs::remove_file(data.join("baton.db")).unwrap();
    fs::remove_file(data.join("baton.mark")).unwrap();
    for (copies, expected) in [
        (&[("rescued-2", 1), ("rescued-10", 2)][..], "rescued-10"),
        (&[("rescued-2", 2), ("rescued-10", 1)], "rescued-2"),
        (&[("rescued-2", 1), ("rescued-10", 1)], "rescued-10"),
        (&[("rescued-1", 1), ("before-restore-3", 2)], "before-restore-3"),
        (&[("rescued-1", 2), ("before-restore-3", 1)], "rescued-1"),
    ] {
        for (name, minutes) in copies {
            let path = data.join(name).join("baton.db");
            fs::create_dir(data.join(name)).unwrap();
            fs::write(&path, &database).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            let written_at = Duration::from_secs(1_700_000_000 + 60 * minutes);
            file.set_modified(SystemTime::UNIX_EPOCH + written_at).unwrap();
        }
        // Newer than all of them, and nothing that could be restored.
        fs::create_dir(data.join("rescued-99")).unwrap();
        project.fails(&["status"], 5, &format!("{expected}`"));
        for (name, _) in copies.iter().chain(&[("rescued-99", 0)]) {
            fs::remove_dir_all(data.join(name)).unwrap();
        }
    }
}

#[test]
fn a_copy_that_is_behind_is_named_after_recover_and_with_how_far_it_goes() {
    for has_mark in [true, false] {
        let project = Project::started();
        project.ok(&["backup", "old.db"]);
        project.ok(&["restore", "--replace", "old.db"]);
        project.ok(&["handoff", "accept", "1"]);
        let data = project.path().join(".baton/data");
        fs::remove_file(data.join("baton.db")).unwrap();
        if !has_mark {
            fs::remove_file(data.join("baton.mark")).unwrap();
        }
        let said = project.run(&["status"]);
        assert_eq!(said.code, 5, "{said:?}");
        let place = |words: &str| said.stderr.find(words);
        assert!(place("baton recover").unwrap() < place("baton restore").unwrap(), "{said:?}");
        assert!(said.stderr.contains("which goes up to event "), "{said:?}");
    }
}

#[test]
fn a_restore_says_how_many_runs_the_archive_knows_more_of() {
    let project = Project::started();
    project.ok(&["backup", "old.db"]);
    let said = project.run(&["restore", "--replace", "old.db"]);
    assert!(!said.stderr.contains("archive"), "{said:?}");
    project.ok(&["handoff", "accept", "1"]);
    let said = project.run(&["restore", "--replace", "old.db"]);
    let expected = "1 run has more events in the archive than in this backup: `baton recover`";
    assert!(said.stderr.contains(expected), "{said:?}");
}

/// `init --new-data` is no way of no return.
#[test]
fn what_the_archive_has_of_the_data_before_is_named_and_brought_back() {
    let project = Project::started();
    std::fs::remove_dir_all(project.path().join(".baton/data")).unwrap();
    let began = project.run(&["init", "--new-data"]);
    assert_eq!(began.code, 0, "{began:?}");
    let command = "`baton recover --archived ";
    let at = began.stderr.find(command).unwrap_or_else(|| panic!("{began:?}"));
    let id = &began.stderr[at + command.len()..][..36];
    // A run of the new data is in the archive too by then.
    project.ok(&["story", "add", "new"]);
    project.ok(&["run", "start", "new"]);
    let said = project.run(&["recover"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains(&format!("`baton recover --archived {id}`")), "{said:?}");
    let said = project.run(&["recover", "--archived", id]);
    assert!(said.stdout.contains("can be recovered: 1 run, 1 handoff"), "{said:?}");
    project.ok(&["restore", "--replace", ".baton/data/recovered-2/baton.db"]);
    let stories = project.ok(&["story", "list"]);
    assert!(stories.contains("s1") && !stories.contains("new"), "{stories}");
    project.ok(&["verify"]);
    let none = project.run(&["recover", "--archived", "00000000-0000-0000-0000-000000000000"]);
    assert!(none.stderr.contains("the archive has no session of the data 00000000"), "{none:?}");
}

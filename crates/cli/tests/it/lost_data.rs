//! A project whose data is gone does not look like a new one.

use std::fs;

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

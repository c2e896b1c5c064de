//! `backup` and `restore` are killed before each change of the disk in turn, until they come to
//! their end. Whenever that is, the data is the old or the new one, complete.
#![cfg(debug_assertions)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{Project, Said};

/// More steps than any of the commands has.
const MOST_STEPS: u32 = 400;
/// Fewer than any of them has: one that ends before was not killed.
const FEWEST_STEPS: u32 = 5;

impl Project {
    /// Runs a command that is killed before its `step`-th change of the disk.
    fn killed_at(&self, step: u32, args: &[&str]) -> Said {
        let mut command = self.command(args);
        Said::from(command.env("BATON_KILL_AT_STEP", step.to_string()).output().unwrap())
    }

    /// The stories that have runs, which tells the old data from the new.
    fn runs(&self) -> BTreeSet<String> {
        let runs = self.json(&["run", "list", "--all"]);
        let stories = runs["items"].as_array().unwrap().iter();
        stories.map(|it| it["story"].as_str().unwrap().to_owned()).collect()
    }
}

fn set(stories: &[&str]) -> BTreeSet<String> {
    stories.iter().map(|it| (*it).to_owned()).collect()
}

fn names(folder: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    names.map(|it| it.into_string().unwrap()).filter(|it| it.starts_with(prefix)).collect()
}

/// A project with one run, whose backup has another.
fn with_another_backup() -> Project {
    let project = Project::new();
    for story in ["new", "old"] {
        project.ok(&["story", "add", story]);
    }
    project.ok(&["run", "start", "new"]);
    project.ok(&["backup", "new.db"]);
    let empty = Project::new();
    empty.ok(&["story", "add", "old"]);
    empty.ok(&["run", "start", "old"]);
    empty.ok(&["backup", "old.db"]);
    fs::copy(empty.path().join("old.db"), project.path().join("old.db")).unwrap();
    project.ok(&["restore", "old.db", "--replace"]);
    project
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_or_the_new_data() {
    let project = with_another_backup();
    let data = project.path().join(".baton/data");
    let mut n_old = 0;
    let mut n_new = 0;
    for step in 1..MOST_STEPS {
        project.ok(&["restore", "old.db", "--replace"]);
        let said = project.killed_at(step, &["restore", "new.db", "--replace"]);
        let runs = project.runs();
        if said.code == 0 {
            assert_eq!(runs, set(&["new"]));
            assert!(n_old > 10 && n_new > 2, "killed {n_old} times before and {n_new} after");
            return;
        }
        match runs {
            it if it == set(&["old"]) => n_old += 1,
            it if it == set(&["new"]) => n_new += 1,
            other => panic!("{other:?} after step {step}: {said:?}"),
        }
        assert_eq!(project.run(&["verify"]).code, 0, "step {step}");
        assert!(!data.join("restore-in-progress.json").exists(), "step {step}");
        for aside in names(&data, "before-restore-") {
            fs::remove_dir_all(data.join(aside)).unwrap();
        }
    }
    panic!("it never came to its end");
}

#[test]
fn a_restore_into_an_empty_project_that_is_killed_leaves_nothing_or_everything() {
    let full = with_another_backup();
    for step in 1..MOST_STEPS {
        let project = Project::new();
        fs::copy(full.path().join("new.db"), project.path().join("new.db")).unwrap();
        let said = project.killed_at(step, &["restore", "new.db"]);
        let runs = project.runs();
        if said.code == 0 {
            assert_eq!(runs, set(&["new"]));
            assert!(step > FEWEST_STEPS, "it was killed only {} times", step - 1);
            return;
        }
        assert!(runs.is_empty() || runs == set(&["new"]), "{runs:?} after step {step}: {said:?}");
    }
    panic!("it never came to its end");
}

#[test]
fn a_backup_that_is_killed_leaves_a_whole_file_or_none() {
    let project = Project::started();
    for step in 1..MOST_STEPS {
        let said = project.killed_at(step, &["backup", "copy.db"]);
        let copy = project.path().join("copy.db");
        if copy.exists() {
            let other = Project::new();
            fs::copy(&copy, other.path().join("copy.db")).unwrap();
            other.ok(&["restore", "copy.db"]);
            assert_eq!(other.runs(), set(&["s1"]), "step {step}");
            fs::remove_file(&copy).unwrap();
        }
        assert_eq!(project.runs(), set(&["s1"]), "step {step}");
        if said.code == 0 {
            assert!(step > FEWEST_STEPS, "it was killed only {} times", step - 1);
            // What the killed ones had left is gone, but for folders that never got their lock.
            for left in names(project.path(), ".baton-copy-") {
                let left = project.path().join(left);
                assert!(!left.join("owner.lock").exists(), "{}", left.display());
            }
            return;
        }
    }
    panic!("it never came to its end");
}

#[test]
fn the_log_beside_a_database_is_restored_with_it() {
    let project = Project::started();
    let server = project.serves();
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    server.kill();
    project.ok(&["backup", "later.db"]);
    // As the killed server left them.
    let data = project.path().join(".baton/data");
    let source = tempfile::tempdir().unwrap();
    let server = project.serves();
    project.ok(&["story", "add", "s3"]);
    project.ok(&["run", "start", "s3"]);
    server.kill();
    for name in ["baton.db", "baton.db-wal"] {
        fs::copy(data.join(name), source.path().join(name)).unwrap();
    }
    let bytes = |name: &str| fs::read(source.path().join(name)).unwrap();
    let before = ["baton.db", "baton.db-wal"].map(bytes);
    let log = &before[1];
    assert!(!log.is_empty(), "the log has the newest run");
    for from in [source.path().to_owned(), source.path().join("baton.db")] {
        project.ok(&["restore", "later.db", "--replace"]);
        assert_eq!(project.runs(), set(&["s1", "s2"]));
        project.ok(&["restore", from.to_str().unwrap(), "--replace"]);
        assert_eq!(project.runs(), set(&["s1", "s2", "s3"]));
        assert_eq!(["baton.db", "baton.db-wal"].map(bytes), before, "the source is only read");
        assert_eq!(names(source.path(), "").len(), 2);
    }
}

#[test]
fn what_was_put_aside_comes_back_whole() {
    let project = Project::started();
    project.ok(&["backup", "copy.db"]);
    let server = project.serves();
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    server.kill();
    project.ok(&["restore", "copy.db", "--replace"]);
    assert_eq!(project.runs(), set(&["s1"]));
    let aside = names(&project.path().join(".baton/data"), "before-restore-");
    let [aside] = aside.as_slice() else { panic!("{aside:?}") };
    project.ok(&["restore", &format!(".baton/data/{aside}"), "--replace"]);
    assert_eq!(project.runs(), set(&["s1", "s2"]));
    let own = ".baton/data/baton.db";
    project.fails(&["restore", own, "--replace"], 2, "is the data of this project itself");
}

#[test]
fn every_copy_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::started();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    project.ok(&["backup", "copy.db"]);
    project.ok(&["restore", "copy.db", "--replace"]);
    let data = project.path().join(".baton/data");
    assert_eq!(mode(&project.path().join("copy.db")), 0o600);
    assert_eq!(mode(&data.join("baton.db")), 0o600);
    assert_eq!(mode(&data.join("before-restore-1")), 0o700);
    // A killed one leaves its folder: it is private too.
    let said = project.killed_at(8, &["backup", "second.db"]);
    assert_ne!(said.code, 0);
    let left = names(project.path(), ".baton-copy-");
    assert_eq!(left.len(), 1, "{left:?}");
    for left in left {
        assert_eq!(mode(&project.path().join(left)), 0o700);
    }
}

#[test]
fn a_doctor_names_what_was_left_over() {
    let project = Project::started();
    project.ok(&["backup", "copy.db"]);
    project.ok(&["restore", "copy.db", "--replace"]);
    let data = project.path().join(".baton/data");
    fs::create_dir(data.join(".baton-copy-old")).unwrap();
    let said = project.ok(&["doctor"]);
    for part in ["before-restore-1", ".baton-copy-old", "rm -r"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

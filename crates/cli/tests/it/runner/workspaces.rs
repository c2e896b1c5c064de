//! Workspaces: nothing that is not committed is lost, and no repository is hostile enough.

use std::path::{Path, PathBuf};

use super::Workshop;

/// The folder of a run.
pub(super) fn folder(workshop: &Workshop, story: &str) -> PathBuf {
    PathBuf::from(workshop.ok(&["workspace", "path", story]).trim())
}

pub(super) fn git_in(folder: &Path, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    let names = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"];
    let output = git.current_dir(folder).args(names).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_is_not_committed_or_on_no_branch_survives_the_cleaning_of_a_workspace() {
    let workshop = Workshop::new("curl", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s1");
    std::fs::write(tree.join("notes.txt"), "not committed\n").unwrap();
    let said = workshop.ok(&["workspace", "clean"]);
    assert!(said.contains("under refs/baton/run-1/cleaned"), "{said}");
    assert!(!tree.exists());
    let kept = workshop.git(&["show", "refs/baton/run-1/cleaned:notes.txt"]);
    assert_eq!(kept, "not committed");
    assert_eq!(workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
    assert_eq!(workshop.json(&["workspace", "list"])["items"], serde_json::json!([]));

    workshop.start("s2");
    workshop.until_completed("s2");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s2");
    git_in(&tree, &["checkout", "-q", "--detach"]);
    git_in(&tree, &["commit", "-q", "--allow-empty", "-m", "On no branch"]);
    // The name is another's already.
    workshop.git(&["update-ref", "refs/baton/run-2/cleaned", "HEAD"]);
    workshop.ok(&["workspace", "clean"]);
    let kept = workshop.git(&["log", "-1", "--format=%s", "refs/baton/run-2/cleaned-2"]);
    assert_eq!(kept, "On no branch");
    assert_eq!(workshop.git(&["log", "-1", "--format=%s", "refs/baton/run-2/cleaned"]), "Begin");
}

#[test]
fn a_repository_inside_a_workspace_is_not_deleted() {
    let workshop = Workshop::new("curl", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s1");
    let inner = tree.join("inner");
    std::fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "-q", "."]);
    git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "Only here"]);
    let refused = workshop.command(&["workspace", "clean"]).output().unwrap();
    assert!(!refused.status.success());
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("holds repositories of its own (inner)"), "{stderr}");
    assert_eq!(git_in(&inner, &["log", "--format=%s"]), "Only here");
}

#[test]
fn an_agent_that_removes_its_workspace_leaves_the_next_one_a_new_one_on_the_same_branch() {
    let workshop = Workshop::new("removes-all", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0));
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    assert_eq!(log, "Add the greeting\nBegin");
}

#[test]
fn a_workspace_that_is_no_worktree_any_more_is_put_aside_and_no_agent_works_on_the_project() {
    let workshop = Workshop::new("unlinks", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(workshop.git(&["log", "--format=%s", "main"]), "Begin", "the project's own branch");
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    assert_eq!(log, "Add the greeting\nBegin");
    let aside = folder(&workshop, "s1").with_file_name("left-1");
    assert_eq!(std::fs::read_to_string(aside.join("note")).unwrap(), "unfinished\n");
    let refused = workshop.command(&["workspace", "clean"]).output().unwrap();
    assert!(!refused.status.success() && aside.exists(), "it is not deleted");
}

#[test]
fn a_branch_of_another_story_is_left_alone_and_a_story_s_own_is_gone_on_with() {
    let settings = "[runner]\nlease = \"1s\"\nbranch = \"{type}/same\"\n";
    let workshop = Workshop::new("curl", settings);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    workshop.ok(&["workspace", "clean"]);
    workshop.start("s2");
    workshop.until_completed("s2");
    let branch = |story: &str| workshop.json(&["story", "show", story])["branch"].clone();
    assert_eq!((branch("s1"), branch("s2")), ("feat/same".into(), "feat/same-2".into()));
    workshop.git(&["branch", "mine", "main"]);
    workshop.ok(&["story", "add", "s3", "--title", "Say hello", "--branch", "mine"]);
    workshop.ok(&["run", "start", "s3"]);
    workshop.until_completed("s3");
    assert_eq!(workshop.git(&["log", "-1", "--format=%s", "mine"]), "Add the greeting");
}

/// Hooks, a file-system monitor and filters of the repository's own configuration, and a story whose name
/// is a trap.
#[test]
fn nothing_that_a_hostile_repository_names_is_started() {
    let workshop = Workshop::new("curl", "");
    let evil = workshop
        .path()
        .with_file_name(format!("evil-{}", workshop.path().file_name().unwrap().to_string_lossy()));
    let touch = format!("touch {}", evil.display());
    workshop.write(".gitattributes", "* filter=evil\n");
    workshop.commit("Filter everything");
    for (name, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("filter.evil.smudge", &format!("{touch}; cat")),
        ("filter.evil.clean", &format!("{touch}; cat")),
        ("filter.evil.process", &touch),
        ("core.hooksPath", "hooks"),
    ] {
        workshop.git(&["config", name, value]);
    }
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let path = workshop.path().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{touch}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    }
    workshop.git(&["config", "core.hooksPath", ".git/hooks"]);
    let _ = std::fs::remove_file(&evil);
    // The agents' own git would start it all: only Baton's is looked at.
    workshop.configure("nothing", "");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.ok(&[
        "story",
        "add",
        "--title",
        "Say hello",
        "--branch=--upload-pack=touch",
        "../../x$(id)",
    ]);
    workshop.ok(&["run", "start", "../../x$(id)"]);
    workshop.until("../../x$(id)", "a person is asked", |it| it["currentAgent"] == "human");
    let list = workshop.json(&["workspace", "list"]);
    assert_eq!(list["items"][0]["branch"], "upload-pack-touch");
    std::fs::write(Path::new(list["items"][0]["path"].as_str().unwrap()).join("new"), "x").unwrap();
    workshop.ok(&["workspace", "clean", "1"]);
    assert!(!evil.exists(), "something of the repository was started");
}

#[test]
fn a_repository_without_a_commit_and_a_detached_one_are_worked_on() {
    let workshop = Workshop::new("curl", "");
    workshop.git(&["checkout", "-q", "--detach"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    drop(_served);
    workshop.git(&["checkout", "-q", "--orphan", "empty"]);
    let _served = workshop.serves();
    workshop.start("s2");
    workshop.until_completed("s2");
    assert_eq!(workshop.git(&["log", "--format=%s", "empty"]), "Add the greeting", "in place");
}

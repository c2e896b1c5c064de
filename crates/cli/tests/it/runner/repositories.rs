//! Projects of all kinds of repositories: each is worked on, or refused with what to do.

use std::path::{Path, PathBuf};

use super::Workshop;
use super::workspaces::{folder, git_in};

/// The same project in another place.
fn moved(workshop: Workshop, to: &Path) -> Workshop {
    let from = workshop.path().to_owned();
    let copied = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.unwrap().success());
    let workshop = Workshop { at: Some(to.to_owned()), ..workshop };
    workshop.ok(&["trust", "--yes"]);
    workshop
}

#[test]
fn a_path_with_blanks_and_letters_of_all_kinds_is_worked_in() {
    let outside = tempfile::tempdir().unwrap();
    let place = outside.path().join("my projects/größe ’ $x `y` \"z\"");
    std::fs::create_dir_all(&place).unwrap();
    let workshop = moved(Workshop::new("json", ""), &place);
    let _served = workshop.serves();
    workshop.start("Größe 1");
    workshop.until_completed("Größe 1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "Größe 1");
    assert!(tree.starts_with(&place), "{}", tree.display());
    let branch = workshop.json(&["story", "show", "Größe 1"])["branch"].clone();
    assert_eq!(
        workshop.git(&["show", &format!("{}:src/app.txt", branch.as_str().unwrap())]),
        "hello"
    );
    std::fs::write(tree.join("naïve file.txt"), "kept\n").unwrap();
    workshop.ok(&["workspace", "clean"]);
    assert_eq!(workshop.git(&["show", "refs/baton/run-1/cleaned:naïve file.txt"]), "kept");
}

#[test]
fn a_shallow_clone_is_worked_on() {
    let first = Workshop::new("curl", "");
    first.git(&["commit", "-q", "--allow-empty", "-m", "Go on"]);
    let outside = tempfile::tempdir().unwrap();
    let place = outside.path().join("clone");
    let from = format!("file://{}", first.path().display());
    git_in(outside.path(), &["clone", "-q", "--depth", "1", &from, "clone"]);
    let workshop = Workshop { at: Some(place), ..first };
    workshop.ok(&["trust", "--yes"]);
    assert_eq!(workshop.git(&["rev-list", "--count", "HEAD"]), "1");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(workshop.git(&["log", "--format=%s", "feat/story-s1"]), "Add the greeting\nGo on");
}

/// The submodule is a folder without files in a worktree, as git leaves it; with its files, the workspace
/// is not deleted.
#[test]
fn a_project_with_a_submodule_is_worked_on_and_the_submodule_s_commits_are_not_deleted() {
    let library = tempfile::tempdir().unwrap();
    git_in(library.path(), &["init", "-q", "-b", "main", "."]);
    git_in(library.path(), &["commit", "-q", "--allow-empty", "-m", "Library"]);
    let workshop = Workshop::new("curl", "");
    let from = library.path().display().to_string();
    let allow = ["-c", "protocol.file.allow=always", "submodule"];
    workshop.git(&[&allow[..], &["add", "-q", &from, "library"]].concat());
    workshop.commit("Use the library");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s1");
    assert!(!tree.join("library/.git").exists(), "its files are not there");
    git_in(&tree, &[&allow[..], &["update", "-q", "--init"]].concat());
    git_in(&tree.join("library"), &["commit", "-q", "--allow-empty", "-m", "Only here"]);
    let refused = workshop.command(&["workspace", "clean"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("holds repositories of its own (library)"), "{stderr}");
    assert_eq!(git_in(&tree.join("library"), &["log", "-1", "--format=%s"]), "Only here");
    git_in(&tree, &["submodule", "deinit", "-q", "--force", "library"]);
    workshop.ok(&["workspace", "clean"]);
    assert!(!tree.exists());
}

/// A project in a folder of a larger repository: git would check out all of it, so it is worked on in place.
#[test]
fn a_project_in_a_folder_of_a_repository_is_worked_on_in_place() {
    let outside = tempfile::tempdir().unwrap();
    git_in(outside.path(), &["init", "-q", "-b", "main", "."]);
    let place = outside.path().join("services/shop");
    std::fs::create_dir_all(&place).unwrap();
    let workshop = moved(Workshop::new("curl", ""), &place);
    std::fs::remove_dir_all(place.join(".git")).unwrap();
    git_in(outside.path(), &["add", "-A"]);
    git_in(outside.path(), &["commit", "-q", "-m", "All of it"]);
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(std::fs::read_to_string(place.join("src/app.txt")).unwrap(), "hello\n");
    assert_eq!(folder(&workshop, "s1"), place.canonicalize().unwrap());
    drop(served);
    let settings = std::fs::read_to_string(place.join(".baton/baton.toml")).unwrap();
    let settings = settings.replace("[runner]\n", "[runner]\nworkspace = \"worktree\"\n");
    workshop.write(".baton/baton.toml", &settings);
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves_alone();
    let refused = workshop.command(&["runner", "--once"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("in-place"), "{stderr}");
    drop(served);
}

#[test]
fn a_bare_repository_is_refused_with_what_to_do() {
    let first = Workshop::new("curl", "");
    let outside = tempfile::tempdir().unwrap();
    let place: PathBuf = outside.path().join("bare.git");
    let from = first.path().display().to_string();
    git_in(outside.path(), &["clone", "-q", "--bare", &from, "bare.git"]);
    for name in [".baton", "tools"] {
        let mut copy = std::process::Command::new("cp");
        assert!(
            copy.arg("-a").arg(first.path().join(name)).arg(&place).status().unwrap().success()
        );
    }
    let _ = std::fs::remove_dir_all(place.join(".baton/data"));
    let workshop = Workshop { at: Some(place), ..first };
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let settings = settings.replace("[runner]\n", "[runner]\nworkspace = \"worktree\"\n");
    workshop.write(".baton/baton.toml", &settings);
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves_alone();
    let refused = workshop.command(&["runner", "--once"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("is a bare repository") && stderr.contains("git worktree add"),
        "{stderr}"
    );
}

//! Repositories that are not what they seem.
#![expect(clippy::disallowed_methods, reason = "tests make files and repositories of their own")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// A repository with one commit, and a file outside of it that nothing may make.
struct Trap {
    folder: tempfile::TempDir,
}

impl Trap {
    fn new() -> Self {
        let trap = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(trap.repository()).unwrap();
        trap.git(&["init", "-q", "-b", "main", "."]);
        trap.write("a.txt", "one\n");
        trap.commit();
        trap
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn evil(&self) -> PathBuf {
        self.folder.path().join("evil")
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn touch(&self) -> String {
        format!("touch {}", self.evil().display())
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        git_in(&self.repository(), args)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.repository().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "Begin"]);
    }

    /// As a runner has it.
    async fn opened(&self) -> GitFolder {
        let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
        let mut git = GitFolder::new(self.repository(), &[path]);
        git.switch_off_own_filters().await;
        git
    }

    #[track_caller]
    fn is_unsprung(&self, what: &str) {
        assert!(!self.evil().exists(), "{what} was started");
    }
}

#[track_caller]
fn git_in(folder: &Path, args: &[&str]) -> String {
    let names =
        ["-c", "user.name=ada", "-c", "user.email=ada@localhost", "-c", "core.safecrlf=false"];
    let mut git = Command::new("git");
    let output = git.current_dir(folder).args(names).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Everything that Baton does with a repository that is only looked at or cleaned.
async fn look_at(trap: &Trap, git: &GitFolder) {
    let tree = trap.folder.path().join("tree");
    let head = git.head().await.unwrap();
    // What is missing or switched off may make it fail, but starts nothing.
    let _ = git.is_dirty(&trap.index()).await;
    let _ = git.snapshot("Kept", &trap.index()).await;
    let _ = git.add_worktree(&tree, "other", &head).await;
    let _ = git.at(tree.clone()).is_dirty(&trap.index()).await;
    let _ = git.remove_worktree(&tree).await;
}

#[tokio::test]
async fn a_filter_is_switched_off_whatever_it_is_called_and_whatever_stands_around_it() {
    for (name, is_long) in [("evil", false), ("a=b", false), ("a.b", false), ("evil", true)] {
        let trap = Trap::new();
        for (key, value) in [
            ("clean", format!("{}; cat", trap.touch())),
            ("smudge", format!("git-lfs smudge -- %f; {}; cat", trap.touch())),
            ("required", "true".to_owned()),
        ] {
            trap.git(&["config", &format!("filter.{name}.{key}"), &value]);
        }
        if is_long {
            // The list of settings is longer than what is kept of a program's output.
            for n in 0..40 {
                trap.git(&["config", &format!("long.x{n}"), &"x".repeat(4000)]);
            }
        }
        trap.write(".git/info/attributes", &format!("* filter={name}\n"));
        let git = trap.opened().await;
        trap.write("a.txt", "two\n");
        look_at(&trap, &git).await;
        trap.is_unsprung(&format!("the filter {name}"));
    }
}

/// A commit that is named like one of `git lfs` is none if more follows.
#[tokio::test]
async fn only_the_very_commands_of_git_lfs_stay_switched_on() {
    let trap = Trap::new();
    trap.git(&["config", "filter.lfs.clean", &format!("git-lfs clean -- %f; {}", trap.touch())]);
    trap.write(".git/info/attributes", "* filter=lfs\n");
    let git = trap.opened().await;
    trap.write("a.txt", "two\n");
    look_at(&trap, &git).await;
    trap.is_unsprung("what follows git-lfs");
    trap.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    assert_eq!(trap.opened().await.without_filters, [], "that of git lfs itself");
}

#[tokio::test]
async fn the_filters_of_an_inner_repository_are_not_started_either() {
    let trap = Trap::new();
    let inner = trap.repository().join("inner");
    std::fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "-q", "."]);
    std::fs::write(inner.join("b.txt"), "one\n").unwrap();
    git_in(&inner, &["add", "-A"]);
    git_in(&inner, &["commit", "-q", "-m", "Inner"]);
    trap.commit();
    git_in(&inner, &["config", "filter.evil.clean", &format!("{}; cat", trap.touch())]);
    std::fs::write(inner.join(".git/info/attributes"), "* filter=evil\n").unwrap();
    std::fs::write(inner.join("b.txt"), "two\n").unwrap();
    let git = trap.opened().await;
    look_at(&trap, &git).await;
    trap.is_unsprung("the filter of the inner repository");
}

#[tokio::test]
async fn an_object_that_is_missing_is_not_fetched() {
    let trap = Trap::new();
    let blob = trap.git(&["rev-parse", "HEAD:a.txt"]);
    let (folder, file) = blob.split_at(2);
    std::fs::remove_file(trap.repository().join(".git/objects").join(folder).join(file)).unwrap();
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "."),
        ("remote.origin.uploadpack", &trap.touch()),
        ("protocol.file.allow", "always"),
        ("protocol.allow", "always"),
    ] {
        trap.git(&["config", name, value]);
    }
    let git = trap.opened().await;
    trap.write("a.txt", "two\n");
    look_at(&trap, &git).await;
    let _ = git.has_commit(&blob).await;
    trap.is_unsprung("the remote's program");
}

#[tokio::test]
async fn git_is_never_taken_from_a_folder_of_the_project() {
    let trap = Trap::new();
    for name in ["git", "bin/git"] {
        trap.write(name, &format!("#!/bin/sh\n{}\n", trap.touch()));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(trap.repository().join(name), mode).unwrap();
    }
    let bin = trap.repository().join("bin").display().to_string();
    let link = trap.folder.path().join("link");
    std::os::unix::fs::symlink(&bin, &link).unwrap();
    let usual = std::env::var("PATH").unwrap();
    for path in [
        format!("{bin}:{usual}"),
        format!("{}:{usual}", link.display()),
        format!("bin:.::{usual}"),
        // Nothing is left of these.
        bin.clone(),
        String::new(),
    ] {
        let git = GitFolder::new(trap.repository(), &[("PATH".to_owned(), path.clone())]);
        assert!(git.head().await.is_some(), "{path:?}");
        trap.is_unsprung(&format!("the project's git, by {path:?},"));
    }
}

#[tokio::test]
async fn changes_that_git_was_told_to_look_away_from_are_seen_and_kept() {
    for mark in ["--skip-worktree", "--assume-unchanged"] {
        let trap = Trap::new();
        trap.git(&["update-index", mark, "a.txt"]);
        let git = trap.opened().await;
        assert!(!git.is_dirty(&trap.index()).await.unwrap(), "{mark}: nothing has changed");
        trap.write("a.txt", "only here\n");
        assert_eq!(trap.git(&["status", "--porcelain"]), "", "git itself sees nothing");
        assert!(git.is_dirty(&trap.index()).await.unwrap(), "{mark}");
        let kept = git.snapshot("Kept", &trap.index()).await.unwrap();
        assert_eq!(trap.git(&["show", &format!("{kept}:a.txt")]), "only here", "{mark}");
    }
}

#[tokio::test]
async fn a_sparse_checkout_is_clean_and_what_was_written_beside_it_is_kept() {
    let trap = Trap::new();
    trap.write("in/b.txt", "one\n");
    trap.write("out/c.txt", "one\n");
    trap.commit();
    trap.git(&["sparse-checkout", "set", "in"]);
    assert!(!trap.repository().join("out").exists());
    let git = trap.opened().await;
    assert!(!git.is_dirty(&trap.index()).await.unwrap(), "what is left out is not deleted");
    trap.write("out/c.txt", "only here\n");
    assert!(git.is_dirty(&trap.index()).await.unwrap());
    let kept = git.snapshot("Kept", &trap.index()).await.unwrap();
    assert_eq!(trap.git(&["show", &format!("{kept}:out/c.txt")]), "only here");
    assert_eq!(trap.git(&["show", &format!("{kept}:in/b.txt")]), "one");
}

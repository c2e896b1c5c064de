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
        GitFolder::new(self.repository(), &[path]).located().await.unwrap()
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
    if let Ok(other) = git.worktree(&tree) {
        let _ = other.fill().await;
        let _ = other.is_dirty(&trap.index()).await;
        let _ = other.commit_all("Go on").await;
    }
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
    let off = trap.opened().await.own_programs_off().await.unwrap();
    assert_eq!(off, [], "that of git lfs itself");
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

/// An agent changes the configuration, and another run's worktree has it at once.
#[tokio::test]
async fn a_filter_that_is_named_while_baton_runs_or_on_one_branch_alone_is_switched_off_too() {
    for condition in ["", "[includeIf \"onbranch:other\"]\n path = more\n"] {
        let trap = Trap::new();
        let git = trap.opened().await;
        trap.write(".git/info/attributes", "* filter=evil\n");
        let filter = format!(
            "[filter \"evil\"]\n clean = \"{touch}; cat\"\n smudge = \"{touch}; cat\"\n",
            touch = trap.touch()
        );
        let config = std::fs::read_to_string(trap.repository().join(".git/config")).unwrap();
        trap.write(".git/more", &filter);
        let more = if condition.is_empty() { filter } else { condition.to_owned() };
        trap.write(".git/config", &format!("{config}{more}"));
        trap.write("a.txt", "two\n");
        look_at(&trap, &git).await;
        trap.is_unsprung(&format!("the filter ({condition:?})"));
    }
}

/// Each is what an agent, or an archive, can make of the folder of a worktree.
#[tokio::test]
async fn a_worktree_is_one_only_if_its_git_file_and_the_repository_name_each_other() {
    let trap = Trap::new();
    let git = trap.opened().await;
    let place = trap.folder.path().canonicalize().unwrap();
    let (tree, other) = (place.join("tree"), place.join("other"));
    git.add_worktree(&tree, "one", "HEAD").await.unwrap();
    git.add_worktree(&other, "two", "HEAD").await.unwrap();
    assert!(!git.worktree(&tree).unwrap().is_filled());
    git.worktree(&tree).unwrap().fill().await.unwrap();
    assert!(git.worktree(&tree).unwrap().is_filled());
    let link = tree.join(".git");
    let own = std::fs::read_to_string(&link).unwrap();
    let evil = tree.join(".evil");
    git_in(&tree, &["init", "-q", ".evil"]);
    let name = |it: &Path| format!("gitdir: {}\n", it.display());
    let others = std::fs::read_to_string(other.join(".git")).unwrap();
    for (text, target) in [
        (name(&trap.repository().join(".git")), "the repository itself"),
        (others, "the worktree of another run"),
        (name(&evil.join(".git")), "a repository of the agent"),
        ("gitdir: .evil/.git\n".to_owned(), "one by a path within the folder"),
        (name(&place.join("nowhere")), "nothing"),
        (String::new(), "no folder"),
    ] {
        std::fs::write(&link, text).unwrap();
        assert!(git.worktree(&tree).is_err(), "{target}");
    }
    std::fs::remove_file(&link).unwrap();
    assert_eq!(git.worktree(&tree).unwrap_err(), "it has no `.git`");
    std::fs::create_dir(&link).unwrap();
    assert!(git.worktree(&tree).is_err(), "a folder");
    std::fs::remove_dir(&link).unwrap();
    std::fs::write(&link, own).unwrap();
    assert_eq!(git.worktree(&tree).unwrap().branch().await.as_deref(), Some("one"));
    let moved = place.join("moved");
    std::fs::rename(&tree, &moved).unwrap();
    assert!(git.worktree(&moved).is_err(), "the repository names the folder that it had");
    std::os::unix::fs::symlink(&moved, &tree).unwrap();
    assert!(git.worktree(&tree).is_err(), "a link");
}

/// However often an agent rewrites it after Baton has looked.
#[tokio::test]
async fn git_works_on_the_worktree_that_was_looked_at_wherever_its_git_file_leads_by_then() {
    let trap = Trap::new();
    let git = trap.opened().await;
    let tree = trap.folder.path().canonicalize().unwrap().join("tree");
    git.add_worktree(&tree, "one", "HEAD").await.unwrap();
    let own = git.worktree(&tree).unwrap();
    own.fill().await.unwrap();
    let main = trap.git(&["rev-parse", "main"]);
    std::fs::write(tree.join(".git"), format!("gitdir: {}/.git\n", trap.repository().display()))
        .unwrap();
    std::fs::write(tree.join("a.txt"), "two\n").unwrap();
    let seen = own.tree(&trap.index(), &[]).await.unwrap();
    own.commit_tree("one", &seen, "Go on").await.unwrap();
    assert_eq!(trap.git(&["rev-parse", "main"]), main);
    assert_eq!(trap.git(&["show", "one:a.txt"]), "two");
}

#[tokio::test]
async fn what_is_committed_is_what_is_in_the_folder_whatever_the_index_says() {
    for trick in ["--skip-worktree", "--assume-unchanged", "a filter", "ignoreStat"] {
        let trap = Trap::new();
        let git = trap.opened().await;
        trap.write("a.txt", "GOOD\n");
        match trick {
            "a filter" => {
                trap.git(&["config", "filter.e.clean", "sed s/GOOD/BAD/"]);
                trap.write(".git/info/attributes", "a.txt filter=e\n");
                trap.commit();
                assert_eq!(trap.git(&["status", "--porcelain"]), "");
            }
            "ignoreStat" => {
                trap.git(&["config", "core.ignoreStat", "true"]);
            }
            mark => {
                trap.write("a.txt", "BAD\n");
                trap.commit();
                trap.git(&["update-index", mark, "a.txt"]);
                trap.write("a.txt", "GOOD\n");
            }
        }
        let tree = git.tree(&trap.index(), &[]).await.unwrap();
        git.commit_tree("main", &tree, "Work").await.unwrap();
        assert_eq!(trap.git(&["show", "main:a.txt"]), "GOOD", "{trick}");
        assert!(!git.is_dirty(&trap.index()).await.unwrap(), "{trick}");
    }
}

#[tokio::test]
async fn commits_that_go_with_a_worktree_are_those_that_no_shared_ref_has() {
    let trap = Trap::new();
    let git = trap.opened().await;
    assert!(git.private_commits().await.unwrap().is_empty());
    trap.git(&["checkout", "-q", "--detach"]);
    let mut own = Vec::new();
    for name in ["refs/worktree/keep", "refs/bisect/bad", "HEAD"] {
        trap.git(&["checkout", "-q", "--detach", "main"]);
        trap.git(&["commit", "-q", "--allow-empty", "-m", name]);
        own.push(trap.git(&["rev-parse", "HEAD"]));
        if name != "HEAD" {
            trap.git(&["update-ref", name, "HEAD"]);
        }
    }
    let mut found = git.private_commits().await.unwrap();
    found.sort();
    own.sort();
    assert_eq!(found, own);
    trap.git(&["branch", "kept"]);
    assert_eq!(git.private_commits().await.unwrap().len(), 2, "a branch has one of them");
}

#[tokio::test]
async fn the_commits_of_a_worktree_whose_folder_is_gone_are_found() {
    let trap = Trap::new();
    let git = trap.opened().await;
    let tree = trap.folder.path().canonicalize().unwrap().join("tree");
    git.add_worktree(&tree, "one", "HEAD").await.unwrap();
    git.worktree(&tree).unwrap().fill().await.unwrap();
    git_in(&tree, &["checkout", "-q", "--detach"]);
    git_in(&tree, &["commit", "-q", "--allow-empty", "-m", "Only here"]);
    let only = git_in(&tree, &["rev-parse", "HEAD"]);
    std::fs::remove_dir_all(&tree).unwrap();
    let own = git.registered(&tree).unwrap().without_files().unwrap();
    assert_eq!(own.private_commits().await.unwrap(), [only]);
}

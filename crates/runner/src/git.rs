//! git, by its own program: with no hooks, no monitor, no terminal and an environment of its own.
//! What a repository's files say is never an option: names come after `--` or are checked before.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_files::Dir;

use crate::process::{ProgramSpec, run_to_end};

/// A repository, or one of its worktrees.
#[derive(Debug, Clone)]
pub(crate) struct GitFolder {
    pub(crate) path: PathBuf,
    env: Vec<(String, String)>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("cannot start git: {0}")]
    Start(#[from] std::io::Error),
    #[error("git {command} did not end within {} s", MOST_TIME.as_secs())]
    TooSlow { command: String },
    #[error("git {command}: {output}")]
    Failed { command: String, output: String },
}

/// A checkout of a large repository takes a while.
const MOST_TIME: Duration = Duration::from_secs(300);

/// What a repository or its configuration could otherwise start.
const SAFE: [&str; 12] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "user.name=Baton",
    "-c",
    "user.email=baton@localhost",
];

impl GitFolder {
    /// `env`: what is passed on of the runner's own environment.
    pub(crate) fn new(path: PathBuf, env: &[(String, String)]) -> Self {
        let mut env: Vec<(String, String)> = env
            .iter()
            .filter(|(name, _)| ["PATH", "HOME", "TMPDIR"].contains(&name.as_str()))
            .cloned()
            .collect();
        for (name, value) in [("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")] {
            env.push((name.to_owned(), value.to_owned()));
        }
        Self { path, env }
    }

    pub(crate) fn at(&self, path: PathBuf) -> Self {
        Self { path, env: self.env.clone() }
    }

    /// The commit that is checked out; `None` where there is none, or no repository.
    pub(crate) async fn head(&self) -> Option<String> {
        self.text(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await.ok()
    }

    /// True if the folder itself is the top of a repository or worktree.
    pub(crate) async fn is_top(&self) -> bool {
        let Ok(top) = self.text(["rev-parse", "--show-toplevel"]).await else { return false };
        let real = |path: &Path| path.canonicalize().ok();
        real(Path::new(&top)).is_some() && real(Path::new(&top)) == real(&self.path)
    }

    /// True while git still fills a new worktree.
    pub(crate) async fn is_being_made(&self) -> bool {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "locked"];
        let Ok(lock) = self.text(args).await else { return false };
        let lock = Path::new(&lock);
        let (Some(folder), Some(name)) = (lock.parent(), lock.file_name()) else { return false };
        let text = Dir::open(folder).and_then(|it| it.read_text(name, 4096));
        text.is_ok_and(|it| it.trim() == "initializing")
    }

    pub(crate) async fn branch(&self) -> Option<String> {
        self.text(["symbolic-ref", "--short", "--quiet", "HEAD"]).await.ok()
    }

    pub(crate) async fn has_branch(&self, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        self.text(["show-ref", "--verify", "--quiet", name.as_str()]).await.is_ok()
    }

    /// Makes a worktree on a new branch at `commit`.
    pub(crate) async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        commit: &str,
    ) -> Result<(), GitError> {
        let args: [&OsStr; 8] = [
            "worktree".as_ref(),
            "add".as_ref(),
            "--no-track".as_ref(),
            "-b".as_ref(),
            branch.as_ref(),
            "--".as_ref(),
            path.as_ref(),
            commit.as_ref(),
        ];
        self.text(args).await.map(|_| ())
    }

    /// Makes a worktree on a branch that exists and is checked out nowhere else.
    pub(crate) async fn add_worktree_on(&self, path: &Path, branch: &str) -> Result<(), GitError> {
        let args: [&OsStr; 5] =
            ["worktree".as_ref(), "add".as_ref(), "--".as_ref(), path.as_ref(), branch.as_ref()];
        self.text(args).await.map(|_| ())
    }

    /// Removes a worktree with everything in it: only once its changes are kept elsewhere.
    pub(crate) async fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        let args: [&OsStr; 5] = [
            "worktree".as_ref(),
            "remove".as_ref(),
            "--force".as_ref(),
            "--".as_ref(),
            path.as_ref(),
        ];
        self.text(args).await.map(|_| ())
    }

    /// Forgets worktrees whose folders are gone.
    pub(crate) async fn prune_worktrees(&self) -> Result<(), GitError> {
        self.text(["worktree", "prune"]).await.map(|_| ())
    }

    /// True if something is not committed, files that git does not know included.
    pub(crate) async fn is_dirty(&self) -> Result<bool, GitError> {
        let status = self.text(["status", "--porcelain", "--untracked-files=normal"]).await?;
        Ok(!status.is_empty())
    }

    /// Keeps everything that is in the folder and not ignored as a commit under `name`, and leaves
    /// the folder, its index and its branch as they are. `index` is a file to use meanwhile.
    pub(crate) async fn snapshot(
        &self,
        name: &str,
        message: &str,
        index: &Path,
    ) -> Result<String, GitError> {
        let mut git = self.clone();
        git.env.push(("GIT_INDEX_FILE".to_owned(), index.to_string_lossy().into_owned()));
        let head = self.head().await;
        match &head {
            Some(head) => git.text(["read-tree", head.as_str()]).await?,
            None => git.text(["read-tree", "--empty"]).await?,
        };
        git.text(["add", "--all", "--", "."]).await?;
        let tree = git.text(["write-tree"]).await?;
        let mut args = vec!["commit-tree", tree.as_str(), "-m", message];
        if let Some(head) = &head {
            args.extend(["-p", head.as_str()]);
        }
        let commit = git.text(args).await?;
        self.text(["update-ref", "--", name, commit.as_str()]).await?;
        Ok(commit)
    }

    /// The tree of everything that is in the folder and not ignored, committed or not. `index` is a file
    /// to use meanwhile.
    pub(crate) async fn tree(&self, index: &Path) -> Result<String, GitError> {
        let mut git = self.clone();
        git.env.push(("GIT_INDEX_FILE".to_owned(), index.to_string_lossy().into_owned()));
        match self.head().await {
            Some(head) => git.text(["read-tree", head.as_str()]).await?,
            None => git.text(["read-tree", "--empty"]).await?,
        };
        git.text(["add", "--all", "--", "."]).await?;
        git.text(["write-tree"]).await
    }

    /// Whether the repository has a commit. `name` is hexadecimal digits.
    pub(crate) async fn has_commit(&self, name: &str) -> bool {
        let name = format!("{name}^{{commit}}");
        self.text(["cat-file", "-e", name.as_str()]).await.is_ok()
    }

    /// Commits everything that has changed; the short name of the commit.
    pub(crate) async fn commit_all(&self, message: &str) -> Result<String, GitError> {
        self.text(["add", "--all", "--", "."]).await?;
        self.text(["commit", "--quiet", "--no-verify", "-m", message]).await?;
        self.text(["rev-parse", "--short", "HEAD"]).await
    }

    async fn text<T: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = T>,
    ) -> Result<String, GitError> {
        let own: Vec<OsString> = args.into_iter().map(|it| it.as_ref().to_owned()).collect();
        let command = own.first().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let spec = ProgramSpec {
            program: "git".into(),
            args: SAFE.iter().map(OsString::from).chain(own).collect(),
            folder: self.path.clone(),
            env: self.env.clone(),
            input: None,
        };
        let run = run_to_end(&spec, MOST_TIME).await?;
        match run.status {
            None => Err(GitError::TooSlow { command }),
            Some(status) if status.success() => Ok(run.answer.trim().to_owned()),
            Some(_) => {
                let output = run.output.trim().to_owned();
                Err(GitError::Failed { command, output })
            }
        }
    }
}

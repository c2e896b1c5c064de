//! git, by its own program: with no hooks, no monitor, no terminal and an environment of its own.
//! What a repository's files say is never an option: names come after `--` or are checked before.

mod own_programs;
mod place;
#[cfg(test)]
mod tests;
mod trees;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::place::GitPlace;
use crate::process::{ProgramSpec, ShortRun, answer_of, run_to_bound, run_to_end};

/// A repository, or one of its worktrees.
#[derive(Debug, Clone)]
pub(crate) struct GitFolder {
    pub(crate) path: PathBuf,
    env: Vec<(String, String)>,
    /// Where its repository is. `None`: git looks for it, from the folder upwards.
    place: Option<GitPlace>,
}

/// A file that git tracks.
pub(crate) struct TrackedFile {
    /// Below the folder.
    pub(crate) path: PathBuf,
    /// What git knows of it where it is no regular file: a link, or a submodule.
    pub(crate) other: Option<String>,
}

/// The beginning of a difference, or all of it.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) text: String,
    pub(crate) is_whole: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot start git: {0}")]
    Start(#[from] std::io::Error),
    #[error("git {command} did not end within {} s", MOST_TIME.as_secs())]
    TooSlow { command: String },
    #[error("git {command}: {output}")]
    Failed { command: String, output: String },
}

/// A checkout of a large repository takes a while.
const MOST_TIME: Duration = Duration::from_secs(300);

/// Refs that each worktree has for itself, and that go with it.
const PRIVATE_REFS: [&str; 3] = ["refs/worktree/", "refs/bisect/", "refs/rewritten/"];

/// What a repository or its configuration could otherwise start.
const SAFE: [&str; 28] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    // With it, git would look away from changed files.
    "core.ignoreStat=false",
    "-c",
    "log.showSignature=false",
    "-c",
    // Looking into a submodule is running git there, with filters of its own configuration.
    "diff.ignoreSubmodules=dirty",
    "-c",
    "protocol.allow=never",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "user.name=Baton",
    "-c",
    "user.email=baton@localhost",
];

/// A search path without relative folders and those of a project: what is found there was not trusted.
pub(crate) fn without_folders_of(project: &Path, search_path: &str) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = real(project);
    let is_foreign = |it: &&str| it.starts_with('/') && !real(Path::new(it)).starts_with(&project);
    let folders = search_path.split(':').filter(is_foreign).collect::<Vec<_>>().join(":");
    // An empty search path means the current folder, which is the project's.
    if folders.is_empty() { "/usr/bin:/bin".to_owned() } else { folders }
}

impl GitFolder {
    /// `env`: what is passed on of the runner's own environment.
    pub(crate) fn new(path: PathBuf, env: &[(String, String)]) -> Self {
        let mut env: Vec<(String, String)> = env
            .iter()
            .filter(|(name, _)| ["PATH", "HOME", "TMPDIR"].contains(&name.as_str()))
            .map(|(name, value)| match name.as_str() {
                "PATH" => (name.clone(), without_folders_of(&path, value)),
                _ => (name.clone(), value.clone()),
            })
            .collect();
        // Objects that a partial clone lacks would be fetched by a program that the repository names.
        // Older versions of git know no `GIT_NO_LAZY_FETCH`, and a repository can allow itself a protocol.
        let own = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
        ];
        for (name, value) in own {
            env.push((name.to_owned(), value.to_owned()));
        }
        Self { path, env, place: None }
    }

    /// Without the settings of the user and of the machine.
    fn without_user_settings(mut self) -> Self {
        for (name, value) in [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")] {
            self.env.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The commits that this worktree alone keeps: what is checked out, and what its own refs name. Those of a
    /// bisection are among them.
    pub(crate) async fn private_commits(&self) -> Result<Vec<String>, GitError> {
        let args = ["for-each-ref", "--format=%(objectname)^{commit}"];
        let own = args.into_iter().chain(PRIVATE_REFS);
        let own = self.text(own).await?;
        let head = ["HEAD^{commit}"];
        let mut commits: Vec<String> = Vec::new();
        for name in head.into_iter().chain(own.lines()) {
            let args = ["rev-parse", "--verify", "--quiet", name];
            // What is checked out may be a branch without a commit, and a ref may name something else.
            let Ok(commit) = self.text(args).await else { continue };
            if !commits.contains(&commit) && !self.is_shared(&commit).await? {
                commits.push(commit);
            }
        }
        Ok(commits)
    }

    /// True if a branch, a tag or another ref of all worktrees has the commit.
    async fn is_shared(&self, commit: &str) -> Result<bool, GitError> {
        let contains = format!("--contains={commit}");
        let refs = self.text(["for-each-ref", "--format=%(refname)", contains.as_str()]).await?;
        let is_private = |name: &str| PRIVATE_REFS.iter().any(|it| name.starts_with(it));
        Ok(refs.lines().any(|it| !is_private(it)))
    }

    /// The repositories inside this one, which no commit here can hold.
    pub(crate) async fn inner_repositories(&self, commit: &str) -> Result<Vec<String>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", commit];
        let list = self.text(args).await?;
        let links = list.split('\0').filter_map(|it| it.strip_prefix("160000 "));
        Ok(links.map(str::to_owned).collect())
    }

    /// The commit that is checked out; `None` where there is none, or no repository.
    pub(crate) async fn head(&self) -> Option<String> {
        self.text(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await.ok()
    }

    pub(crate) async fn branch(&self) -> Option<String> {
        self.text(["symbolic-ref", "--short", "--quiet", "HEAD"]).await.ok()
    }

    pub(crate) async fn has_branch(&self, branch: &str) -> bool {
        self.has_ref(&format!("refs/heads/{branch}")).await
    }

    /// Makes a worktree on a new branch at `commit`, without its files: see [`Self::fill`].
    pub(crate) async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        commit: &str,
    ) -> Result<(), GitError> {
        let args = ["worktree", "add", "--no-checkout", "--no-track", "-b", branch, "--"];
        let args = args.into_iter().map(OsStr::new);
        self.text(args.chain([path.as_os_str(), OsStr::new(commit)])).await.map(|_| ())
    }

    /// Makes a worktree on a branch that exists and is checked out nowhere else, without its files.
    pub(crate) async fn add_worktree_on(&self, path: &Path, branch: &str) -> Result<(), GitError> {
        let args = ["worktree", "add", "--no-checkout", "--"].map(OsStr::new);
        let args = args.into_iter().chain([path.as_os_str(), OsStr::new(branch)]);
        self.text(args).await.map(|_| ())
    }

    /// Checks out the files of a new worktree. Not by the command that makes it: which settings hold may depend on
    /// the branch, and which filters they name is known only once the worktree is on it.
    pub(crate) async fn fill(&self) -> Result<(), GitError> {
        self.text(["reset", "--hard", "--quiet"]).await.map(|_| ())
    }

    /// So that a worktree is removed although an agent has locked it.
    pub(crate) async fn unlock_worktree(&self, path: &Path) {
        let args = ["worktree", "unlock", "--"].map(OsStr::new);
        // It fails where it is not locked.
        let _ = self.text(args.into_iter().chain([path.as_os_str()])).await;
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

    /// Whether the repository has a commit. `name` is hexadecimal digits.
    pub(crate) async fn has_commit(&self, name: &str) -> bool {
        let name = format!("{name}^{{commit}}");
        self.text(["cat-file", "-e", name.as_str()]).await.is_ok()
    }

    /// Names a commit, if the name is free: no ref is ever overwritten.
    pub(crate) async fn name_commit(&self, name: &str, commit: &str) -> Result<(), GitError> {
        // The empty word: there is none before.
        self.text(["update-ref", name, commit, ""]).await.map(|_| ())
    }

    pub(crate) async fn has_ref(&self, name: &str) -> bool {
        self.text(["show-ref", "--verify", "--quiet", name]).await.is_ok()
    }

    /// Every file below the folder that git tracks. Asked without a runtime: what is trusted is looked at by
    /// commands that have none.
    pub(crate) fn tracked(&self) -> Result<Vec<TrackedFile>, GitError> {
        let command = "ls-files".to_owned();
        let spec = self.spec([command.as_str(), "-s", "-z"]);
        let Some(listed) = answer_of(&spec)? else {
            return Err(GitError::Failed { command, output: String::new() });
        };
        let mut files = Vec::new();
        for line in listed.split(|it| *it == 0).filter(|it| !it.is_empty()) {
            let line = OsStr::from_bytes(line);
            let Some((known, path)) = split_tab(line) else { continue };
            let is_file = known.starts_with("100");
            files.push(TrackedFile { path: path.into(), other: (!is_file).then_some(known) });
        }
        Ok(files)
    }

    /// What lies between two commits or trees, as a patch: its first `most` bytes.
    pub(crate) async fn diff(&self, from: &str, to: &str, most: usize) -> Result<Patch, GitError> {
        let args = [
            // Of larger files it says that they differ: comparing them line by line takes minutes.
            "-c",
            "core.bigFileThreshold=16m",
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--full-index",
            from,
            to,
            "--",
        ];
        let mut spec = self.spec(args);
        spec.env.extend(self.without_own_programs().await?);
        let run = run_to_bound(&spec, MOST_TIME, most).await?;
        let command = "diff".to_owned();
        let is_whole = run.is_whole;
        match run.status {
            None if run.answer.len() < most => return Err(GitError::TooSlow { command }),
            Some(status) if !status.success() => {
                return Err(GitError::Failed { command, output: run.errors.trim().to_owned() });
            }
            // Its last line may be empty.
            None | Some(_) => {}
        }
        Ok(Patch { text: String::from_utf8_lossy(&run.answer).into_owned(), is_whole })
    }

    /// How many files two commits or trees have not in common.
    pub(crate) async fn count_changes(&self, from: &str, to: &str) -> Result<usize, GitError> {
        let args = ["diff", "--no-ext-diff", "--no-textconv", "--name-only", "-z", from, to, "--"];
        Ok(self.run(args).await?.answer.matches('\0').count())
    }

    /// What it prints, without blanks around it.
    async fn text<T: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = T>,
    ) -> Result<String, GitError> {
        Ok(self.run(args).await?.answer.trim().to_owned())
    }

    /// Starts git, with the programs switched off that the repository names at this moment: an agent may change
    /// its configuration at any time, for the worktrees of all others too.
    async fn run<T: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = T>,
    ) -> Result<ShortRun, GitError> {
        self.run_with(args, None).await
    }

    /// With this as its standard input.
    async fn run_with<T: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = T>,
        input: Option<String>,
    ) -> Result<ShortRun, GitError> {
        let mut spec = ProgramSpec { input, ..self.spec(args) };
        spec.env.extend(self.without_own_programs().await?);
        ended(&spec, run_to_end(&spec, MOST_TIME).await?)
    }

    fn spec<T: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = T>) -> ProgramSpec {
        let own = args.into_iter().map(|it| it.as_ref().to_owned());
        let mut env = self.env.clone();
        if let Some(place) = &self.place {
            env.extend(place.variables(&self.path));
        }
        ProgramSpec {
            program: "git".into(),
            args: SAFE.iter().map(OsString::from).chain(own).collect(),
            folder: self.path.clone(),
            env,
            input: None,
        }
    }
}

/// git in a folder of the user, with no settings but those of its repository: what it prints.
pub async fn git_answer(
    folder: &Path,
    env: &[(String, String)],
    args: &[&str],
) -> Result<String, GitError> {
    GitFolder::new(folder.to_owned(), env).without_user_settings().text(args).await
}

fn ended(spec: &ProgramSpec, run: ShortRun) -> Result<ShortRun, GitError> {
    let command = spec.args.get(SAFE.len());
    let command = command.map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    match run.status {
        None => Err(GitError::TooSlow { command }),
        Some(status) if status.success() => Ok(run),
        Some(_) => Err(GitError::Failed { command, output: run.output.trim().to_owned() }),
    }
}

/// The two sides of a tab: what git knows of a file, and its path.
fn split_tab(line: &OsStr) -> Option<(String, &OsStr)> {
    let bytes = line.as_bytes();
    let tab = bytes.iter().position(|it| *it == b'\t')?;
    let known = String::from_utf8_lossy(&bytes[..tab]).into_owned();
    Some((known, OsStr::from_bytes(&bytes[tab + 1..])))
}

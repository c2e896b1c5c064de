//! git, by its own program: with no hooks, no monitor, no terminal and an environment of its own.
//! What a repository's files say is never an option: names come after `--` or are checked before.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_files::Dir;

use crate::process::{ProgramSpec, answer_of, run_to_bound, run_to_end};

/// A repository, or one of its worktrees.
#[derive(Debug, Clone)]
pub(crate) struct GitFolder {
    pub(crate) path: PathBuf,
    env: Vec<(String, String)>,
    /// Settings that switch off the filters which the repository's own configuration names.
    without_filters: Vec<(String, &'static str)>,
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

/// Files that are named in one command.
const MOST_NAMED: usize = 500;

/// What a repository or its configuration could otherwise start.
const SAFE: [&str; 24] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
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

/// The commands that `git lfs install` writes; a shell runs them, so nothing may follow.
const LARGE_FILES: [&str; 5] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "true",
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
        Self { path, env, without_filters: Vec::new() }
    }

    pub(crate) fn at(&self, path: PathBuf) -> Self {
        Self { path, ..self.clone() }
    }

    /// Switches off the filters that the configuration inside the repository names: it may have come with
    /// it, in an archive. Filters of the user's own configuration run, and `git lfs` does.
    pub(crate) async fn switch_off_own_filters(&mut self) {
        let args = ["config", "--list", "--includes", "--show-scope", "--null"];
        let Ok(list) = self.text(args).await else { return };
        // A scope, a name and, after a line break, a value.
        let mut fields = list.split('\0');
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
            let driver = name.strip_prefix("filter.").and_then(|it| it.rsplit_once('.'));
            let Some((driver, _)) = driver.filter(|_| matches!(scope, "local" | "worktree")) else {
                continue;
            };
            if LARGE_FILES.contains(&value) {
                continue;
            }
            let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
            let off = off.map(|(key, value)| (format!("filter.{driver}.{key}"), value));
            self.without_filters.extend(off);
        }
    }

    /// The folder that all worktrees of the repository share.
    pub(crate) async fn common_folder(&self) -> Option<PathBuf> {
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        self.text(args).await.ok().map(PathBuf::from)
    }

    /// True if a branch, a tag or another ref has the commit that is checked out.
    pub(crate) async fn is_head_kept(&self) -> Result<bool, GitError> {
        let refs = self.text(["for-each-ref", "--count=1", "--contains=HEAD"]).await?;
        Ok(!refs.is_empty())
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
        self.has_ref(&format!("refs/heads/{branch}")).await
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

    /// True if something is not committed: files that git does not know, and those that it was told to
    /// look away from, included. `index` is a file to use meanwhile.
    pub(crate) async fn is_dirty(&self, index: &Path) -> Result<bool, GitError> {
        let status = self.text(["status", "--porcelain", "--untracked-files=normal"]).await?;
        if !status.is_empty() {
            return Ok(true);
        }
        if self.hidden_files().await?.is_empty() {
            return Ok(false);
        }
        let committed = self.text(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await.ok();
        Ok(committed != Some(self.tree(index).await?))
    }

    /// Files that are there and marked `skip-worktree` or `assume-unchanged`: git looks away from them.
    async fn hidden_files(&self) -> Result<Vec<String>, GitError> {
        let list = self.text(["ls-files", "-v", "-z"]).await?;
        let marked = list.split('\0').filter_map(|it| it.split_once(' '));
        let is_marked = |mark: &str| mark == "S" || mark.chars().all(|it| it.is_ascii_lowercase());
        let marked = marked.filter(|(mark, _)| is_marked(mark)).map(|(_, name)| name.to_owned());
        let folder = Dir::open(&self.path).ok();
        let is_there =
            |it: &String| folder.as_ref().is_none_or(|dir| !matches!(dir.entry(it), Ok(None)));
        Ok(marked.filter(is_there).collect())
    }

    /// Makes a commit of everything that is in the folder and not ignored, and leaves the folder, its
    /// index and its branch as they are. `index` is a file to use meanwhile.
    pub(crate) async fn snapshot(&self, message: &str, index: &Path) -> Result<String, GitError> {
        let tree = self.tree(index).await?;
        let mut args = vec!["commit-tree", tree.as_str(), "-m", message];
        let head = self.head().await;
        if let Some(head) = &head {
            args.extend(["-p", head.as_str()]);
        }
        self.text(args).await
    }

    /// The tree of everything that is in the folder and not ignored, committed or not. `index` is a file
    /// to use meanwhile.
    pub(crate) async fn tree(&self, index: &Path) -> Result<String, GitError> {
        let hidden = self.hidden_files().await?;
        let mut git = self.clone();
        git.env.push(("GIT_INDEX_FILE".to_owned(), index.to_string_lossy().into_owned()));
        // An index of its own has no marks but those of a sparse checkout.
        match self.head().await {
            Some(head) => git.text(["read-tree", head.as_str()]).await?,
            None => git.text(["read-tree", "--empty"]).await?,
        };
        git.add_all(&[]).await?;
        for some in hidden.chunks(MOST_NAMED) {
            let args = ["update-index", "--no-skip-worktree", "--"].map(str::to_owned);
            git.text(args.iter().chain(some)).await?;
            let args =
                ["--literal-pathspecs", "add", "--sparse", "--force", "--"].map(str::to_owned);
            git.text(args.iter().chain(some)).await?;
        }
        git.text(["write-tree"]).await
    }

    /// Whether the repository has a commit. `name` is hexadecimal digits.
    pub(crate) async fn has_commit(&self, name: &str) -> bool {
        let name = format!("{name}^{{commit}}");
        self.text(["cat-file", "-e", name.as_str()]).await.is_ok()
    }

    /// Names a commit, if the name is free: no ref is ever overwritten.
    pub(crate) async fn name_commit(&self, name: &str, commit: &str) -> Result<(), GitError> {
        const NONE: &str = "0000000000000000000000000000000000000000";
        self.text(["update-ref", name, commit, NONE]).await.map(|_| ())
    }

    pub(crate) async fn has_ref(&self, name: &str) -> bool {
        self.text(["show-ref", "--verify", "--quiet", name]).await.is_ok()
    }

    /// Stages everything that has changed, but for these files. True if that is anything.
    pub(crate) async fn stage_all(&self, left_out: &[String]) -> Result<bool, GitError> {
        self.add_all(left_out).await?;
        Ok(!self.text(["diff", "--cached", "--name-only"]).await?.is_empty())
    }

    /// Of inner repositories the commit is staged that they have checked out. `git add` would look into
    /// those that are known, and start the filters of their own configuration for that.
    async fn add_all(&self, left_out: &[String]) -> Result<(), GitError> {
        let list = self.text(["ls-files", "--stage", "-z"]).await?;
        let links = list.split('\0').filter(|it| it.starts_with("160000 "));
        let links: Vec<String> =
            links.filter_map(|it| Some(it.split_once('\t')?.1.to_owned())).collect();
        let not_these = left_out.iter().chain(&links);
        let not_these = not_these.map(|it| format!(":(exclude,top,literal){it}"));
        let all = ["add", "--all", "--sparse", "--", "."].map(str::to_owned);
        self.text(all.into_iter().chain(not_these)).await?;
        for some in links.chunks(MOST_NAMED) {
            let args = ["update-index", "--remove", "--"].map(str::to_owned);
            self.text(args.iter().chain(some)).await?;
        }
        Ok(())
    }

    /// Commits what is staged; the short name of the commit. It fails where that is nothing.
    pub(crate) async fn commit(&self, message: &str) -> Result<String, GitError> {
        self.text(["commit", "--quiet", "--no-verify", "-m", message]).await?;
        self.text(["rev-parse", "--short", "HEAD"]).await
    }

    /// Not as `-c NAME=VALUE`: the name of a filter may have a `=` in it.
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
        let run = run_to_bound(&self.spec(args), MOST_TIME, most).await?;
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

    fn spec<T: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = T>) -> ProgramSpec {
        let own = args.into_iter().map(|it| it.as_ref().to_owned());
        ProgramSpec {
            program: "git".into(),
            args: SAFE.iter().map(OsString::from).chain(own).collect(),
            folder: self.path.clone(),
            env: self.env.iter().cloned().chain(self.settings_in_environment()).collect(),
            input: None,
        }
    }

    fn settings_in_environment(&self) -> Vec<(String, String)> {
        let count = ("GIT_CONFIG_COUNT".to_owned(), self.without_filters.len().to_string());
        let each = self.without_filters.iter().enumerate().flat_map(|(n, (name, value))| {
            let name = (format!("GIT_CONFIG_KEY_{n}"), name.clone());
            [name, (format!("GIT_CONFIG_VALUE_{n}"), (*value).to_owned())]
        });
        std::iter::once(count).chain(each).collect()
    }

    async fn text<T: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = T>,
    ) -> Result<String, GitError> {
        let own: Vec<OsString> = args.into_iter().map(|it| it.as_ref().to_owned()).collect();
        let command = own.first().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let run = run_to_end(&self.spec(own), MOST_TIME).await?;
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

/// The two sides of a tab: what git knows of a file, and its path.
fn split_tab(line: &OsStr) -> Option<(String, &OsStr)> {
    let bytes = line.as_bytes();
    let tab = bytes.iter().position(|it| *it == b'\t')?;
    let known = String::from_utf8_lossy(&bytes[..tab]).into_owned();
    Some((known, OsStr::from_bytes(&bytes[tab + 1..])))
}

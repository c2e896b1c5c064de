//! What is in a worktree, as a tree or a commit. The worktree's own index decides nothing: an agent may have told it to look
//! away from a file, or to take it for unchanged. All files are read again, into an index of Baton's own.

use std::path::Path;

use baton_files::Dir;

use super::{GitError, GitFolder};

/// Files that are named in one command.
const MOST_NAMED: usize = 500;

impl GitFolder {
    /// True if something is not committed: files that git does not know, and those that it was told to
    /// look away from, included. `index` is a file to use meanwhile.
    pub(crate) async fn is_dirty(&self, index: &Path) -> Result<bool, GitError> {
        let status = self.text(["status", "--porcelain", "--untracked-files=normal"]).await?;
        if !status.is_empty() {
            return Ok(true);
        }
        Ok(self.head_tree().await != Some(self.tree(index, &[]).await?))
    }

    /// The tree of the commit that is checked out.
    pub(crate) async fn head_tree(&self) -> Option<String> {
        self.text(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await.ok()
    }

    /// Makes a commit of everything that is in the folder and not ignored, and leaves the folder, its
    /// index and its branch as they are. `index` is a file to use meanwhile.
    pub(crate) async fn snapshot(&self, message: &str, index: &Path) -> Result<String, GitError> {
        let tree = self.tree(index, &[]).await?;
        let parents: Vec<String> = self.head().await.into_iter().collect();
        self.commit_of(&tree, message, &parents).await
    }

    async fn commit_of(
        &self,
        tree: &str,
        message: &str,
        parents: &[String],
    ) -> Result<String, GitError> {
        let mut args = vec!["commit-tree", tree, "-m", message];
        args.extend(parents.iter().flat_map(|it| ["-p", it.as_str()]));
        self.text(args).await
    }

    /// Puts a tree on the branch that is checked out, and takes it for the index; the short name of the commit.
    pub(crate) async fn commit_tree(
        &self,
        branch: &str,
        tree: &str,
        message: &str,
    ) -> Result<String, GitError> {
        let head = self.head().await;
        let mut parents: Vec<String> = head.iter().cloned().collect();
        // A merge that was not finished.
        let merged = self.text(["rev-parse", "--verify", "--quiet", "MERGE_HEAD^{commit}"]).await;
        parents.extend(merged.ok().filter(|it| !parents.contains(it)));
        let commit = self.commit_of(tree, message, &parents).await?;
        let name = format!("refs/heads/{branch}");
        let before = head.unwrap_or_default();
        let log = format!("commit: {message}");
        self.text(["update-ref", "-m", &log, &name, &commit, &before]).await?;
        self.forget_index().await?;
        self.text(["rev-parse", "--short", &commit]).await
    }

    /// Nothing is staged any more, and no file is looked away from.
    async fn forget_index(&self) -> Result<(), GitError> {
        const RESET: [&str; 3] = ["reset", "--mixed", "--quiet"];
        let Err(error) = self.text(RESET).await else { return Ok(()) };
        // The agent's processes are ended, and a git of theirs may have left its lock.
        match self.remove_index_lock() {
            Ok(()) => self.text(RESET).await.map(|_| ()),
            Err(_) => Err(error),
        }
    }

    /// The tree of everything that is in the folder and not ignored, committed or not, but for these files, which
    /// stay as they are committed. `index` is a file to use meanwhile; it holds the tree afterwards.
    pub(crate) async fn tree(&self, index: &Path, left_out: &[String]) -> Result<String, GitError> {
        let git = self.with_index(index);
        match self.head().await {
            Some(head) => git.text(["read-tree", head.as_str()]).await?,
            None => git.text(["read-tree", "--empty"]).await?,
        };
        let not_there = self.left_out_by_sparse_checkout().await?;
        if !not_there.is_empty() {
            let mark = ["update-index", "--skip-worktree", "-z", "--stdin"];
            git.run_with(mark, Some(not_there.join("\0"))).await?;
        }
        git.add_all(left_out).await?;
        git.text(["write-tree"]).await
    }

    /// What is in the folder beside the tree that `index` was made for, or in that and not in the folder: a line each.
    pub(crate) async fn beside_tree(
        &self,
        index: &Path,
        tree: &str,
    ) -> Result<Vec<String>, GitError> {
        let git = self.with_index(index);
        let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let ignored = git.run(args).await?.answer;
        let names = ignored.split('\0').filter(|it| !it.is_empty()).map(str::to_owned);
        let mut beside: Vec<String> = names.collect();
        let folder = Dir::open(&self.path).ok();
        let has_files = |it: &&String| {
            let name = Path::new(it.as_str()).join(".git");
            folder.as_ref().is_some_and(|dir| matches!(dir.entry(name), Ok(Some(_))))
        };
        let inner = self.inner_repositories(tree).await?;
        beside.extend(inner.iter().filter(has_files).map(|it| format!("{it}/")));
        let missing = git.marked_and_missing().await?;
        beside.extend(missing.iter().map(|it| format!("{it} (not checked out)")));
        Ok(beside)
    }

    /// Files that are not there because of a sparse checkout: they are not deleted.
    async fn left_out_by_sparse_checkout(&self) -> Result<Vec<String>, GitError> {
        let is_sparse = self.text(["config", "--type=bool", "core.sparseCheckout"]).await;
        match is_sparse.as_deref() {
            Ok("true") => self.marked_and_missing().await,
            Ok(_) | Err(_) => Ok(Vec::new()),
        }
    }

    async fn marked_and_missing(&self) -> Result<Vec<String>, GitError> {
        let list = self.run(["ls-files", "-v", "-z"]).await?.answer;
        let marked = list.split('\0').filter_map(|it| it.strip_prefix("S "));
        let folder = Dir::open(&self.path).ok();
        let is_missing =
            |it: &&str| folder.as_ref().is_some_and(|dir| matches!(dir.entry(it), Ok(None)));
        Ok(marked.filter(is_missing).map(str::to_owned).collect())
    }

    fn with_index(&self, index: &Path) -> Self {
        let mut git = self.clone();
        git.env.push(("GIT_INDEX_FILE".to_owned(), index.to_string_lossy().into_owned()));
        git
    }

    /// Commits everything that has changed, as an agent does; the short name of the commit, if there is one.
    pub(crate) async fn commit_all(&self, message: &str) -> Result<Option<String>, GitError> {
        self.add_all(&[]).await?;
        if self.text(["diff", "--cached", "--name-only"]).await?.is_empty() {
            return Ok(None);
        }
        self.text(["commit", "--quiet", "--no-verify", "-m", message]).await?;
        self.text(["rev-parse", "--short", "HEAD"]).await.map(Some)
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
}

//! Making worktrees, and what becomes of a folder that is none any more: it is never worked in, and never deleted.

use std::path::Path;
use std::time::Duration;

use baton_files::{Dir, FileError};

use super::{ASIDE, MOST_BRANCHES, TREE, WorkspaceError, WorkspaceRecord, Workspaces};
use crate::git::{GitError, GitFolder};

/// How long a worktree that git is still making is waited for.
const MOST_LOOKS: usize = 600;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What becomes of a folder that is no worktree of this repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnusableFolder {
    /// No agent has worked in it.
    Remove,
    PutAside,
}

/// What becomes of a branch that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingBranch {
    /// It is the story's own.
    GoOn,
    /// It is another's: a new one gets a number.
    Leave,
}

impl Workspaces {
    /// The branch of a worktree that an earlier runner had made when it was killed. What was not finished
    /// is removed, if no agent has worked in it yet; else it is put aside.
    pub(super) async fn found_worktree(
        &self,
        folder: &Dir,
        base: &WorkspaceRecord,
        unusable: UnusableFolder,
    ) -> Result<Option<String>, WorkspaceError> {
        let path = &base.path;
        // git goes on when the runner is killed.
        for _ in 0..MOST_LOOKS {
            if !self.git.is_being_made(path) {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let filled = self.git.worktree(path).ok().filter(GitFolder::is_filled);
        let branch = match &filled {
            Some(git) => git.branch().await,
            None => None,
        };
        if branch.is_some() {
            return Ok(branch);
        }
        match unusable {
            UnusableFolder::Remove if filled.is_none() => folder.remove(TREE)?,
            UnusableFolder::Remove | UnusableFolder::PutAside => {
                if let Err(error) = self.keep_private_commits(base, "left").await {
                    // An agent may have broken what git keeps of it.
                    tracing::warn!(%error, "the commits of a folder that is put aside are not kept");
                }
                put_aside(folder)?;
            }
        }
        self.git.unlock_worktree(path).await;
        self.git.prune_worktrees().await?;
        Ok(None)
    }

    /// On the wanted branch, if it is free; else on a new one with a number.
    pub(super) async fn add_worktree(
        &self,
        record: &WorkspaceRecord,
        wanted: &str,
        existing: ExistingBranch,
    ) -> Result<String, WorkspaceError> {
        let path = &record.path;
        let Some(head) = self.git.head().await else {
            return Err(WorkspaceError::Git("there is no commit to begin with".to_owned()));
        };
        for n in 1..=MOST_BRANCHES {
            let branch = if n == 1 { wanted.to_owned() } else { format!("{wanted}-{n}") };
            if !self.git.has_branch(&branch).await {
                // Known to be this run's, should the runner be killed while git makes it.
                self.save(&WorkspaceRecord { branch: Some(branch.clone()), ..record.clone() })?;
                match self.git.add_worktree(path, &branch, &head).await {
                    Ok(()) => return self.filled(path, branch).await,
                    // Where `a` is a branch, `a/b` cannot be one.
                    Err(GitError::Failed { output, .. }) if output.contains("cannot lock ref") => {}
                    Err(error) => return Err(error.into()),
                }
            } else if n == 1
                && existing == ExistingBranch::GoOn
                && self.git.add_worktree_on(path, &branch).await.is_ok()
            {
                return self.filled(path, branch).await;
            }
        }
        Err(WorkspaceError::NoBranch { branch: wanted.to_owned() })
    }

    async fn filled(&self, path: &Path, branch: String) -> Result<String, WorkspaceError> {
        let git = self.git.worktree(path).map_err(|why| WorkspaceError::NotOwn { why })?;
        git.fill().await?;
        Ok(branch)
    }
}

/// A folder that is no worktree any more may still hold work: it stays beside the new one.
fn put_aside(folder: &Dir) -> Result<(), FileError> {
    let mut n = 1;
    while folder.entry(format!("{ASIDE}{n}"))?.is_some() {
        n += 1;
    }
    match folder.rename_new(TREE, folder, format!("{ASIDE}{n}")) {
        Err(error) if !error.is_not_found() => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

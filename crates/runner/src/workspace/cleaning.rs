//! Keeping what is not committed, and removing workspaces without losing any of it.

use std::path::PathBuf;

use uuid::Uuid;

use super::{ASIDE, KeptChanges, WORKSPACES, WorkspaceError, WorkspaceRecord, Workspaces, is_bare};
use crate::git::GitFolder;

/// What is kept of a workspace that is removed has this name.
const CLEANED: &str = "cleaned";
/// `refs/baton`, `refs/baton-2` and so on.
const MOST_ROOTS: usize = 9;
/// Named in one message.
const MOST_INNER: usize = 10;

impl Workspaces {
    /// Keeps what an attempt left uncommitted under a ref of its own; `None` where that is nothing.
    pub(crate) async fn keep_changes(
        &self,
        record: &WorkspaceRecord,
        name: &str,
        message: &str,
    ) -> Result<Option<KeptChanges>, WorkspaceError> {
        let Some(git) = self.repository(record)? else { return Ok(None) };
        let index = self.scratch_index(record.run)?;
        let commit = if git.is_dirty(index.path()).await? {
            git.snapshot(message, index.path()).await?
        } else if let Some(commit) = git.private_commits().await?.into_iter().next() {
            // Commits that no branch has.
            commit
        } else {
            return Ok(None);
        };
        let name = self.name_commit(record, name, &commit).await?;
        let kept = KeptChanges { name, commit };
        self.save(&WorkspaceRecord { kept: Some(kept.clone()), ..record.clone() })?;
        Ok(Some(kept))
    }

    /// Keeps the commits that go with the worktree, because it alone names them: on a detached `HEAD`, under refs of
    /// its own, or in a bisection.
    pub(super) async fn keep_private_commits(
        &self,
        record: &WorkspaceRecord,
        name: &str,
    ) -> Result<Vec<KeptChanges>, WorkspaceError> {
        let mut kept = Vec::new();
        if !record.is_worktree {
            return Ok(kept);
        }
        // By the list of the repository: the folder may have been made another one's.
        let registered = self.git.registered(&record.path);
        let Some(git) = registered.and_then(GitFolder::without_files) else { return Ok(kept) };
        for commit in git.private_commits().await? {
            let name = self.name_commit(record, name, &commit).await?;
            kept.push(KeptChanges { name, commit });
        }
        Ok(kept)
    }

    /// Under the first name that is free: another project, or this one with other data, may have used it, and an agent
    /// may have made a ref of what has to be the beginning of one.
    async fn name_commit(
        &self,
        record: &WorkspaceRecord,
        name: &str,
        commit: &str,
    ) -> Result<String, WorkspaceError> {
        let mut failure = None;
        for root in 1..=MOST_ROOTS {
            let root = if root == 1 { "baton".to_owned() } else { format!("baton-{root}") };
            let wanted = format!("refs/{root}/run-{}/{name}", record.run_number);
            for n in 1.. {
                let name = if n == 1 { wanted.clone() } else { format!("{wanted}-{n}") };
                if self.git.has_ref(&name).await {
                    continue;
                }
                match self.git.name_commit(&name, commit).await {
                    Ok(()) => return Ok(name),
                    Err(error) => failure = Some(error),
                }
                break;
            }
        }
        let why = failure.map_or_else(String::new, |it| format!(": {it}"));
        Err(WorkspaceError::Git(format!("no ref can be made for commit {commit}{why}")))
    }

    /// The work went on: what was left before is in it, or was not wanted.
    pub(crate) fn forget_kept(&self, run: Uuid) {
        if let Ok(Some(record)) = self.record(run)
            && (record.kept.is_some() || record.session.is_some())
        {
            // They are only notes for the next attempt.
            let _ = self.save(&WorkspaceRecord { kept: None, session: None, ..record });
        }
    }

    /// Removes the workspace of a run; what is not committed, and commits that it alone names, are kept under refs
    /// first. Branches stay.
    pub async fn clean(
        &self,
        record: &WorkspaceRecord,
    ) -> Result<Vec<KeptChanges>, WorkspaceError> {
        if let Err(WorkspaceError::NotOwn { why }) = self.repository(record) {
            let path = record.path.display().to_string();
            return Err(WorkspaceError::NoRepository { path, why });
        }
        if record.is_worktree {
            self.check_aside(record)?;
            self.check_inner(record)?;
        }
        let mut kept: Vec<KeptChanges> = Vec::new();
        kept.extend(self.keep_changes(record, CLEANED, "What was not committed").await?);
        kept.extend(self.keep_private_commits(record, CLEANED).await?);
        if record.is_worktree {
            let _turn = self.turn.lock().await;
            self.git.unlock_worktree(&record.path).await;
            if self.tree(record.run).is_ok() {
                self.git.remove_worktree(&record.path).await?;
            }
            self.git.prune_worktrees().await?;
        }
        self.state.subdir(WORKSPACES)?.remove(record.run.to_string())?;
        Ok(kept)
    }

    /// Refuses a folder with repositories of their own, in folders that git ignores too: a commit holds only their
    /// names.
    fn check_inner(&self, record: &WorkspaceRecord) -> Result<(), WorkspaceError> {
        let Ok(tree) = self.tree(record.run) else { return Ok(()) };
        let mut inner = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let is_top = folder.as_os_str().is_empty();
            let dir = if is_top { tree.again()? } else { tree.subdir(&folder)? };
            let is_inner = is_bare(&dir) || matches!(dir.entry(".git"), Ok(Some(_)));
            if !is_top && is_inner {
                inner.push(folder.display().to_string());
                continue;
            }
            let below = dir.list()?.into_iter().filter(|(_, it)| it.is_folder());
            folders.extend(below.map(|(name, _)| folder.join(name)));
        }
        if inner.is_empty() {
            return Ok(());
        }
        inner.sort();
        let n_more = inner.len().saturating_sub(MOST_INNER);
        inner.truncate(MOST_INNER);
        if n_more > 0 {
            inner.push(format!("and {n_more} more"));
        }
        let (path, inner) = (record.path.display().to_string(), inner.join(", "));
        Err(WorkspaceError::InnerRepository { path, inner })
    }

    fn check_aside(&self, record: &WorkspaceRecord) -> Result<(), WorkspaceError> {
        let folder = self.folder(record.run)?;
        let mut names = folder.list()?.into_iter().map(|(name, _)| name);
        match names.find(|it| it.to_string_lossy().starts_with(ASIDE)) {
            Some(name) => {
                let path = folder.path().join(name).display().to_string();
                Err(WorkspaceError::PutAside { path })
            }
            None => Ok(()),
        }
    }
}

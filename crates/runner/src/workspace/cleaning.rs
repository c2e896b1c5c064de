//! Keeping what is not committed, and removing workspaces without losing any of it.

use std::path::Path;

use uuid::Uuid;

use super::{ASIDE, KeptChanges, WORKSPACES, WorkspaceError, WorkspaceRecord, Workspaces};

impl Workspaces {
    /// Keeps what an attempt left uncommitted under a ref of its own; `None` where that is nothing.
    pub(crate) async fn keep_changes(
        &self,
        record: &WorkspaceRecord,
        name: &str,
        message: &str,
    ) -> Result<Option<KeptChanges>, WorkspaceError> {
        let git = self.git.at(record.path.clone());
        if !git.is_top().await {
            return Ok(None);
        }
        let index = self.scratch_index(record.run)?;
        let commit = if git.is_dirty(index.path()).await? {
            git.snapshot(message, index.path()).await?
        } else if let Some(head) = git.head().await
            && !git.is_head_kept().await?
        {
            // Commits that no branch has.
            head
        } else {
            return Ok(None);
        };
        let name = self.name_commit(record, name, &commit).await?;
        let kept = KeptChanges { name, commit };
        self.save(&WorkspaceRecord { kept: Some(kept.clone()), ..record.clone() })?;
        Ok(Some(kept))
    }

    /// Under the first name that is free: another project, or this one with other data, may have used it.
    async fn name_commit(
        &self,
        record: &WorkspaceRecord,
        name: &str,
        commit: &str,
    ) -> Result<String, WorkspaceError> {
        let wanted = format!("refs/baton/run-{}/{name}", record.run_number);
        let mut n = 1;
        loop {
            let name = if n == 1 { wanted.clone() } else { format!("{wanted}-{n}") };
            if !self.git.has_ref(&name).await {
                self.git.name_commit(&name, commit).await?;
                return Ok(name);
            }
            n += 1;
        }
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

    /// Removes the workspace of a run; what is not committed is kept under a ref first. Branches stay.
    pub async fn clean(
        &self,
        record: &WorkspaceRecord,
    ) -> Result<Option<KeptChanges>, WorkspaceError> {
        let kept = self.keep_changes(record, "cleaned", "What was not committed").await?;
        if record.is_worktree {
            if !self.has_repository(record).await {
                return Err(WorkspaceError::NoRepository {
                    path: record.path.display().to_string(),
                });
            }
            self.check_aside(record)?;
            self.check_inner(record, kept.as_ref()).await?;
            let _turn = self.turn.lock().await;
            if self.tree(record.run).is_ok() {
                self.git.remove_worktree(&record.path).await?;
            }
            self.git.prune_worktrees().await?;
        }
        self.state.subdir(WORKSPACES)?.remove(record.run.to_string())?;
        Ok(kept)
    }

    /// Refuses a folder with repositories of their own: a commit holds only their names.
    async fn check_inner(
        &self,
        record: &WorkspaceRecord,
        kept: Option<&KeptChanges>,
    ) -> Result<(), WorkspaceError> {
        let git = self.git.at(record.path.clone());
        let Ok(tree) = self.tree(record.run) else { return Ok(()) };
        if !git.is_top().await {
            return Ok(());
        }
        let commit = kept.map_or("HEAD", |it| it.commit.as_str());
        let mut inner = git.inner_repositories(commit).await?;
        inner.retain(|it| matches!(tree.entry(Path::new(it).join(".git")), Ok(Some(_))));
        if inner.is_empty() {
            return Ok(());
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

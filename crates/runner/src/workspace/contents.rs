//! What is in a workspace: its commits, its tree, and the conversation of its last agent.

use baton_files::Dir;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MOST_ENV_FILE_BYTES, WorkspaceError, WorkspaceRecord, Workspaces};
use crate::git::Patch;

/// An agent's conversation that can be taken up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentSession {
    pub agent: String,
    pub executor: String,
    pub session: String,
}

/// What checks are run on; nothing of it where the workspace is no repository.
#[derive(Debug, Default)]
pub(crate) struct CheckedState {
    /// It has exactly this tree.
    pub(crate) commit: Option<String>,
    pub(crate) tree: Option<String>,
    /// What is there and in no commit, such as files that git ignores: a check may depend on it.
    pub(crate) beside: Vec<String>,
}

impl WorkspaceRecord {
    /// The conversation that this agent can go on with, by this executor.
    pub(crate) fn session_of(&self, agent: &str, executor: &str) -> Option<String> {
        let own = |it: &&AgentSession| it.agent == agent && it.executor == executor;
        self.session.as_ref().filter(own).map(|it| it.session.clone())
    }
}

impl Workspaces {
    pub(crate) fn keep_session(&self, run: Uuid, session: AgentSession) {
        if let Ok(Some(record)) = self.record(run) {
            // Without it the next attempt starts over.
            let _ = self.save(&WorkspaceRecord { session: Some(session), ..record });
        }
    }

    /// A conversation that could not be taken up again is not tried a second time.
    pub(crate) fn forget_session(&self, run: Uuid) {
        if let Ok(Some(record)) = self.record(run) {
            let _ = self.save(&WorkspaceRecord { session: None, ..record });
        }
    }

    /// Commits what an agent has changed in its worktree, whatever its index says of that, but for files that were
    /// copied there for it; `None` where that is nothing. It fails where the worktree is on another branch.
    pub(crate) async fn commit(
        &self,
        record: &WorkspaceRecord,
        message: &str,
    ) -> Result<Option<String>, WorkspaceError> {
        if !record.is_worktree {
            return Ok(None);
        }
        let Some(git) = self.repository(record)? else { return Ok(None) };
        let branch = git.branch().await;
        let Some(branch) = branch.filter(|it| record.branch.as_ref() == Some(it)) else {
            let found = match git.branch().await {
                Some(other) => format!("the branch `{other}`"),
                None => "no branch".to_owned(),
            };
            let branch = record.branch.clone().unwrap_or_default();
            return Err(WorkspaceError::OtherBranch { found, branch });
        };
        let index = self.scratch_index(record.run)?;
        let tree = git.tree(index.path(), &self.settings.env_files).await?;
        if git.head_tree().await.as_ref() == Some(&tree) {
            return Ok(None);
        }
        Ok(Some(git.commit_tree(&branch, &tree, message).await?))
    }

    /// Makes a workspace ready for its checks: in a worktree, all that is in it is committed on the run's branch.
    pub(crate) async fn checked_state(
        &self,
        record: &WorkspaceRecord,
    ) -> Result<CheckedState, WorkspaceError> {
        self.commit(record, "What was not committed when its checks began").await?;
        let Some(git) = self.repository(record)? else { return Ok(CheckedState::default()) };
        let index = self.scratch_index(record.run)?;
        let tree = git.tree(index.path(), &self.settings.env_files).await?;
        // In place, and where it changes meanwhile, no commit has what is checked.
        let is_committed = git.head_tree().await.as_ref() == Some(&tree);
        let commit = if is_committed { git.head().await } else { None };
        let mut beside = git.beside_tree(index.path(), &tree).await?;
        beside.extend(self.changed_env_files(record));
        Ok(CheckedState { commit, tree: Some(tree), beside })
    }

    /// Copied files of the project that are not as they were copied.
    fn changed_env_files(&self, record: &WorkspaceRecord) -> Vec<String> {
        let Some(tree) = record.is_worktree.then(|| self.tree(record.run).ok()).flatten() else {
            return Vec::new();
        };
        let read = |dir: &Dir, name: &str| dir.read(name, MOST_ENV_FILE_BYTES).ok();
        let names = self.settings.env_files.iter();
        let changed = names.filter(|it| read(&tree, it) != read(&self.project, it));
        changed.map(|it| format!("{it} (not as in the project)")).collect()
    }

    /// What is in a workspace now, as a commit or a tree; `None` where it is no repository.
    pub(crate) async fn state_of(
        &self,
        record: &WorkspaceRecord,
    ) -> Result<Option<String>, WorkspaceError> {
        let Some(git) = self.repository(record)? else { return Ok(None) };
        let index = self.scratch_index(record.run)?;
        let tree = git.tree(index.path(), &[]).await?;
        match git.head_tree().await.as_ref() == Some(&tree) {
            true => Ok(git.head().await),
            false => Ok(Some(tree)),
        }
    }

    /// What was changed in a workspace since then, committed or not, up to so many bytes; `None` where it is no
    /// repository.
    pub(crate) async fn diff_since(
        &self,
        record: &WorkspaceRecord,
        before: &str,
        most: usize,
    ) -> Result<Option<Patch>, WorkspaceError> {
        let Some(now) = self.state_of(record).await? else { return Ok(None) };
        let Some(git) = self.repository(record)? else { return Ok(None) };
        Ok(Some(git.diff(before, &now, most).await?))
    }

    /// How many files of a workspace are not as they are committed; `None` where nothing can be said of it.
    pub async fn count_changes(&self, record: &WorkspaceRecord) -> Option<usize> {
        let git = self.repository(record).ok()??;
        let index = self.scratch_index(record.run).ok()?;
        let now = git.tree(index.path(), &[]).await.ok()?;
        git.count_changes(&git.head_tree().await?, &now).await.ok()
    }

    /// Those of the named commits that the repository of a workspace does not have.
    pub(crate) async fn missing_commits(
        &self,
        record: &WorkspaceRecord,
        commits: &[String],
    ) -> Vec<String> {
        let Ok(Some(git)) = self.repository(record) else { return commits.to_vec() };
        let mut missing = Vec::new();
        for commit in commits {
            if !git.has_commit(commit).await {
                missing.push(commit.clone());
            }
        }
        missing
    }
}

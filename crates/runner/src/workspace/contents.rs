//! What is in a workspace: its commits, its tree, and the conversation of its last agent.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{WorkspaceError, WorkspaceRecord, Workspaces};
use crate::git::Patch;

/// An agent's conversation that can be taken up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentSession {
    pub agent: String,
    pub executor: String,
    pub session: String,
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

    /// Commits what an agent has changed in its worktree, but for files that were copied there for it;
    /// `None` where that is nothing.
    pub(crate) async fn commit(
        &self,
        record: &WorkspaceRecord,
        message: &str,
    ) -> Result<Option<String>, WorkspaceError> {
        let git = self.git.at(record.path.clone());
        let is_own = record.is_worktree && git.is_top().await;
        if !is_own || !git.stage_all(&self.settings.env_files).await? {
            return Ok(None);
        }
        Ok(Some(git.commit(message).await?))
    }

    /// The commit that is checked out in a workspace, and the tree of everything in it; `None` each where
    /// it is no repository.
    pub(crate) async fn checked_out(
        &self,
        record: &WorkspaceRecord,
    ) -> (Option<String>, Option<String>) {
        let git = self.git.at(record.path.clone());
        if !git.is_top().await {
            return (None, None);
        }
        let tree = match self.scratch_index(record.run) {
            Ok(index) => git.tree(index.path()).await.ok(),
            Err(_) => None,
        };
        (git.head().await, tree)
    }

    /// What is in a workspace now, as a commit or a tree; `None` where it is no repository.
    pub(crate) async fn state_of(
        &self,
        record: &WorkspaceRecord,
    ) -> Result<Option<String>, WorkspaceError> {
        let git = self.git.at(record.path.clone());
        if !git.is_top().await {
            return Ok(None);
        }
        let index = self.scratch_index(record.run)?;
        Ok(match git.is_dirty(index.path()).await? {
            true => Some(git.tree(index.path()).await?),
            false => git.head().await,
        })
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
        let git = self.git.at(record.path.clone());
        Ok(Some(git.diff(before, &now, most).await?))
    }

    /// Those of the named commits that the repository of a workspace does not have.
    pub(crate) async fn missing_commits(
        &self,
        record: &WorkspaceRecord,
        commits: &[String],
    ) -> Vec<String> {
        let git = self.git.at(record.path.clone());
        let mut missing = Vec::new();
        for commit in commits {
            if !git.has_commit(commit).await {
                missing.push(commit.clone());
            }
        }
        missing
    }
}

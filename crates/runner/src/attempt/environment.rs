//! What an agent is given of the runner's environment, and which of that is never said.

use baton_files::{Dir, FileError};
use baton_wire::project_file::runner::ExecutorSettings;

use super::AttemptRun;
use crate::RunnerContext;
use crate::masking::Masking;
use crate::record::AttemptRecord;
use crate::workspace::WorkspaceRecord;

impl AttemptRun {
    /// Exactly this, and nothing else of the runner's environment.
    pub(super) fn environment(
        &self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
        written: &Dir,
    ) -> Result<Vec<(String, String)>, FileError> {
        let record = &self.record;
        let mut env = self.context.workspaces.environment(workspace);
        let passed_on = self.context.env.iter().filter(|(name, _)| settings.env.contains(name));
        env.extend(passed_on.cloned());
        let branch = workspace.branch.clone().unwrap_or_default();
        let written = written.real_path()?.to_string_lossy().into_owned();
        for (name, value) in [
            ("BATON_URL", self.context.url()),
            ("BATON_TOKEN", record.key.token.clone()),
            ("BATON_RUN", record.run_number.to_string()),
            ("BATON_HANDOFF", record.number.to_string()),
            ("BATON_AGENT", record.agent.clone()),
            ("DASHBOARD_URL", self.context.url()),
            ("STORY_ID", record.story.clone()),
            ("BRANCH", branch),
            ("OUTPUT_DIRECTORY", written),
        ] {
            env.push((name.to_owned(), value));
        }
        Ok(env)
    }

    /// A prompt without what is masked. The token of the attempt is in it on purpose.
    pub(super) fn for_prompt(&self, text: &str) -> String {
        self.context.masking().mask(text)
    }
}

/// What an attempt hands on and says without.
pub(super) fn masking(context: &RunnerContext, record: &AttemptRecord) -> Masking {
    let masking = context.masking().with_secret(&record.key.token);
    match context.workspaces.record(record.run) {
        Ok(Some(workspace)) => masking.with_workspace(&workspace.path),
        Ok(None) | Err(_) => masking,
    }
}

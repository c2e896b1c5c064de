//! What an agent is given of the runner's environment, and which of that is never said.

use baton_files::{Dir, FileError};
use baton_wire::project_file::runner::ExecutorSettings;

use super::AttemptRun;
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
            ("BATON_URL", self.context.url.clone()),
            ("BATON_TOKEN", record.key.token.clone()),
            ("BATON_RUN", record.run_number.to_string()),
            ("BATON_HANDOFF", record.number.to_string()),
            ("BATON_AGENT", record.agent.clone()),
            ("DASHBOARD_URL", self.context.url.clone()),
            ("STORY_ID", record.story.clone()),
            ("BRANCH", branch),
            ("OUTPUT_DIRECTORY", written),
        ] {
            env.push((name.to_owned(), value));
        }
        Ok(env)
    }

    pub(super) fn secrets(&self, settings: &ExecutorSettings) -> Vec<String> {
        let passed_on = self.context.env.iter().filter(|(name, _)| settings.env.contains(name));
        let values = passed_on.map(|(_, value)| value.clone());
        values.chain([self.record.key.token.clone()]).collect()
    }
}

//! What is sent back of an attempt: what it printed, what it changed, and the files that its package names.

use baton_core::sent_file::SentFileKind;
use baton_files::Dir;

use super::{AttemptResult, AttemptRun, MOST_OUTPUT_BYTES};
use crate::files::{KeptPart, OutgoingFile, artifacts, most_read, send_all};
use crate::git::Patch;
use crate::record::OUTPUT;
use crate::workspace::{WorkspaceError, WorkspaceRecord};

const DIFF: &str = "changes.diff";

impl AttemptRun {
    /// What is in the workspace before the agent begins.
    pub(super) async fn base(&self, workspace: &WorkspaceRecord) -> Option<String> {
        match self.context.workspaces.state_of(workspace).await {
            Ok(base) => base,
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "what an agent changes will not be shown");
                None
            }
        }
    }

    /// Sends the files before the run moves on, so that the next one who looks finds them. They are not worth
    /// the result: where they cannot be sent, the log says so.
    pub(super) async fn send_files(&self, result: &AttemptResult) {
        let has_handed_on = match result {
            // Nothing of it is taken any more.
            AttemptResult::Lost(_) => return,
            AttemptResult::HandedOff(_) => true,
            AttemptResult::Failed(_)
            | AttemptResult::Limited(_)
            | AttemptResult::GivenBack(_)
            | AttemptResult::Waiting { .. } => false,
        };
        if self.record.process.is_none() {
            return;
        }
        let mut files = vec![self.keep_alive(self.log()).await];
        files.extend(self.diff().await);
        if has_handed_on {
            files.extend(self.artifacts().await);
        }
        let client = &self.context.client;
        if let Err(error) = send_all(client, &self.record.key, files).await {
            let code = error.code().unwrap_or("unreachable").to_owned();
            let handoff = self.record.number;
            tracing::warn!(handoff, code, "the files of an attempt could not be sent");
            self.say(format!(
                "not all files of attempt {} at {} could be sent: {error}; they are on the machine of its runner",
                self.record.attempt, self.record.label
            ))
            .await;
        }
    }

    async fn log(&self) -> OutgoingFile {
        let kind = SentFileKind::Log;
        let folder = self.record.dir(&self.context.state);
        match folder.and_then(|it| it.read(OUTPUT, MOST_OUTPUT_BYTES)) {
            Ok(output) => {
                let masking = self.masking.clone();
                let file = move || {
                    let output = String::from_utf8_lossy(&output);
                    OutgoingFile::text(kind, OUTPUT, &output, &masking, KeptPart::End)
                };
                apart(kind, OUTPUT, file).await
            }
            Err(error) if error.is_not_found() => {
                let why = "the runner was ended while the agent was at work";
                OutgoingFile::left_out(kind, OUTPUT, why)
            }
            Err(error) => OutgoingFile::left_out(kind, OUTPUT, &error.to_string()),
        }
    }

    async fn diff(&self) -> Option<OutgoingFile> {
        let kind = SentFileKind::Diff;
        let left_out = |why: &str| Some(OutgoingFile::left_out(kind, DIFF, why));
        let workspaces = &self.context.workspaces;
        let (Some(base), Ok(Some(workspace))) =
            (&self.record.base, workspaces.record(self.record.run))
        else {
            return left_out("the workspace is no git repository with a commit");
        };
        let most = most_read(&self.masking);
        let diff: Result<Option<Patch>, WorkspaceError> =
            self.keep_alive(workspaces.diff_since(&workspace, base, most)).await;
        match diff {
            // It changed nothing.
            Ok(Some(Patch { text, .. })) if text.is_empty() => None,
            Ok(Some(Patch { text, is_whole })) => {
                let masking = self.masking.clone();
                let file = move || match is_whole {
                    true => OutgoingFile::text(kind, DIFF, &text, &masking, KeptPart::Beginning),
                    false => OutgoingFile::begun_text(kind, DIFF, &text, &masking),
                };
                Some(apart(kind, DIFF, file).await)
            }
            Ok(None) => left_out("the workspace is no git repository any more"),
            Err(error) => left_out(&error.to_string()),
        }
    }

    async fn artifacts(&self) -> Vec<OutgoingFile> {
        let record = &self.record;
        let package =
            self.context.client.package_after(record.run, record.number, &record.label).await;
        let package = match package {
            Ok(Some(package)) => package,
            Ok(None) => return Vec::new(),
            Err(error) => {
                let why = format!("the package could not be read: {error}");
                return vec![OutgoingFile::left_out(SentFileKind::Artifact, "named files", &why)];
            }
        };
        let workspace = self.context.workspaces.record(record.run).ok().flatten();
        let dir = workspace.and_then(|it| Dir::open(&it.path).ok());
        let Some(dir) = dir else { return Vec::new() };
        let masking = self.masking.clone();
        let files = move || artifacts(&dir, &package, &masking);
        self.keep_alive(tokio::task::spawn_blocking(files)).await.unwrap_or_default()
    }
}

/// Beside the work of the server that this may be a part of: a large text takes a while.
async fn apart(
    kind: SentFileKind,
    name: &str,
    file: impl FnOnce() -> OutgoingFile + Send + 'static,
) -> OutgoingFile {
    let made = tokio::task::spawn_blocking(file).await;
    made.unwrap_or_else(|error| OutgoingFile::left_out(kind, name, &error.to_string()))
}

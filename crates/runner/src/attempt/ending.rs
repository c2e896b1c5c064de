//! How an attempt ends: what it leaves is kept, and is on the run before the next one begins.

use baton_core::hash::Hash;
use baton_core::plural::counted;
use baton_wire::project_file::runner::{ExecutorSettings, OnRateLimit};

use super::{AttemptFailure, AttemptResult, AttemptRun, MOST_OUTPUT_BYTES, MOST_SAYING};
use crate::client::{ApiFailure, FAILURE};
use crate::process::end_orphans;
use crate::record::{AgentEnd, AttemptRetry, AttemptStage, OUTPUT};
use crate::supervise::Supervised;
use crate::workspace::{AgentSession, KeptChanges, WorkspaceError};

impl AttemptRun {
    /// The end of what the agent said is worth a moment, and no more.
    pub(super) async fn wait_until_said(&mut self) {
        if let Some(said) = self.said.take() {
            let _ = tokio::time::timeout(MOST_SAYING, said).await;
        }
    }

    /// Puts on record how a program ended, and what it used.
    pub(super) async fn keep_end(
        &mut self,
        ended: Supervised,
        settings: &ExecutorSettings,
    ) -> Result<String, AttemptFailure> {
        self.pass("agent_ended");
        self.store_output(&ended.output)?;
        (self.record.end, self.record.report) = (Some(ended.end), ended.report);
        self.said = Some(ended.said);
        self.reach(AttemptStage::AgentFinished)?;
        self.tell_usage(settings);
        self.keep_alive(self.record_usage()).await;
        self.record.used = self.record.used.plus(self.record.report.usage);
        Ok(ended.output)
    }

    /// Ends the attempt: tells the run, keeps what was not committed, and records the end.
    pub(super) async fn finish(&mut self, result: Result<AttemptResult, AttemptFailure>) {
        let _ = end_orphans(self.record.process, &self.record.key.token);
        let result = match result {
            Ok(result) => result,
            Err(AttemptFailure::Untrusted) => {
                AttemptResult::GivenBack(AttemptFailure::Untrusted.to_string())
            }
            Err(error) => AttemptResult::Failed(error.to_string()),
        };
        // Boxed: it holds files and requests, and the futures of all attempts would contain it.
        Box::pin(self.keep_alive(self.send_files(&result))).await;
        match result {
            AttemptResult::HandedOff(_) => self.context.workspaces.forget_kept(self.record.run),
            // Before anyone else gets the work.
            AttemptResult::Failed(_)
            | AttemptResult::Limited(_)
            | AttemptResult::Lost(_)
            | AttemptResult::GivenBack(_)
            | AttemptResult::Waiting { .. } => {
                self.keep_session();
                self.keep_alive(self.keep_changes()).await;
            }
        }
        let text = match &result {
            AttemptResult::HandedOff(how) => how.clone(),
            AttemptResult::Failed(why) => {
                self.fail(&format!("{FAILURE}{why}"), self.retry()).await;
                format!("failed: {why}")
            }
            AttemptResult::Limited(why) => {
                self.fail(&format!("{FAILURE}{why}"), AttemptRetry::AskFirst).await;
                format!("stopped: {why}")
            }
            AttemptResult::Waiting { why, until } => match self.context.settings.on_rate_limit {
                OnRateLimit::Wait => {
                    self.fail(why, AttemptRetry::At(*until)).await;
                    format!("waits until {until}: {why}")
                }
                OnRateLimit::Ask => {
                    self.fail(why, AttemptRetry::AskFirst).await;
                    format!("a person is asked: {why}")
                }
            },
            AttemptResult::Lost(why) => format!("lost: {why}"),
            AttemptResult::GivenBack(why) => {
                let why = &self.masking.mask(why);
                match self.context.client.release(&self.record.key, why).await {
                    Ok(()) => format!("given back: {why}"),
                    Err(error) => format!("lost: {why}; {error}"),
                }
            }
        };
        self.record.result = Some(self.masking.mask(&text));
        self.wait_until_said().await;
        if let Err(error) = self.reach(AttemptStage::HandedOff) {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "the end of an attempt could not be recorded");
        }
    }

    /// Whether the work is tried again after a failure, as far as the agent's own settings say.
    fn retry(&self) -> AttemptRetry {
        let most = self.context.agent_settings(&self.record.agent).and_then(|it| it.attempts);
        match most {
            Some(most) if self.record.attempt >= most => AttemptRetry::AskFirst,
            Some(_) | None => AttemptRetry::AsUsual,
        }
    }

    /// Why the agent is not started once more in this run, if its settings say so.
    pub(super) async fn limit_reached(&self) -> Result<Option<String>, ApiFailure> {
        let record = &self.record;
        let settings = self.context.agent_settings(&record.agent);
        let Some(most) = settings.and_then(|it| it.starts) else { return Ok(None) };
        let n_starts = self.context.client.count_starts(record.run, &record.agent).await?;
        Ok((n_starts > most).then(|| {
            let (agent, times) = (&record.agent, counted(most.into(), "time"));
            format!("`{agent}` was started {times} in this run, which is its limit (`starts` in baton.toml)")
        }))
    }

    pub(super) async fn fail(&self, reason: &str, retry: AttemptRetry) {
        let (key, output) = (&self.record.key, self.printed());
        let reason = &self.masking.mask(reason);
        if let Err(error) = self.context.client.lose(key, reason, output, retry).await {
            let code = error.code().unwrap_or("unreachable").to_owned();
            tracing::warn!(handoff = self.record.number, code, "a failure could not be recorded");
        }
    }

    /// Commits what a program has changed and not committed, so that what it hands on is on the branch: its
    /// sandbox may keep it from that, and it may have left it out.
    pub(super) async fn commit_changes(&self) -> Result<(), WorkspaceError> {
        let record = &self.record;
        let Ok(Some(workspace)) = self.context.workspaces.record(record.run) else { return Ok(()) };
        let message = format!("Work of {} on {} ({})", record.agent, record.story, record.label);
        let commit = self.context.workspaces.commit(&workspace, &message);
        if let Some(commit) = self.keep_alive(commit).await? {
            self.say(format!("what `{}` changed is committed as {commit}", record.agent)).await;
        }
        Ok(())
    }

    /// After an agent that has handed on by itself: its handoff stands, so this is only told.
    pub(super) async fn commit_handed_on(&self) {
        if let Err(error) = self.commit_changes().await {
            let agent = &self.record.agent;
            self.say(format!("what `{agent}` changed could not be committed: {error}")).await;
        }
    }

    /// So that the next attempt of the same agent goes on instead of starting over.
    pub(super) fn keep_session(&self) {
        let record = &self.record;
        let (Some(session), Some(executor)) = (&record.report.session, &record.executor) else {
            return;
        };
        let session = AgentSession {
            agent: record.agent.clone(),
            executor: executor.clone(),
            session: session.clone(),
        };
        self.context.workspaces.keep_session(record.run, session);
    }

    /// What the agent printed, as a hash. An agent that was ended may have been about to print more,
    /// and one that printed nothing said nothing twice.
    pub(super) fn printed(&self) -> Option<Hash> {
        let has_ended_itself = self.record.end.as_ref().is_some_and(AgentEnd::is_own);
        let folder = self.record.dir(&self.context.state).ok().filter(|_| has_ended_itself)?;
        let output = folder.read(OUTPUT, MOST_OUTPUT_BYTES).ok()?;
        (!output.trim_ascii().is_empty()).then(|| Hash::of(&output))
    }

    pub(super) async fn keep_changes(&self) {
        let Ok(Some(workspace)) = self.context.workspaces.record(self.record.run) else { return };
        let record = &self.record;
        let name = format!("{}-{}", record.label, record.key.fence);
        let message =
            format!("What attempt {} at {} left uncommitted", record.attempt, record.label);
        match self.context.workspaces.keep_changes(&workspace, &name, &message).await {
            Ok(Some(KeptChanges { name, commit })) => {
                self.say(format!(
                    "what `{}` left uncommitted is kept as commit {commit} under {name}",
                    record.agent
                ))
                .await;
            }
            Ok(None) => {}
            Err(error) => {
                self.say(format!(
                    "what `{}` left uncommitted could not be kept under a ref: {error}",
                    record.agent
                ))
                .await;
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(
                    error,
                    "what an agent left uncommitted could not be kept under a ref"
                );
            }
        }
    }
}

//! One attempt, from the claim to the result. Each stage is on disk before the next begins.

use std::sync::Arc;
use std::time::Duration;

use baton_api::Claim;
use baton_core::hash::Hash;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::project_file::runner::ExecutorSettings;
use tokio::sync::watch;

use crate::RunnerContext;
use crate::client::{ApiFailure, FAILURE};
use crate::executor::{AttemptBrief, executor};
use crate::process::{RunningProgram, end_orphans};
use crate::record::{AgentEnd, AttemptRecord, AttemptStage, OUTPUT, PROMPT, WRITTEN};
use crate::result::{LeftBehind, RefusedDocument, left_behind, without_handing_off};
use crate::supervise::{Supervised, supervise};
use crate::workspace::{KeptChanges, WorkspaceError, WorkspaceRecord};

/// Why an attempt did not come to a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptFailure {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("the workspace cannot be made ready: {0}")]
    Workspace(#[from] WorkspaceError),
    #[error("{0}")]
    Api(#[from] ApiFailure),
    #[error("no executor could be started: {0}")]
    Start(String),
    #[error(
        "what would be started has changed since it was trusted; `baton trust` shows the difference"
    )]
    Untrusted,
}

/// How an attempt ended.
enum AttemptResult {
    /// The agent sent it by itself, or it was taken from what the agent left.
    HandedOff(String),
    /// The agent left nothing that could be taken.
    Failed(String),
    /// It is not this attempt's any more.
    Lost(String),
    /// To be offered again.
    GivenBack(String),
}

/// A handoff that was interrupted so often by the runner's own end is a failure.
const MOST_INTERRUPTIONS: usize = 3;
const MOST_OUTPUT_BYTES: u64 = 16 << 20;

/// Works on a claim until its result is taken.
pub(crate) async fn work(context: Arc<RunnerContext>, claim: Claim, stop: watch::Receiver<bool>) {
    let record = AttemptRecord::new(&claim);
    let turn = context.turns.of(record.run);
    let mut attempt = AttemptRun { context, record, stop };
    let _turn = attempt.keep_alive(turn.begin()).await;
    let result = attempt.begin().await;
    attempt.finish(result).await;
}

/// Takes up an attempt that an earlier runner left: goes on after *agent finished*, else gives the work
/// back. Its orphaned processes are ended first.
pub(crate) async fn take_up(
    context: Arc<RunnerContext>,
    record: AttemptRecord,
    n_before: usize,
    stop: watch::Receiver<bool>,
) {
    let mut attempt = AttemptRun { context, record, stop };
    let n_ended = end_orphans(attempt.record.process, &attempt.record.key.token);
    if n_ended > 0 {
        let text =
            format!("{n_ended} processes of the attempt before were still there, and are ended");
        attempt.say(text).await;
    }
    let result = match attempt.record.stage {
        AttemptStage::AgentFinished => attempt.result_of_stored().await,
        AttemptStage::Claimed | AttemptStage::WorkspaceReady | AttemptStage::AgentStarted => {
            let reason = "the runner was ended while the agent was at work".to_owned();
            if n_before >= MOST_INTERRUPTIONS {
                Ok(AttemptResult::Failed(format!("{reason}, {n_before} times")))
            } else {
                Ok(AttemptResult::GivenBack(reason))
            }
        }
        AttemptStage::HandedOff => return,
    };
    attempt.finish(result).await;
}

struct AttemptRun {
    context: Arc<RunnerContext>,
    record: AttemptRecord,
    stop: watch::Receiver<bool>,
}

impl AttemptRun {
    async fn begin(&mut self) -> Result<AttemptResult, AttemptFailure> {
        self.record.save(&self.context.state)?;
        let workspace = self.workspace().await?;
        self.reach(AttemptStage::WorkspaceReady)?;
        let settings = self.executors();
        let mut why = "this agent has none".to_owned();
        for settings in settings {
            if !self.context.is_trusted() {
                return Err(AttemptFailure::Untrusted);
            }
            match self.run_with(&settings, &workspace).await? {
                Ok(result) => return Ok(result),
                Err(error) => why = format!("`{}`: {error}", settings.name),
            }
        }
        Err(AttemptFailure::Start(why))
    }

    async fn workspace(&self) -> Result<WorkspaceRecord, AttemptFailure> {
        let story = self.context.client.story(&self.record.story).await?;
        let prepare = self.keep_alive(self.context.workspaces.prepare(
            self.record.run,
            self.record.run_number,
            &story,
        ));
        let workspace = prepare.await?;
        if workspace.is_worktree && workspace.branch != story.branch {
            // So that prompts name the branch that the work is on.
            self.context.client.set_branch(&story, workspace.branch.as_deref()).await?;
        }
        Ok(workspace)
    }

    /// Heartbeats while something else takes its time.
    async fn keep_alive<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(heartbeat_every(self.record.lease_seconds)) => {
                    // A refusal is met again by whatever follows.
                    let _ = self.context.client.heartbeat(&self.record.key).await;
                }
            }
        }
    }

    /// The executors of the agent, beginning with the one whose turn it is.
    fn executors(&self) -> Vec<ExecutorSettings> {
        let all = self.context.executors_of(&self.record.agent);
        let first =
            (self.record.attempt.saturating_sub(1) as usize).min(all.len().saturating_sub(1));
        all.into_iter().skip(first).collect()
    }

    /// Runs the agent with one executor. The inner error: its program could not be started.
    async fn run_with(
        &mut self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
    ) -> Result<Result<AttemptResult, std::io::Error>, AttemptFailure> {
        let client = &self.context.client;
        let prompt = client.prompt(&self.record.key, &self.context.url, settings.interface).await?;
        self.record.executor = Some(settings.name.clone());
        self.record.package_hash.clone_from(&prompt.package_hash);
        let mut text = prompt.text + &note(workspace);
        for round in 1.. {
            self.record.round = round;
            self.record.prompt_hash = Some(Hash::of(text.as_bytes()).to_string());
            let ended = match self.play(settings, workspace, &text).await? {
                Ok(ended) => ended,
                Err(error) => return Ok(Err(error)),
            };
            self.store_output(&ended.output)?;
            self.record.end = Some(ended.end);
            self.reach(AttemptStage::AgentFinished)?;
            match self.result(&ended.output).await? {
                ResultOrCorrection::Result(result) => return Ok(Ok(result)),
                ResultOrCorrection::Correction(refused) if round == 1 => {
                    self.say(format!(
                        "`{}` handed on what was refused, and gets it back once",
                        self.record.agent
                    ))
                    .await;
                    text = refused.prompt(&text);
                }
                ResultOrCorrection::Correction(refused) => {
                    let why = format!("its handoff was refused twice: {}", refused.why());
                    return Ok(Ok(AttemptResult::Failed(why)));
                }
            }
        }
        unreachable!("the second round has an end")
    }

    /// Starts the program and waits for its end.
    async fn play(
        &mut self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
        prompt: &str,
    ) -> Result<Result<Supervised, std::io::Error>, AttemptFailure> {
        let folder = self.record.dir(&self.context.state)?;
        folder.write_atomic(PROMPT, prompt.as_bytes(), FileMode::Private)?;
        let written = folder.make_dirs(WRITTEN, FileMode::Private)?;
        let brief = AttemptBrief {
            env: self.environment(settings, workspace, &written)?,
            folder: workspace.path.clone(),
            prompt,
            prompt_file: folder.real_path()?.join(PROMPT),
        };
        let spec = executor(settings, &self.context.project, &self.context.program).program(brief);
        let program = match RunningProgram::start(&spec) {
            Ok(program) => program,
            Err(error) => return Ok(Err(error)),
        };
        self.record.process = Some(program.mark);
        self.reach(AttemptStage::AgentStarted)?;
        self.tell_start(settings);
        let secrets = self.secrets(settings);
        let context = self.context.clone();
        Ok(Ok(supervise(&context, &self.record, settings, program, secrets, &mut self.stop).await))
    }

    /// Not waited for: the agent is at work already.
    fn tell_start(&self, settings: &ExecutorSettings) {
        let record = &self.record;
        let text = format!(
            "{} is with `{}` (executor `{}`, attempt {}). The prompt has the hash {}, the package in it {}",
            record.label,
            record.agent,
            settings.name,
            record.attempt,
            record.prompt_hash.as_deref().unwrap_or("none"),
            record.package_hash.as_deref().unwrap_or("none"),
        );
        let (context, run) = (self.context.clone(), record.run);
        tokio::spawn(async move {
            let _ = context.client.say(run, None, text).await;
        });
    }

    /// Exactly this, and nothing else of the runner's environment.
    fn environment(
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

    fn secrets(&self, settings: &ExecutorSettings) -> Vec<String> {
        let passed_on = self.context.env.iter().filter(|(name, _)| settings.env.contains(name));
        let values = passed_on.map(|(_, value)| value.clone());
        values.chain([self.record.key.token.clone()]).collect()
    }

    fn store_output(&self, output: &str) -> Result<(), FileError> {
        let folder = self.record.dir(&self.context.state)?;
        folder.write_atomic(OUTPUT, output.as_bytes(), FileMode::Private)
    }

    /// Goes on after the agent's end, with what is on disk of it.
    async fn result_of_stored(&mut self) -> Result<AttemptResult, AttemptFailure> {
        let folder = self.record.dir(&self.context.state)?;
        let output = folder.read(OUTPUT, MOST_OUTPUT_BYTES)?;
        match self.result(&String::from_utf8_lossy(&output)).await? {
            ResultOrCorrection::Result(result) => Ok(result),
            // The agent is not there any more, so it cannot correct it.
            ResultOrCorrection::Correction(refused) => {
                Ok(AttemptResult::Failed(format!("its handoff was refused: {}", refused.why())))
            }
        }
    }

    async fn result(&mut self, output: &str) -> Result<ResultOrCorrection, AttemptFailure> {
        use ResultOrCorrection::{Correction, Result};
        let end = self.record.end.clone();
        match &end {
            Some(AgentEnd::Stopped) => {
                let why = "the runner was told to stop".to_owned();
                return Ok(Result(AttemptResult::GivenBack(why)));
            }
            Some(AgentEnd::Lost) => {
                let why = "its lease was lost".to_owned();
                return Ok(Result(AttemptResult::Lost(why)));
            }
            Some(AgentEnd::Over) => {
                let how = "it handed on by itself, and was ended".to_owned();
                return Ok(Result(AttemptResult::HandedOff(how)));
            }
            Some(
                AgentEnd::Exited { .. }
                | AgentEnd::TimedOut { .. }
                | AgentEnd::TooMuchOutput { .. },
            )
            | None => {}
        }
        if let Some(over) = self.is_over().await {
            return Ok(Result(over));
        }
        // What an agent printed before it was ended was not meant as its last word.
        let has_ended_itself = matches!(end, Some(AgentEnd::Exited { .. }));
        let written =
            self.record.dir(&self.context.state)?.make_dirs(WRITTEN, FileMode::Private)?;
        let left =
            if has_ended_itself { left_behind(output, &written) } else { LeftBehind::Nothing };
        match left {
            LeftBehind::Nothing => {
                Ok(Result(AttemptResult::Failed(without_handing_off(end.as_ref()))))
            }
            LeftBehind::Broken { why } => Ok(Correction(RefusedDocument::Broken(why))),
            LeftBehind::Document(left) => {
                let name = format!("result-{}", self.record.round);
                let key = &self.record.key;
                match self.context.client.document(key, left.format, &left.text, &name).await {
                    Ok(true) => {
                        let how = format!("its handoff was taken from what it left {}", left.place);
                        Ok(Result(AttemptResult::HandedOff(how)))
                    }
                    Ok(false) => {
                        let why =
                            "its last document is a note of progress, not a handoff".to_owned();
                        Ok(Result(AttemptResult::Failed(why)))
                    }
                    Err(ApiFailure::Refused(problem)) => {
                        Ok(Correction(RefusedDocument::Refused(problem)))
                    }
                    Err(error @ ApiFailure::Unreachable(_)) => Err(error.into()),
                }
            }
        }
    }

    /// Whether the work is this attempt's no more, and so was handed on by the agent itself.
    async fn is_over(&self) -> Option<AttemptResult> {
        loop {
            match self.context.client.heartbeat(&self.record.key).await {
                Ok(()) => return None,
                Err(ApiFailure::Refused(problem)) => {
                    return Some(if crate::supervise::is_lost(&problem) {
                        AttemptResult::Lost("its lease was lost".to_owned())
                    } else {
                        AttemptResult::HandedOff("it handed on by itself".to_owned())
                    });
                }
                // The server is being started again: its leases wait for it, and so do we.
                Err(ApiFailure::Unreachable(_)) if !*self.stop.borrow() => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(ApiFailure::Unreachable(_)) => return None,
            }
        }
    }

    /// Ends the attempt: tells the run, keeps what was not committed, and records the end.
    async fn finish(&mut self, result: Result<AttemptResult, AttemptFailure>) {
        let _ = end_orphans(self.record.process, &self.record.key.token);
        let result = match result {
            Ok(result) => result,
            Err(AttemptFailure::Untrusted) => {
                AttemptResult::GivenBack(AttemptFailure::Untrusted.to_string())
            }
            Err(error) => AttemptResult::Failed(error.to_string()),
        };
        match result {
            AttemptResult::HandedOff(_) => self.context.workspaces.forget_kept(self.record.run),
            // Before anyone else gets the work.
            AttemptResult::Failed(_) | AttemptResult::Lost(_) | AttemptResult::GivenBack(_) => {
                self.keep_alive(self.keep_changes()).await;
            }
        }
        let text = match &result {
            AttemptResult::HandedOff(how) => how.clone(),
            AttemptResult::Failed(why) => {
                self.fail(why).await;
                format!("failed: {why}")
            }
            AttemptResult::Lost(why) => format!("lost: {why}"),
            AttemptResult::GivenBack(why) => {
                match self.context.client.release(&self.record.key, why).await {
                    Ok(()) => format!("given back: {why}"),
                    Err(error) => format!("lost: {why}; {error}"),
                }
            }
        };
        self.record.result = Some(text);
        if let Err(error) = self.reach(AttemptStage::HandedOff) {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "the end of an attempt could not be recorded");
        }
    }

    async fn fail(&self, why: &str) {
        let reason = format!("{FAILURE}{why}");
        if let Err(error) = self.context.client.lose(&self.record.key, &reason).await {
            let code = error.code().unwrap_or("unreachable").to_owned();
            tracing::warn!(handoff = self.record.number, code, "a failure could not be recorded");
        }
    }

    async fn keep_changes(&self) {
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
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(
                    error,
                    "what an agent left uncommitted could not be kept under a ref"
                );
            }
        }
    }

    async fn say(&self, text: String) {
        // What is said is not worth the work itself.
        let _ = self.context.client.say(self.record.run, None, text).await;
    }

    fn reach(&mut self, stage: AttemptStage) -> Result<(), FileError> {
        self.record.stage = stage;
        self.record.save(&self.context.state)
    }
}

enum ResultOrCorrection {
    Result(AttemptResult),
    Correction(RefusedDocument),
}

/// What an attempt has to know of the one before it.
fn note(workspace: &WorkspaceRecord) -> String {
    let Some(KeptChanges { name, commit }) = &workspace.kept else { return String::new() };
    format!(
        "\n\n# An earlier attempt\n\nAn earlier attempt at this work ended before it was handed on. What it \
         left uncommitted is still in the folder, and is kept as commit {commit} under `{name}`.\n"
    )
}

/// Heartbeats go out four times within a lease.
pub(crate) fn heartbeat_every(lease_seconds: u32) -> Duration {
    Duration::from_secs(lease_seconds.into()) / 4
}

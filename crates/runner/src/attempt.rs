//! One attempt, from the claim to the result. Each stage is on disk before the next begins.

mod ending;
mod environment;
mod files;
mod limits;
mod messages;
mod taking;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_api::Claim;
use baton_core::hash::Hash;
use baton_files::{Dir, FileError, FileMode, fail_point};
use baton_wire::project_file::runner::ExecutorSettings;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use self::limits::KnownLimits;
pub use self::messages::{RunnerNote, runner_note};
use self::messages::{note, switch_sentence};
use crate::RunnerContext;
use crate::client::ApiFailure;
use crate::executor::{AttemptBrief, Executor, OutputForm, command_words, executor};
use crate::masking::Masking;
use crate::process::{ProgramSpec, RunningProgram};
use crate::record::{AgentEnd, AttemptRecord, AttemptStage, OUTPUT, WRITTEN, prompt_file};
use crate::result::{LeftBehind, RefusedDocument, last_words, left_behind, without_handing_off};
use crate::supervise::{OutputReading, Supervised, WatchedProgram, heartbeats_during, supervise};
use crate::transcript::Transcript;
use crate::trust::foreign_file;
use crate::turns::AgentSlot;
use crate::workspace::{WorkspaceError, WorkspaceRecord};

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
    #[error(
        "`{}` in the workspace is not the one in the project that was trusted, and it, or what it says, would be \
         started from there; take the change over into the project and type `baton trust`, or undo it",
        .0.display()
    )]
    ForeignFile(PathBuf),
}

/// How an attempt ended.
enum AttemptResult {
    /// The agent sent it by itself, or it was taken from what the agent left.
    HandedOff(String),
    /// The agent left nothing that could be taken.
    Failed(String),
    /// The agent is at a limit of its own: a person is asked.
    Limited(String),
    /// It is not this attempt's any more.
    Lost(String),
    /// To be offered again.
    GivenBack(String),
    /// Every executor is at its rate limit: to be offered again when the first of them ends.
    Waiting { why: String, until: Timestamp },
}

/// An executor could not do the work, and another may.
struct Unavailable {
    why: String,
    /// Its provider refuses requests until this time.
    limited_until: Option<Timestamp>,
}

/// For a program that cannot.
const COMMITTED_FOR_YOU: &str = "\n\n# Do not commit\n\nYou cannot write to the repository's own folder. Leave your \
     changes in the files: they are committed for you when you have handed on.\n";

/// A handoff that was interrupted so often by the runner's own end is a failure.
const MOST_INTERRUPTIONS: usize = 3;
const MOST_OUTPUT_BYTES: u64 = 16 << 20;
const MOST_SAYING: Duration = Duration::from_secs(2);

/// Works on a claim until its result is taken.
pub(crate) async fn work(
    context: Arc<RunnerContext>,
    claim: Claim,
    mut slot: AgentSlot,
    stop: watch::Receiver<bool>,
) {
    let record = AttemptRecord::new(&claim);
    let turn = context.turns.of(record.run);
    let mut attempt = AttemptRun::new(context, record, stop);
    attempt.pass("answered");
    let _turn = attempt.keep_alive(slot.take_turn(&turn, &attempt.context.slots)).await;
    let result = attempt.begin().await;
    attempt.finish(result).await;
}

/// An attempt that an earlier runner left.
pub(crate) struct LeftAttempt {
    pub(crate) record: AttemptRecord,
    /// How many attempts at the same handoff there are in the records.
    pub(crate) n_before: usize,
    /// How many of its processes were still there.
    pub(crate) n_ended: usize,
}

/// Takes up an attempt that an earlier runner left: goes on after *agent finished*, else gives the work
/// back. Its orphaned processes are ended already.
pub(crate) async fn take_up(
    context: Arc<RunnerContext>,
    left: LeftAttempt,
    stop: watch::Receiver<bool>,
) {
    let LeftAttempt { record, n_before, n_ended } = left;
    let turn = context.turns.of(record.run);
    let mut attempt = AttemptRun::new(context, record, stop);
    let _turn = attempt.keep_alive(turn.begin()).await;
    if n_ended > 0 {
        let text =
            format!("{n_ended} processes of the attempt before were still there, and are ended");
        attempt.say(text).await;
    }
    let result = match attempt.record.stage {
        AttemptStage::AgentFinished => {
            attempt.record_usage().await;
            attempt.result_of_stored().await
        }
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
    /// Done when everything that the agent printed is said on the run.
    said: Option<JoinHandle<()>>,
    /// What is in nothing that the attempt hands on or says.
    masking: Masking,
}

impl AttemptRun {
    fn new(
        context: Arc<RunnerContext>,
        record: AttemptRecord,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let masking = environment::masking(&context, &record);
        Self { context, record, stop, said: None, masking }
    }

    async fn begin(&mut self) -> Result<AttemptResult, AttemptFailure> {
        self.reach(AttemptStage::Claimed)?;
        if let Some(why) = self.limit_reached().await? {
            return Ok(AttemptResult::Limited(why));
        }
        let workspace = self.workspace().await?;
        self.record.base = self.keep_alive(self.base(&workspace)).await;
        self.masking = std::mem::take(&mut self.masking).with_workspace(&workspace.path);
        self.reach(AttemptStage::WorkspaceReady)?;
        let executors = self.executors();
        let mut whys = Vec::new();
        let mut limits = Vec::new();
        for (index, settings) in executors.iter().enumerate() {
            let unavailable = match self.known_limit(settings) {
                Some(limited) => limited,
                None => match self.try_executor(settings, &workspace).await? {
                    Ok(result) => return Ok(result),
                    Err(unavailable) => unavailable,
                },
            };
            let why = format!("`{}` {}", settings.name, unavailable.why);
            limits.extend(unavailable.limited_until);
            if let Some(next) = executors.get(index + 1) {
                self.say(switch_sentence(&why, &next.name)).await;
            }
            whys.push(why);
        }
        let why = whys.join("; ");
        match limits.into_iter().min() {
            Some(until) => Ok(AttemptResult::Waiting { why, until }),
            None if why.is_empty() => Err(AttemptFailure::Start("this agent has none".to_owned())),
            None => Err(AttemptFailure::Start(why)),
        }
    }

    /// What the program would take from its workspace is what was trusted.
    fn check_files(
        &self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
    ) -> Result<(), AttemptFailure> {
        let words = command_words(&settings.kind);
        let (project, own) = (&self.context.project, &self.context.settings.env);
        let foreign = foreign_file(project, &Dir::open(&workspace.path)?, words, own);
        foreign.map_or(Ok(()), |file| Err(AttemptFailure::ForeignFile(file)))
    }

    async fn workspace(&self) -> Result<WorkspaceRecord, AttemptFailure> {
        let story = self.keep_alive(self.context.client.story(&self.record.story)).await?;
        let prepare = self.keep_alive(self.context.workspaces.prepare(
            self.record.run,
            self.record.run_number,
            &story,
        ));
        let workspace = prepare.await?;
        if workspace.is_worktree && workspace.branch != story.branch {
            // So that prompts name the branch that the work is on.
            let set = self.context.client.set_branch(&story, workspace.branch.as_deref());
            self.keep_alive(set).await?;
        }
        Ok(workspace)
    }

    /// Heartbeats while something else takes its time.
    async fn keep_alive<T>(&self, work: impl Future<Output = T>) -> T {
        heartbeats_during(&self.context, &self.record, work).await
    }

    async fn try_executor(
        &mut self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
    ) -> Result<Result<AttemptResult, Unavailable>, AttemptFailure> {
        let permits = &self.context.clone().permits;
        let _permit = self.keep_alive(permits.begin(&settings.name)).await;
        if !self.context.is_trusted() {
            return Err(AttemptFailure::Untrusted);
        }
        self.check_files(settings, workspace)?;
        self.run_with(settings, workspace).await
    }

    /// Runs the agent with one executor. The inner error: another may go on.
    async fn run_with(
        &mut self,
        settings: &ExecutorSettings,
        workspace: &WorkspaceRecord,
    ) -> Result<Result<AttemptResult, Unavailable>, AttemptFailure> {
        let (client, url) = (&self.context.client, self.context.url());
        let prompt = client.prompt(&self.record.key, &url, settings.interface);
        let prompt = self.keep_alive(prompt).await?;
        let prompt_text = self.for_prompt(&prompt.text);
        self.record.executor = Some(settings.name.clone());
        self.record.package_hash.clone_from(&prompt.package_hash);
        let mut session = workspace.session_of(&self.record.agent, &settings.name);
        let executor = executor(settings, &self.context.project, &self.context.program);
        let commits_itself = executor.can_commit() || !workspace.is_worktree;
        let prompt_of = |session: Option<&str>| {
            let commits = if commits_itself { "" } else { COMMITTED_FOR_YOU };
            format!("{prompt_text}{}{commits}", note(workspace, session))
        };
        let mut text = prompt_of(session.as_deref());
        let mut refused_before: Option<RefusedDocument> = None;
        let mut round = 1;
        loop {
            self.record.round = round;
            self.record.prompt_hash = Some(Hash::of(text.as_bytes()).to_string());
            let how = (settings, executor.as_ref());
            let ended = match self.play(how, workspace, &text, session.clone()).await? {
                Ok(ended) if session.is_some() && ended.has_lost_its_session() => {
                    self.say(format!(
                        "`{}` cannot go on with its conversation, and starts over",
                        settings.name
                    ))
                    .await;
                    self.context.workspaces.forget_session(self.record.run);
                    session = None;
                    text = match &refused_before {
                        Some(refused) => refused.prompt(&prompt_of(None)),
                        None => prompt_of(None),
                    };
                    continue;
                }
                Ok(ended) => ended,
                Err(error) => {
                    let why = format!("could not be started: {error}");
                    return Ok(Err(Unavailable { why, limited_until: None }));
                }
            };
            let output = self.keep_end(ended, settings).await?;
            match self.result(&output).await? {
                ResultOrCorrection::Result(AttemptResult::Failed(why)) => {
                    return Ok(match self.limited(settings) {
                        Some(unavailable) => Err(unavailable),
                        None => Ok(AttemptResult::Failed(why)),
                    });
                }
                ResultOrCorrection::Result(result) => return Ok(Ok(result)),
                ResultOrCorrection::Correction(refused) if refused_before.is_none() => {
                    self.say(format!(
                        "`{}` handed on what was refused, and gets it back once: {}",
                        self.record.agent,
                        refused.why()
                    ))
                    .await;
                    session.clone_from(&self.record.report.session);
                    round = 2;
                    // A conversation that goes on has the prompt already.
                    text = refused.prompt(if session.is_some() { "" } else { &text });
                    refused_before = Some(refused);
                }
                ResultOrCorrection::Correction(refused) => {
                    let why = format!("its handoff was refused twice: {}", refused.why());
                    return Ok(Ok(AttemptResult::Failed(why)));
                }
            }
        }
    }

    /// Starts the program and waits for its end.
    async fn play(
        &mut self,
        (settings, executor): (&ExecutorSettings, &dyn Executor),
        workspace: &WorkspaceRecord,
        prompt: &str,
        session: Option<String>,
    ) -> Result<Result<Supervised, std::io::Error>, AttemptFailure> {
        let folder = self.record.dir(&self.context.state)?;
        let prompt_file = prompt_file(self.record.round);
        folder.write_atomic(&prompt_file, prompt.as_bytes(), FileMode::Private)?;
        let written = folder.make_dirs(WRITTEN, FileMode::Private)?;
        let brief = AttemptBrief {
            env: self.environment(settings, workspace, &written)?,
            folder: workspace.path.clone(),
            prompt,
            prompt_file: folder.real_path()?.join(prompt_file),
            interface: settings.interface,
            session,
            micro_usd_left: self.record.budget.less(&self.record.used).micro_usd,
        };
        let form = executor.output(&brief);
        let (program, reading) = match start(&executor.program(brief), form) {
            Ok(started) => started,
            Err(error) => return Ok(Err(error)),
        };
        self.record.process = Some(program.mark);
        self.reach(AttemptStage::AgentStarted)?;
        self.tell_start(settings);
        let masking = self.masking.clone();
        let context = self.context.clone();
        let watched = WatchedProgram { program, reading, masking };
        Ok(Ok(supervise(&context, &self.record, settings, watched, &mut self.stop).await))
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
                let why = "the work is not its own any more".to_owned();
                return Ok(Result(AttemptResult::Lost(why)));
            }
            Some(AgentEnd::Over) => {
                self.commit_handed_on().await;
                let how = "it handed on by itself, and was ended".to_owned();
                return Ok(Result(AttemptResult::HandedOff(how)));
            }
            Some(
                AgentEnd::Exited { .. }
                | AgentEnd::TurnEnded { .. }
                | AgentEnd::TimedOut { .. }
                | AgentEnd::TooMuchOutput { .. }
                | AgentEnd::OverBudget { .. },
            )
            | None => {}
        }
        if let Some(over) = self.result_if_lost().await {
            if matches!(over, AttemptResult::HandedOff(_)) {
                self.commit_handed_on().await;
            }
            return Ok(Result(over));
        }
        let written =
            self.record.dir(&self.context.state)?.make_dirs(WRITTEN, FileMode::Private)?;
        let left = match &end {
            // What was done and handed on is not thrown away; only what comes next has to wait.
            Some(AgentEnd::TimedOut { .. } | AgentEnd::OverBudget { .. }) => last_words(output),
            Some(end) if end.is_own() => left_behind(output, &written),
            // What an agent printed before it was ended was not meant as its last word.
            Some(_) | None => LeftBehind::NOTHING,
        };
        match left {
            LeftBehind::Nothing { near_miss } => {
                let near = near_miss.map(|it| format!("; {it}")).unwrap_or_default();
                let why = without_handing_off(end.as_ref()) + &near;
                Ok(Result(AttemptResult::Failed(why)))
            }
            LeftBehind::Broken { why } => Ok(Correction(RefusedDocument::Broken(why))),
            LeftBehind::Document(left) => self.take(&left).await,
        }
    }

    /// The result of an attempt whose work is not its own any more: the agent handed it on, or lost it.
    async fn result_if_lost(&self) -> Option<AttemptResult> {
        loop {
            match self.context.client.heartbeat(&self.record.key).await {
                Ok(()) => return None,
                Err(ApiFailure::Refused(problem)) => {
                    return Some(if crate::supervise::is_lost(&problem) {
                        AttemptResult::Lost("the work is not its own any more".to_owned())
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

    async fn say(&self, text: String) {
        // What is said is not worth the work itself.
        let text = self.masking.mask(&text);
        let _ = self.context.client.say(self.record.run, None, text).await;
    }

    fn reach(&mut self, stage: AttemptStage) -> Result<(), FileError> {
        self.record.stage = stage;
        self.record.save(&self.context.state)?;
        self.pass(stage.word());
        Ok(())
    }

    /// A place where a test can kill a process.
    fn pass(&self, place: &str) {
        fail_point::stage(&format!("{}:{place}", self.record.agent));
    }
}

/// Starts a program, with an open input where it is talked to.
fn start(
    spec: &ProgramSpec,
    form: OutputForm,
) -> Result<(RunningProgram, OutputReading), std::io::Error> {
    let reading = match form {
        OutputForm::Words => OutputReading::Words,
        OutputForm::Transcript(program) => OutputReading::Transcript(Transcript::new(program)),
        OutputForm::AgentConversation(brief) => {
            let (program, stdin) = RunningProgram::start_open(spec)?;
            return Ok((program, OutputReading::AgentConversation(brief, stdin)));
        }
    };
    Ok((RunningProgram::start(spec)?, reading))
}

enum ResultOrCorrection {
    Result(AttemptResult),
    Correction(RefusedDocument),
}

/// Heartbeats go out four times within a lease.
pub(crate) fn heartbeat_every(lease_seconds: u32) -> Duration {
    Duration::from_secs(lease_seconds.into()) / 4
}

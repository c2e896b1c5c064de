//! Runs agents: claims their work, makes a workspace, starts their programs, watches over them, and
//! takes their results.
//!
//! A runner is a client of `/api/v1`, in the server's process or elsewhere. It keeps what it has reached
//! on disk, so that the next one does nothing twice.

mod acp;
mod attempt;
mod branch;
mod checks;
mod client;
mod conversation;
mod detect;
mod dispatch;
mod executor;
mod files;
mod git;
mod masking;
mod once;
mod output;
mod package_check;
mod percent;
mod play;
mod process;
mod rate_limit;
mod record;
mod result;
mod status;
mod supervise;
mod transcript;
mod transport;
mod trust;
mod turns;
mod workspace;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use baton_core::names::AgentId;
use baton_files::{Access, Dir, FileError, FileHandle, FileMode};
use baton_wire::project_file::runner::{AgentSettings, ExecutorSettings, RunnerSettings};
use baton_wire::project_file::{self, ProjectCheck, ProjectFile};
use jiff::Timestamp;
use tokio::sync::watch;

pub use crate::attempt::{RunnerNote, runner_note};
pub use crate::checks::CheckStage;
pub use crate::detect::{DetectedProgram, ProgramLogin, detect, detect_acp};
pub use crate::git::{GitError, git_answer};
pub use crate::play::{PlayContext, PlayEnd, PlayError, play};
pub use crate::record::AttemptStage;
pub use crate::status::{AttemptStatus, CheckStatus, RunnerStatus, status};
pub use crate::transport::{ApiTransport, Unreachable};
pub use crate::trust::{Programs, TrustChange, TrustList};
pub use crate::workspace::{
    KeptChanges, WorkspaceError, WorkspaceRecord, Workspaces, has_workspace, worktree_of,
};

use crate::attempt::KnownLimits;
use crate::client::Client;
use crate::masking::Masking;
use crate::turns::{AgentSlots, ExecutorPermits, RunTurns};

/// What a runner works with.
pub struct RunnerOptions {
    pub settings: RunnerSettings,
    /// The checks of the project.
    pub checks: Vec<ProjectCheck>,
    /// The project's folder.
    pub project: Dir,
    /// The folder of its data.
    pub data: Dir,
    /// Where agents reach the server.
    pub url: String,
    /// The runner's own.
    pub credential: String,
    /// The only agents to run; all that have an executor where left out.
    pub agents: Option<Vec<AgentId>>,
    /// Of these, only agents whose files list one of these capabilities; all where there are none.
    pub capabilities: Vec<String>,
    /// The environment of this process.
    pub env: Vec<(String, String)>,
    /// This program, which plays scripts.
    pub program: PathBuf,
    /// What the user has allowed: anything else is not started. Read again before each start.
    pub trust: TrustList,
    /// The time.
    pub now: fn() -> Timestamp,
}

/// How long a runner goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerMode {
    Forever,
    /// Until there is nothing to do.
    Once,
}

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("another runner works in {path}; `baton runner status` shows what it does")]
    Busy { path: String },
    #[error(
        "the server at {url} does not take this runner's credential: {why}. Set `BATON_RUNNER_TOKEN` to the line in \
         `.baton/data/runner.key` of the server's project"
    )]
    CredentialRefused { url: String, why: String },
    #[error("{0}; correct `--capabilities`, or the agent's file on the server")]
    UnknownCapability(String),
}

/// A runner that is ready to start.
pub struct Runner {
    context: Arc<RunnerContext>,
    /// Only one runner has the records.
    _lock: FileHandle,
}

/// What the parts of a runner share.
pub(crate) struct RunnerContext {
    client: Client,
    workspaces: Workspaces,
    settings: RunnerSettings,
    checks: Vec<ProjectCheck>,
    project: Dir,
    state: Dir,
    url: String,
    only: Option<Vec<AgentId>>,
    capabilities: Vec<String>,
    env: Vec<(String, String)>,
    program: PathBuf,
    trust: TrustList,
    now: fn() -> Timestamp,
    turns: RunTurns,
    slots: AgentSlots,
    permits: ExecutorPermits,
    limits: KnownLimits,
}

pub(crate) const LOCK: &str = "runner.lock";

impl Runner {
    pub async fn open(
        options: RunnerOptions,
        transport: Arc<dyn ApiTransport>,
    ) -> Result<Self, RunnerError> {
        let state = options.data.make_dirs(record::FOLDER, FileMode::Private)?;
        let lock = state.open_file(LOCK, Access::WriteOrCreate)?;
        if lock.try_lock().is_err() {
            return Err(RunnerError::Busy { path: state.path().display().to_string() });
        }
        lock.overwrite(std::process::id().to_string().as_bytes())?;
        let project = options.project.again()?;
        let workspaces =
            Workspaces::open(project, &options.data, &options.settings, &options.env).await?;
        let permits = ExecutorPermits::new(&options.settings);
        let slots = AgentSlots::new(workspaces.most_at_once());
        let context = RunnerContext {
            client: Client::new(transport, options.credential),
            workspaces,
            settings: options.settings,
            checks: options.checks,
            project: options.project,
            state,
            url: options.url,
            only: options.agents,
            capabilities: options.capabilities,
            env: options.env,
            program: options.program,
            trust: options.trust,
            now: options.now,
            turns: RunTurns::default(),
            slots,
            permits,
            limits: KnownLimits::default(),
        };
        Ok(Self { context: Arc::new(context), _lock: lock })
    }

    /// Works until `stop` is done and the agents under way have ended, or, in [`RunnerMode::Once`],
    /// until nothing is left to do. An error if the server does not know this runner.
    pub async fn run(
        self,
        mode: RunnerMode,
        stop: impl Future<Output = ()>,
    ) -> Result<(), RunnerError> {
        let (stopping, stopped) = watch::channel(false);
        let work = async {
            match mode {
                RunnerMode::Forever => {
                    let agents =
                        dispatch::run(self.context.clone(), mode, is_told(stopped.clone()));
                    let checks = checks::run(self.context.clone(), stopped.clone());
                    let checks = async {
                        checks.await;
                        Ok(())
                    };
                    tokio::try_join!(agents, checks).map(|_| ())
                }
                // Checks that pass or fail give the agents more to do.
                RunnerMode::Once => loop {
                    dispatch::run(self.context.clone(), mode, is_told(stopped.clone())).await?;
                    let is_over = *stopped.borrow()
                        || !checks::once(&self.context, &stopped).await
                            && !once::wait_for_retry(&self.context, &stopped).await;
                    if is_over {
                        return Ok(());
                    }
                },
            }
        };
        tokio::pin!(work, stop);
        tokio::select! {
            ended = &mut work => return ended,
            () = &mut stop => {
                let _ = stopping.send(true);
            }
        }
        work.await
    }
}

/// Waits until the runner has to stop.
async fn is_told(mut stopped: watch::Receiver<bool>) {
    // The sender lives as long as the runner.
    if stopped.wait_for(|it| *it).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl RunnerContext {
    /// Where agents reach the server.
    fn url(&self) -> String {
        self.client.transport.url().unwrap_or_else(|| self.url.clone())
    }

    /// Whether this runner starts the agent.
    fn runs(&self, agent: &str) -> bool {
        let Ok(agent) = AgentId::parse(agent) else { return false };
        let is_wanted = self.only.as_ref().is_none_or(|it| it.contains(&agent));
        let is_program = !agent.is_human() && !agent.is_orchestrator();
        is_wanted && is_program && self.settings.agent(&agent).is_some()
    }

    fn agent_settings(&self, agent: &str) -> Option<&AgentSettings> {
        self.settings.agent(&AgentId::parse(agent).ok()?)
    }

    /// The executors of an agent, in the order to try.
    fn executors_of(&self, agent: &str) -> Vec<ExecutorSettings> {
        let names = self.agent_settings(agent).map(|it| &it.executors);
        let names = names.into_iter().flatten();
        names.filter_map(|it| self.settings.executor(it)).cloned().collect()
    }

    /// What no text has that leaves this runner: secrets that any program is given, and the home of the user. One
    /// agent can leave in the workspace what another one, or a check, prints.
    fn masking(&self) -> Masking {
        let names: HashSet<&String> =
            self.settings.executors.iter().flat_map(|it| &it.env).collect();
        let passed_on = self.env.iter().filter(|(name, _)| names.contains(name));
        let variables = passed_on.chain(&self.settings.env);
        let home = self.env.iter().find(|(name, _)| name == "HOME").map(|it| it.1.as_str());
        let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
        Masking::of_variables(variables).with_home(home)
    }

    /// Whether what would be started is what the user has allowed.
    fn is_trusted(&self) -> bool {
        if !self.has_current_settings() {
            return false;
        }
        let wanted = Programs::of(&self.project, &self.settings, &self.checks, &self.env);
        if wanted.is_empty() {
            return true;
        }
        let allowed = self.project.real_path().and_then(|it| self.trust.trusted(&it));
        allowed.is_ok_and(|it| wanted.is_allowed_by(&it))
    }

    /// Whether the project's file still says what this runner started with.
    fn has_current_settings(&self) -> bool {
        let file =
            match self.project.read_text(".baton/baton.toml", project_file::MOST_BYTES as u64) {
                Err(error) if error.is_not_found() => Ok(ProjectFile::default()),
                Err(_) => return false,
                Ok(text) => project_file::parse(&text),
            };
        file.is_ok_and(|it| it.runner == self.settings && it.checks == self.checks)
    }
}

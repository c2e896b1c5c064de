//! What a runner is doing, read from its records.

use baton_files::{Access, Dir, FileError};

use crate::checks::{self, CheckStage};
use crate::record::{self, AttemptStage, FOLDER};

/// A runner of a project, as its folder shows it.
pub struct RunnerStatus {
    /// The process that works here now.
    pub pid: Option<u32>,
    /// The attempts that are not over, and the newest ones that are.
    pub attempts: Vec<AttemptStatus>,
    /// The checks that are run now, or whose results are on their way.
    pub checks: Vec<CheckStatus>,
}

/// The checks of one parked handoff.
pub struct CheckStatus {
    pub number: u64,
    /// The number of its run.
    pub run: u64,
    pub label: String,
    pub story: String,
    pub checks: Vec<String>,
    pub stage: CheckStage,
}

pub struct AttemptStatus {
    pub number: u64,
    /// The number of its run.
    pub run: u64,
    pub label: String,
    pub story: String,
    pub agent: String,
    pub attempt: u32,
    pub executor: Option<String>,
    pub stage: AttemptStage,
    /// How it ended, in a sentence.
    pub result: Option<String>,
}

/// How many attempts that are over are shown.
const MOST_OVER: usize = 10;

/// The runner of the project whose data is here.
pub fn status(data: &Dir) -> Result<RunnerStatus, FileError> {
    let state = match data.subdir(FOLDER) {
        Err(error) if error.is_not_found() => {
            return Ok(RunnerStatus { pid: None, attempts: Vec::new(), checks: Vec::new() });
        }
        state => state?,
    };
    let pid = match state.open_file(crate::LOCK, Access::Read) {
        Ok(mut lock) if lock.try_lock().is_err() => {
            String::from_utf8_lossy(&lock.read_all(32)?).trim().parse().ok()
        }
        Ok(_) | Err(_) => None,
    };
    let (over, open): (Vec<_>, Vec<_>) =
        record::all(&state)?.into_iter().partition(|it| it.stage == AttemptStage::HandedOff);
    let newest = over.into_iter().rev().take(MOST_OVER).rev();
    let attempts = open.into_iter().chain(newest).map(|it| AttemptStatus {
        number: it.number,
        run: it.run_number,
        label: it.label,
        story: it.story,
        agent: it.agent,
        attempt: it.attempt,
        executor: it.executor,
        stage: it.stage,
        result: it.result,
    });
    let checks = checks::under_way(&state)?;
    Ok(RunnerStatus { pid, attempts: attempts.collect(), checks })
}

impl CheckStage {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claimed => "running",
            Self::Finished => "finished",
            Self::Reported => "reported",
        }
    }
}

impl AttemptStage {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::WorkspaceReady => "workspace ready",
            Self::AgentStarted => "agent at work",
            Self::AgentFinished => "agent finished",
            Self::HandedOff => "over",
        }
    }
}

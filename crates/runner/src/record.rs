//! Attempts on disk: what a runner had reached when it was killed, so that the next one does nothing
//! twice.

use std::path::{Path, PathBuf};

use baton_api::Claim;
use baton_core::budget::{Budget, BudgetUnit, Usage};
use baton_files::{Dir, FileError, FileMode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::process::ProcessMark;
use crate::transcript::AgentReport;

/// Which attempt it is, and what it may do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AttemptKey {
    pub(crate) handoff: Uuid,
    pub(crate) fence: u32,
    /// The attempt token, which is dead with the lease.
    pub(crate) token: String,
}

/// How far an attempt has come. Each stage is on disk before the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStage {
    Claimed,
    WorkspaceReady,
    AgentStarted,
    AgentFinished,
    HandedOff,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AttemptRecord {
    pub(crate) key: AttemptKey,
    pub(crate) stage: AttemptStage,
    pub(crate) number: u64,
    pub(crate) label: String,
    pub(crate) run: Uuid,
    pub(crate) run_number: u64,
    pub(crate) story: String,
    pub(crate) agent: String,
    /// 1, plus one for each retry of the same work.
    pub(crate) attempt: u32,
    pub(crate) lease_seconds: u32,
    pub(crate) executor: Option<String>,
    pub(crate) prompt_hash: Option<String>,
    pub(crate) package_hash: Option<String>,
    pub(crate) process: Option<ProcessMark>,
    /// How the agent's program ended.
    pub(crate) end: Option<AgentEnd>,
    /// What its program said of itself.
    #[serde(default)]
    pub(crate) report: AgentReport,
    /// What the agent might use when the work was claimed.
    #[serde(default)]
    pub(crate) budget: Budget,
    /// What the programs before this one used of it.
    #[serde(default)]
    pub(crate) used: Usage,
    /// What was in the workspace before the agent began: a commit or a tree.
    #[serde(default)]
    pub(crate) base: Option<String>,
    /// How the attempt ended, in a sentence.
    pub(crate) result: Option<String>,
    /// 1; 2 after a correction.
    pub(crate) round: u32,
}

/// When lost work is tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AttemptRetry {
    /// After a moment, as often as the workflow says.
    AsUsual,
    At(Timestamp),
    /// When a person has said so.
    AskFirst,
}

/// How an agent's program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentEnd {
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// It ended its turn of a conversation.
    TurnEnded {
        stop: TurnStop,
    },
    TimedOut {
        seconds: u64,
    },
    TooMuchOutput {
        bytes: u64,
    },
    /// The work is not this attempt's any more.
    Over,
    /// The lease was lost.
    Lost,
    /// The runner had to stop.
    Stopped,
    /// It has used what it may.
    OverBudget {
        unit: BudgetUnit,
    },
}

/// Why an agent's turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnStop {
    /// It has said what it had to say.
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    /// The model will not do it.
    Refusal,
    Cancelled,
    /// The agent, or the conversation with it, broke.
    Error(String),
}

/// The folder of a runner's state, inside the data folder.
pub(crate) const FOLDER: &str = "runner";
pub(crate) const ATTEMPTS: &str = "attempts";
const RECORD: &str = "attempt.json";
pub(crate) const OUTPUT: &str = "output.txt";
/// What the agent gets as `OUTPUT_DIRECTORY`.
pub(crate) const WRITTEN: &str = "output";
const MOST_RECORD_BYTES: u64 = 1 << 20;
/// Older attempts are forgotten when a runner starts.
const MOST_KEPT: usize = 500;

/// The exact prompt of a round: the second one has a file of its own.
pub(crate) fn prompt_file(round: u32) -> String {
    if round == 1 { "prompt.md".to_owned() } else { format!("prompt-{round}.md") }
}

impl AgentEnd {
    /// True if the program came to its end by itself: what it said last is its last word.
    pub(crate) fn is_own(&self) -> bool {
        match self {
            Self::Exited { .. } | Self::TurnEnded { stop: TurnStop::EndTurn } => true,
            Self::TurnEnded {
                stop:
                    TurnStop::MaxTokens
                    | TurnStop::MaxTurnRequests
                    | TurnStop::Refusal
                    | TurnStop::Cancelled
                    | TurnStop::Error(_),
            }
            | Self::TimedOut { .. }
            | Self::TooMuchOutput { .. }
            | Self::OverBudget { .. }
            | Self::Over
            | Self::Lost
            | Self::Stopped => false,
        }
    }
}

impl AttemptStage {
    /// As it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::WorkspaceReady => "workspace_ready",
            Self::AgentStarted => "agent_started",
            Self::AgentFinished => "agent_finished",
            Self::HandedOff => "handed_off",
        }
    }
}

impl AttemptKey {
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}", self.handoff.simple(), self.fence)
    }

    /// The same request of the same attempt is answered once, also where another runner sends it again.
    pub(crate) fn idempotency_key(&self, name: &str) -> String {
        format!("attempt-{}-{name}", self.folder())
    }
}

impl AttemptRecord {
    pub(crate) fn new(claim: &Claim) -> Self {
        let handoff = &claim.handoff;
        Self {
            key: AttemptKey { handoff: handoff.id, fence: claim.fence, token: claim.token.clone() },
            stage: AttemptStage::Claimed,
            number: handoff.number,
            label: handoff.label.clone(),
            run: claim.run.id,
            run_number: claim.run.number,
            story: handoff.story.clone(),
            agent: claim.agent.clone(),
            attempt: handoff.attempt,
            lease_seconds: claim.lease_seconds,
            executor: None,
            prompt_hash: None,
            package_hash: None,
            process: None,
            end: None,
            report: AgentReport::default(),
            budget: claim.budget.map_or_else(Budget::default, |it| Budget {
                tokens: it.tokens,
                micro_usd: it.micro_usd,
                work_ms: it.work_ms,
            }),
            used: Usage::default(),
            base: None,
            result: None,
            round: 1,
        }
    }

    /// The attempt's own folder.
    pub(crate) fn dir(&self, state: &Dir) -> Result<Dir, FileError> {
        state.make_dirs(Path::new(ATTEMPTS).join(self.key.folder()), FileMode::Private)
    }

    /// On disk before this returns.
    pub(crate) fn save(&self, state: &Dir) -> Result<(), FileError> {
        let text = match serde_json::to_vec_pretty(self) {
            Ok(text) => text,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        self.dir(state)?.write_atomic(RECORD, &text, FileMode::Private)
    }
}

/// Every attempt on disk, those that are not over first. A record that cannot be read is left alone.
pub(crate) fn all(state: &Dir) -> Result<Vec<AttemptRecord>, FileError> {
    let folder = state.make_dirs(ATTEMPTS, FileMode::Private)?;
    let mut records = Vec::new();
    for (name, entry) in folder.list()? {
        if !entry.is_folder() {
            continue;
        }
        let text = folder.read(PathBuf::from(&name).join(RECORD), MOST_RECORD_BYTES);
        match text.map(|it| serde_json::from_slice::<AttemptRecord>(&it)) {
            Ok(Ok(record)) => records.push(record),
            Ok(Err(_)) | Err(_) => {
                let name = name.to_string_lossy();
                tracing::warn!(%name, "the record of an attempt cannot be read; it is left as it is");
            }
        }
    }
    records.sort_by_key(|it| (it.stage == AttemptStage::HandedOff, it.number, it.key.fence));
    Ok(records)
}

/// Removes the oldest attempts that are over.
pub(crate) fn forget_old(state: &Dir, records: &[AttemptRecord]) -> Result<(), FileError> {
    let over: Vec<_> = records.iter().filter(|it| it.stage == AttemptStage::HandedOff).collect();
    let folder = state.make_dirs(ATTEMPTS, FileMode::Private)?;
    for record in over.iter().take(over.len().saturating_sub(MOST_KEPT)) {
        folder.remove(record.key.folder())?;
    }
    Ok(())
}

//! The requests and responses of the pipeline API (`/api/...`).

mod handoffs;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::handoffs::{ActionResult, HandoffListing, LeftOut, PipelineRow};

/// An action on a handoff. Each action takes its own fields.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PipelineAction {
    /// `create`, `accept`, `reject`, `timeout` or `cleanup`.
    pub action: String,
    /// For `create` and `cleanup`.
    pub story_id: Option<String>,
    /// For `create`.
    pub from_agent: Option<String>,
    /// For `create`.
    pub to_agent: Option<String>,
    /// For `create`: the package. For `accept`: the receiver's acknowledgement.
    pub payload: Option<serde_json::Value>,
    /// For all but `create` and `cleanup`.
    pub handoff_id: Option<u64>,
    /// For all but `accept`.
    pub reason: Option<String>,
    /// For `accept` and `reject`: the agent that does it.
    pub agent: Option<String>,
    /// For `accept`.
    pub lease_seconds: Option<u32>,
    /// For `create`.
    pub outcome: Option<String>,
    /// For `create`.
    pub supersedes: Option<u64>,
    /// For `create`.
    pub kind: Option<String>,
    /// For `create`.
    pub workflow: Option<String>,
}

/// An action on the run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PipelineRunAction {
    /// `start`, `continue`, `stop` or `reset`.
    pub action: String,
    pub story_id: Option<String>,
    pub workflow: Option<String>,
    /// Ignored.
    pub version: Option<serde_json::Value>,
    /// Ignored.
    pub config: Option<serde_json::Value>,
    /// For `continue`: `merge`, `feedback` and the like, as a string or as `{response, feedback}`.
    pub gate_response: Option<serde_json::Value>,
    /// For `stop`.
    pub reason: Option<String>,
}

/// The current story, the progress of all, and the current agent. `reset` lists what it cleared.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineRunState {
    pub success: bool,
    #[schema(example = "running")]
    pub status: Option<String>,
    pub current_story: Option<String>,
    pub run_id: Option<String>,
    pub agent_state: Option<PipelineAgentState>,
    pub gate: Option<PipelineGate>,
    pub progress: Option<PipelineProgress>,
    pub next: Option<String>,
    pub reason: Option<String>,
    /// For `start`: warnings about the story that it creates.
    pub warnings: Option<Vec<String>>,
    /// For `start` and `continue`: numbers of the handoffs that were timed out.
    pub timed_out: Option<Vec<u64>>,
    /// For `reset`.
    pub cleared_handoffs: Option<u64>,
    /// For `reset`.
    pub cleared: Option<Vec<u64>>,
    /// For `reset`.
    pub kept: Option<Vec<u64>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineAgentState {
    pub current_agent: Option<String>,
    pub phase: String,
    pub handoff_count: u64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineGate {
    pub handoff: String,
    #[serde(rename = "type")]
    pub cause: String,
    pub message: String,
    pub choices: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineProgress {
    pub total: u64,
    pub passed: u64,
    pub percentage: u64,
}

/// All agents, or with `name` one of them.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineAgents {
    pub agents: Option<Vec<PipelineAgent>>,
    pub name: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub role: Option<String>,
    pub capabilities: Option<Vec<String>>,
    pub prompt: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineAgent {
    pub name: String,
    pub title: String,
    pub description: String,
    pub role: String,
    pub capabilities: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineStory {
    pub id: String,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    pub depends_on: Vec<String>,
    pub priority: i64,
    pub working_branch: Option<String>,
    pub pr_url: Option<String>,
    #[schema(example = "in_progress")]
    pub status: String,
    pub created_at: String,
    pub phase: Option<String>,
    #[serde(rename = "currentAgent")]
    pub current_agent: Option<String>,
    pub passes: bool,
    pub merged: bool,
    #[serde(rename = "mergeCommit")]
    pub merge_commit: Option<String>,
}

/// An agent's or a person's report on a story from outside the run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineSignal {
    /// `passed` (or `complete`), `merged`, `blocked` or `progress`.
    pub action: String,
    pub story_id: String,
    /// For `blocked` and `progress`.
    pub message: Option<String>,
    pub pr_url: Option<String>,
    /// For `merged`: 4 to 64 hexadecimal digits.
    pub merge_commit: Option<String>,
}

/// The progress of a story.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineFlags {
    pub success: bool,
    pub story_id: String,
    pub status: String,
    pub pr_url: Option<String>,
    pub passes: bool,
    pub merged: bool,
    pub merge_commit: Option<String>,
}

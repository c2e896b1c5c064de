//! The requests and responses of the pipeline API, for the OpenAPI document.
#![expect(
    dead_code,
    reason = "the routes read and write documents; these types only describe them"
)]

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineQuery {
    story_id: Option<String>,
    agent: Option<String>,
    /// `true`, to list only handoffs that have waited for too long.
    stale: Option<String>,
    /// How long is too long, in minutes. At most a year.
    minutes: Option<String>,
}

/// An action on a handoff. Each action takes its own fields.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PipelineAction {
    /// `create`, `accept`, `reject`, `timeout` or `cleanup`.
    action: String,
    /// For `create` and `cleanup`.
    story_id: Option<String>,
    /// For `create`.
    from_agent: Option<String>,
    /// For `create`.
    to_agent: Option<String>,
    /// For `create`: the package. For `accept`: the receiver's acknowledgement.
    payload: Option<serde_json::Value>,
    /// For all but `create` and `cleanup`.
    handoff_id: Option<u64>,
    /// For all but `accept`.
    reason: Option<String>,
    /// For `accept` and `reject`: the agent that does it.
    agent: Option<String>,
    /// For `accept`.
    lease_seconds: Option<u32>,
    /// For `create`.
    outcome: Option<String>,
    /// For `create`.
    supersedes: Option<u64>,
    /// For `create`.
    kind: Option<String>,
    /// For `create`.
    workflow: Option<String>,
}

/// An action on the run.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PipelineRunAction {
    /// `start`, `continue`, `stop` or `reset`.
    action: String,
    story_id: Option<String>,
    workflow: Option<String>,
    /// Ignored.
    version: Option<serde_json::Value>,
    /// Ignored.
    config: Option<serde_json::Value>,
    /// For `continue`: `merge`, `feedback` and the like, as a string or as `{response, feedback}`.
    gate_response: Option<serde_json::Value>,
    /// For `stop`.
    reason: Option<String>,
}

/// The current story, the progress of all, and the current agent. `reset` lists what it cleared.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PipelineRunState {
    success: bool,
    #[schema(example = "running")]
    status: Option<String>,
    current_story: Option<String>,
    run_id: Option<String>,
    agent_state: Option<PipelineAgentState>,
    gate: Option<PipelineGate>,
    progress: Option<PipelineProgress>,
    next: Option<String>,
    reason: Option<String>,
    /// For `start`: warnings about the story that it creates.
    warnings: Option<Vec<String>>,
    /// For `start` and `continue`: numbers of the handoffs that were timed out.
    timed_out: Option<Vec<u64>>,
    /// For `reset`.
    cleared_handoffs: Option<u64>,
    /// For `reset`.
    cleared: Option<Vec<u64>>,
    /// For `reset`.
    kept: Option<Vec<u64>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PipelineAgentState {
    current_agent: Option<String>,
    phase: String,
    handoff_count: u64,
}

#[derive(Serialize, ToSchema)]
struct PipelineGate {
    handoff: String,
    #[serde(rename = "type")]
    cause: String,
    message: String,
    choices: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct PipelineProgress {
    total: u64,
    passed: u64,
    percentage: u64,
}

/// All agents, or with `name` one of them.
#[derive(Serialize, ToSchema)]
pub(super) struct PipelineAgents {
    agents: Option<Vec<PipelineAgent>>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    role: Option<String>,
    capabilities: Option<Vec<String>>,
    prompt: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct PipelineAgent {
    name: String,
    title: String,
    description: String,
    role: String,
    capabilities: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct PipelineStory {
    id: String,
    title: String,
    description: String,
    acceptance: Vec<String>,
    depends_on: Vec<String>,
    priority: i64,
    working_branch: Option<String>,
    pr_url: Option<String>,
    #[schema(example = "in_progress")]
    status: String,
    created_at: String,
    phase: Option<String>,
    #[serde(rename = "currentAgent")]
    current_agent: Option<String>,
    passes: bool,
    merged: bool,
    #[serde(rename = "mergeCommit")]
    merge_commit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineSignalQuery {
    #[param(min_length = 1, max_length = 200)]
    story_id: String,
}

/// An agent's or a person's report on a story from outside the run.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PipelineSignal {
    /// `passed` (or `complete`), `merged`, `blocked` or `progress`.
    action: String,
    story_id: String,
    /// For `blocked` and `progress`.
    message: Option<String>,
    pr_url: Option<String>,
    /// For `merged`: 4 to 64 hexadecimal digits.
    merge_commit: Option<String>,
}

/// The progress of a story.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PipelineFlags {
    success: bool,
    story_id: String,
    status: String,
    pr_url: Option<String>,
    passes: bool,
    merged: bool,
    merge_commit: Option<String>,
}

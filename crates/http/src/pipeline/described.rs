//! What seed 000's requests and answers look like, for the description.
#![expect(
    dead_code,
    reason = "the routes read and write documents; these types only describe them"
)]

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct SeedQuery {
    story_id: Option<String>,
    agent: Option<String>,
    /// `true`, to see only what nobody has moved.
    stale: Option<String>,
    /// How long nobody has, in minutes. At most a year.
    minutes: Option<String>,
}

/// An action on a handoff. Each takes its own fields.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SeedAction {
    /// `create`, `accept`, `reject`, `timeout` or `cleanup`.
    action: String,
    /// For `create` and `cleanup`.
    story_id: Option<String>,
    /// For `create`.
    from_agent: Option<String>,
    /// For `create`.
    to_agent: Option<String>,
    /// For `create`: what is handed over. For `accept`: what the receiver says.
    payload: Option<serde_json::Value>,
    /// For all but `create` and `cleanup`.
    handoff_id: Option<u64>,
    /// For all but `accept`.
    reason: Option<String>,
    /// For `accept` and `reject`: who does it.
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
pub(super) struct SeedRunAction {
    /// `start`, `continue`, `stop` or `reset`.
    action: String,
    story_id: Option<String>,
    workflow: Option<String>,
    /// Not looked at.
    version: Option<serde_json::Value>,
    /// Not looked at.
    config: Option<serde_json::Value>,
    /// For `continue`: `merge`, `feedback` and the like, as a text or as `{response, feedback}`.
    gate_response: Option<serde_json::Value>,
    /// For `stop`.
    reason: Option<String>,
}

/// The story under way, how far all have come, and who is at it. `reset` tells what it cleared.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeedRunState {
    success: bool,
    #[schema(example = "running")]
    status: Option<String>,
    current_story: Option<String>,
    run_id: Option<String>,
    agent_state: Option<SeedAgentState>,
    gate: Option<SeedGate>,
    progress: Option<SeedProgress>,
    next: Option<String>,
    reason: Option<String>,
    /// Of `start`, where there is something to know about the story that it makes.
    warnings: Option<Vec<String>>,
    /// Of `start` and `continue`: numbers of what was given up.
    timed_out: Option<Vec<u64>>,
    /// Of `reset`.
    cleared_handoffs: Option<u64>,
    /// Of `reset`.
    cleared: Option<Vec<u64>>,
    /// Of `reset`.
    kept: Option<Vec<u64>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SeedAgentState {
    current_agent: Option<String>,
    phase: String,
    handoff_count: u64,
}

#[derive(Serialize, ToSchema)]
struct SeedGate {
    handoff: String,
    #[serde(rename = "type")]
    cause: String,
    message: String,
    choices: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct SeedProgress {
    total: u64,
    passed: u64,
    percentage: u64,
}

/// All agents, or with `name` one of them.
#[derive(Serialize, ToSchema)]
pub(super) struct SeedAgents {
    agents: Option<Vec<SeedAgent>>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    role: Option<String>,
    capabilities: Option<Vec<String>>,
    prompt: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct SeedAgent {
    name: String,
    title: String,
    description: String,
    role: String,
    capabilities: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct SeedStory {
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
pub(super) struct SeedSignalQuery {
    #[param(min_length = 1, max_length = 200)]
    story_id: String,
}

/// What somebody says about a story from outside.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeedSignal {
    /// `passed` (or `complete`), `merged`, `blocked` or `progress`.
    action: String,
    story_id: String,
    /// For `blocked` and `progress`.
    message: Option<String>,
    pr_url: Option<String>,
    /// For `merged`: 4 to 64 hexadecimal digits.
    merge_commit: Option<String>,
}

/// How far a story has come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeedFlags {
    success: bool,
    story_id: String,
    status: String,
    pr_url: Option<String>,
    passes: bool,
    merged: bool,
    merge_commit: Option<String>,
}

//! The requests and responses of the pipeline API (`/api/...`).

mod actions;
mod handoffs;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

pub use self::actions::{
    PipelineAccept, PipelineAction, PipelineCleanUp, PipelineCreate, PipelineReject,
    PipelineTimeOut,
};
pub use self::handoffs::{ActionResult, EarlierRun, HandoffListing, LeftOut, PipelineRow};

/// An action on the run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "start", "storyId": "login"}))]
pub struct PipelineRunAction {
    /// `start`, `continue`, `stop` or `reset`.
    #[schema(pattern = "^(start|continue|stop|reset)$")]
    pub action: String,
    pub story_id: Option<String>,
    pub workflow: Option<String>,
    /// Ignored.
    pub version: Option<serde_json::Value>,
    /// Only `singleStoryId` is read, in the place of `storyId`: how agents are run is in the project's
    /// `baton.toml`.
    pub config: Option<serde_json::Value>,
    /// For `continue`: `merge`, `feedback` and the like, as a string or as `{response, feedback}`.
    #[schema(value_type = Option<serde_json::Value>)]
    pub gate_response: Option<Box<RawValue>>,
    /// For `stop`.
    pub reason: Option<String>,
}

/// The result of an action on the run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "one is made for each answer, and kept nowhere")]
pub enum PipelineRunAnswer {
    State(PipelineRunState),
    Reset(PipelineReset),
}

/// The current story, the progress of all, and the current agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineRunState {
    pub success: bool,
    #[schema(example = "running")]
    pub status: Cow<'static, str>,
    pub current_story: Option<String>,
    pub run_id: Option<String>,
    pub agent_state: Option<PipelineAgentState>,
    pub gate: Option<PipelineGate>,
    pub progress: PipelineProgress,
    pub next: Option<String>,
    /// The stories under way, at most 50, oldest first.
    #[serde(default)]
    pub stories: Vec<PipelineStoryProgress>,
    pub runner: PipelineRunner,
    pub reason: Option<String>,
    /// For `start` and `continue`: numbers of the handoffs that were timed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<Vec<u64>>,
    /// For `start`: what the contract recommends and the story lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What `reset` cleared.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineReset {
    pub success: bool,
    pub cleared_handoffs: u64,
    pub cleared: Vec<u64>,
    pub kept: Vec<u64>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineAgentState {
    pub current_agent: Option<String>,
    /// The agents of all branches, from a fan-out to its join.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub current_agents: Vec<String>,
    pub phase: String,
    pub handoff_count: u64,
}

/// How far one story is, and who has it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineStoryProgress {
    pub story_id: String,
    pub run_id: String,
    #[schema(example = "running")]
    pub status: Cow<'static, str>,
    #[serde(flatten)]
    pub agent_state: PipelineAgentState,
    /// The label of the handoff that the current agent was offered or holds.
    pub handoff: Option<String>,
    /// Whether the current agent has taken it.
    pub is_held: bool,
    /// 1, plus one for each retry of the same work.
    pub attempt: Option<u32>,
}

/// The programs that run agents, as far as the server knows of them.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineRunner {
    /// Whether a runner was heard of within the last minute.
    pub is_there: bool,
    /// The agents that it last asked for work for.
    pub agents: Vec<String>,
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
#[serde(untagged)]
pub enum PipelineAgents {
    All { agents: Vec<PipelineAgent> },
    One(PipelineAgent),
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PipelineAgent {
    pub name: String,
    pub title: String,
    pub description: String,
    pub role: String,
    pub capabilities: Vec<String>,
    /// Only with `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
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
    pub status: Cow<'static, str>,
    pub created_at: String,
    pub phase: Option<String>,
    #[serde(rename = "currentAgent")]
    pub current_agent: Option<String>,
    /// The agents of all branches, from a fan-out to its join.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "currentAgents")]
    pub current_agents: Vec<String>,
    pub passes: bool,
    pub merged: bool,
    #[serde(rename = "mergeCommit")]
    pub merge_commit: Option<String>,
}

/// An agent's or a person's report on a story from outside the run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "progress", "storyId": "login", "message": "Half of it is done."}))]
pub struct PipelineSignal {
    /// `passed` (or `complete`), `merged`, `blocked` or `progress`.
    #[schema(pattern = "^(passed|complete|merged|blocked|progress)$")]
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
    pub status: Cow<'static, str>,
    pub pr_url: Option<String>,
    pub passes: bool,
    pub merged: bool,
    pub merge_commit: Option<String>,
}

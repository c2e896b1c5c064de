//! Runs, and the requests that start and steer them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::usage::RunUsage;
use crate::word::{BatonWord, ModeWord, RerouteCauseWord, StatusWord, WaitWord};

/// One story going through one workflow.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDocument {
    pub number: u64,
    pub id: Uuid,
    /// The key of the story.
    pub story: String,
    pub workflow: String,
    /// The hash of the workflow's file as it was when the run began.
    pub workflow_hash: String,
    pub owner: String,
    /// How much of it goes on without a person.
    #[serde(default)]
    pub mode: ModeWord,
    pub status: StatusWord,
    pub baton: BatonWord,
    /// The agent or person that has to act. Of several branches, that of the first in the order of
    /// the workflow.
    pub current_agent: Option<String>,
    /// All of them: one for each branch whose baton rests with one.
    #[serde(default)]
    pub current_agents: Vec<String>,
    /// The branches, from a fan-out to its join.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchDocument>,
    pub current_place: Option<String>,
    /// The label of the handoff that the baton rests on; null if it is loose, or the run is over.
    pub current_handoff: Option<String>,
    /// What a parked baton waits for.
    pub parked_on: Option<WaitWord>,
    /// When the current handoff is offered again, while it is parked on a timer: after a failure, or when a
    /// rate limit ends. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    /// Whether `currentAgent` has to answer a question before the handoff can be accepted.
    pub is_asked: bool,
    /// Whether the current handoff has waited for too long.
    pub is_stale: bool,
    /// The title of the current work.
    pub phase: String,
    /// Labels of the open handoffs, oldest first.
    pub open_handoffs: Vec<String>,
    /// Steps at which an agent has worked.
    pub visited: Vec<String>,
    /// How many handoffs the run has had.
    pub n_handoffs: u32,
    /// How many events the run has; also its `ETag`.
    pub version: u64,
    /// The hash of the run's last event.
    pub head: String,
    pub started_at: Timestamp,
    pub moved_at: Timestamp,
}

/// One of the branches that a run's work is in, until they join.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Branch)]
pub struct BranchDocument {
    /// The step that the branch begins at.
    pub first: String,
    /// The step at which it joins the others.
    pub join: String,
    /// `done` once the branch has arrived at the join.
    pub baton: BatonWord,
    pub current_agent: Option<String>,
    pub current_place: Option<String>,
    pub current_handoff: Option<String>,
    /// What it waits for while its baton is `parked`.
    #[serde(default)]
    pub parked_on: Option<WaitWord>,
    /// When its work is offered again, if it waits for that. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    /// True while an agent is asked about its current handoff.
    #[serde(default)]
    pub is_asked: bool,
    #[serde(default)]
    pub is_stale: bool,
    /// The label of the handoff that brought its work to the join.
    pub arrived_with: Option<String>,
}

/// A run with the gates that its work has passed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDetail {
    #[serde(flatten)]
    pub run: RunDocument,
    /// In the order in which they were passed, without those that the run has gone back before.
    /// Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_gates: Vec<PassedGateDocument>,
    /// The steps at which a cancelled run may be started again, with the command for the last of
    /// them. Omitted for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartDocument>,
    /// What its agents have used; omitted if they report nothing and have no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RunUsage>,
}

/// Where a run that was ended before its time may go on, as another run of its story.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Restart)]
pub struct RestartDocument {
    /// The steps that it had been at.
    pub steps: Vec<String>,
    #[schema(example = "baton run start --at review --reason TEXT KEY")]
    pub command: String,
}

/// A gate that the work of a run has passed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PassedGate)]
pub struct PassedGateDocument {
    /// The gate's name in the workflow.
    pub name: String,
    /// The step before the gate; null at the start.
    pub from_step: Option<String>,
    /// The step after the gate; null at the end.
    pub to_step: Option<String>,
    /// `answered` by a person, `checks` that all passed, `waived` by an operator or with the answer
    /// to another gate, or `carried`: passed before gates were recorded.
    #[schema(example = "answered")]
    pub how: String,
    /// Who moved the work past the gate: of several people all, separated by commas.
    pub by: String,
    pub at: Timestamp,
}

/// The workflow that a run began with, and the project's as it is now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDefinition {
    pub name: String,
    /// The hash of the file that the run began with.
    pub hash: String,
    /// The text of that file.
    pub text: String,
    /// The text of the project's file of that name; null if there is none any more.
    pub current: Option<String>,
}

/// A run to start.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"story": "login", "workflow": "story-pipeline"}))]
pub struct StartRequest {
    /// The key of a story; if omitted, the story that is next in order.
    #[schema(min_length = 1, max_length = 200)]
    pub story: Option<String>,
    /// Creates the story if there is none of that key; otherwise an unknown key is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_story: bool,
    /// Starts it although stories that it depends on are not finished; otherwise that is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anyway: bool,
    /// If omitted, that of the story's newest run if that was cancelled, else the project's default
    /// workflow.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub workflow: Option<String>,
    /// If omitted, the agent of the first step.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to_agent: Option<String>,
    /// Any JSON; if omitted, the story itself.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The step to start at, which needs a `reason`. The gates before it are recorded as waived by
    /// the caller.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Of a new run; if omitted, that of the cancelled run whose workflow it keeps, else the project's.
    /// The workflow has to declare edges for another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeWord>,
    /// What the agents of a new run may use before a person is asked: money, tokens, work time, or
    /// several of them separated by commas. If omitted, the workflow's.
    #[schema(example = "5usd,2h", min_length = 1, max_length = 100)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
}

/// Another receiver for what blocks a step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": "human", "cause": "major_decision", "reason": "It concerns every team."}))]
pub struct RerouteRequest {
    /// An agent, or `human`.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to: String,
    pub cause: RerouteCauseWord,
    #[schema(min_length = 1, max_length = 1000)]
    pub reason: String,
    /// The handoff to the agent that resolves the blockers: its number, id or label. Needed if there are
    /// several, in branches; `consolidate` moves all that are blocked for the same reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<String>,
}

/// An optional reason.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "The release has to go first."}))]
pub struct Why {
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
}

/// A mandatory reason.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "There is nothing to document."}))]
pub struct Because {
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: String,
}

/// An empty body.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct Nothing {}

/// The step to send a run back to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"step": "analyze", "reason": "The cause is another one."}))]
pub struct Goto {
    /// A step that the run has visited.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub step: String,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: String,
}

//! The actions on a handoff. Each has its own fields; `action` says which one it is.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::word::ModeWord;

/// An action on a handoff; `action` says which.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "action", mapping(
    ("create" = "#/components/schemas/PipelineCreate"),
    ("accept" = "#/components/schemas/PipelineAccept"),
    ("reject" = "#/components/schemas/PipelineReject"),
    ("timeout" = "#/components/schemas/PipelineTimeOut"),
    ("cleanup" = "#/components/schemas/PipelineCleanUp"))))]
pub enum PipelineAction {
    Create(PipelineCreate),
    Accept(PipelineAccept),
    Reject(PipelineReject),
    TimeOut(PipelineTimeOut),
    CleanUp(PipelineCleanUp),
}

/// Hands off from one agent to another.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "create", "storyId": "login", "fromAgent": "analyst", "toAgent": "implementer", "payload": {"summary": "The cause is the session cookie."}}))]
pub struct PipelineCreate {
    #[schema(pattern = "^create$")]
    pub action: String,
    pub story_id: String,
    pub from_agent: String,
    pub to_agent: String,
    /// The package: any JSON.
    #[schema(value_type = Option<serde_json::Value>)]
    pub payload: Option<Box<RawValue>>,
    pub outcome: Option<String>,
    pub reason: Option<String>,
    /// The number of a pending handoff that this one replaces.
    pub supersedes: Option<u64>,
    /// The number of the handoff whose work is handed on, if the sender has that of several branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<u64>,
    /// `sequential`, `delegation`, `escalation` or `return`.
    pub kind: Option<String>,
    pub workflow: Option<String>,
    /// Of a new run; if omitted, the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeWord>,
}

/// Accepts a handoff.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "accept", "handoffId": 1}))]
pub struct PipelineAccept {
    #[schema(pattern = "^accept$")]
    pub action: String,
    pub handoff_id: u64,
    /// The receiver's acknowledgement.
    #[schema(value_type = Option<serde_json::Value>)]
    pub payload: Option<Box<RawValue>>,
    /// The agent that accepts.
    pub agent: Option<String>,
    #[schema(minimum = 1, maximum = 3600)]
    pub lease_seconds: Option<u32>,
}

/// Sends a handoff back to its sender.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "reject", "handoffId": 1, "reason": "The tests fail."}))]
pub struct PipelineReject {
    #[schema(pattern = "^reject$")]
    pub action: String,
    pub handoff_id: u64,
    pub reason: String,
    /// The agent that rejects.
    pub agent: Option<String>,
}

/// Times a handoff out.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "timeout", "handoffId": 1}))]
pub struct PipelineTimeOut {
    #[schema(pattern = "^timeout$")]
    pub action: String,
    pub handoff_id: u64,
    pub reason: Option<String>,
}

/// Cancels the pending handoffs of a story.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"action": "cleanup", "storyId": "login"}))]
pub struct PipelineCleanUp {
    #[schema(pattern = "^cleanup$")]
    pub action: String,
    pub story_id: String,
    pub reason: Option<String>,
}

//! The pipeline API's handoffs: rows of the pipeline document's table, and the responses of `/api/handoffs`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A row of the pipeline document's table.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PipelineRow)]
pub struct PipelineRow {
    pub id: u64,
    pub story_id: String,
    pub from_agent: String,
    pub to_agent: String,
    #[schema(example = "pending")]
    pub status: Cow<'static, str>,
    /// Any JSON, as it was sent.
    #[schema(value_type = serde_json::Value)]
    pub payload: Option<Box<RawValue>>,
    pub rejection_reason: Option<String>,
    pub created_at: String,
    /// When it was accepted; if it ended otherwise, when it was rejected, timed out or cancelled.
    pub processed_at: Option<String>,
    /// The native API's name of the state.
    pub state: Cow<'static, str>,
    pub kind: Cow<'static, str>,
    pub reason: Option<String>,
    /// Why it was rejected, timed out or cancelled; of a question, the answer.
    pub ended_reason: Option<String>,
    /// Only present if true: `reason` is its beginning, and ends with words that say so; `/api/v1/handoffs/ID` has all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reason_truncated: bool,
    /// The same of `rejection_reason` and `ended_reason`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_reason_truncated: bool,
    /// Only present if true: there is a payload, but the response would be too large with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub payload_left_out: bool,
    /// Only present if not empty: the members that are null because the stored text is damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// The request decides which of these members there are.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PipelineState)]
pub struct HandoffListing {
    /// For `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub current_agent: Option<Option<String>>,
    /// The agents of all branches, from a fan-out to its join.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub current_agents: Vec<String>,
    /// For `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub phase: Option<Option<String>>,
    /// For `storyId` alone, oldest first; or for `agent` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoffs: Option<Vec<PipelineRow>>,
    /// For `storyId` and `agent`: the newest pending handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub handoff: Option<Option<PipelineRow>>,
    /// For `stale=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<Vec<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold_minutes: Option<u64>,
    /// For `storyId` alone, if the story had runs before the one that is shown: newest first, at
    /// most 20. `run` asks for one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_runs: Vec<EarlierRun>,
    /// Only if the response is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// A run of a story before the one that is shown.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierRun {
    pub run: u64,
    #[schema(example = "completed")]
    pub status: String,
    /// How many handoffs it had.
    pub handoffs: u32,
    /// Where they are.
    #[schema(example = "/api/handoffs?storyId=v0.1%3A1.1.1&run=3")]
    pub url: String,
}

/// What a response leaves out because it would be too large.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// There are more rows than `limit`. For a story the oldest are left out, else the newest.
    pub has_more_rows: bool,
    /// How many rows a response has at most.
    pub limit: u32,
    /// How many of the rows have no `payload` here although they have one:
    /// `/api/v1/handoffs/ID/package` returns it.
    pub payloads: usize,
}

/// The result of an action. Which of these members there are depends on the action.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PipelineDone)]
pub struct ActionResult {
    pub success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub handoff: Option<Option<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// For `create`: true where the story did not exist, and was created.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// For `accept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pub fence: Option<Option<u32>>,
    /// For `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub return_handoff: Option<Option<PipelineRow>>,
    /// For `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub gate: Option<Option<PipelineRow>>,
    /// For `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<Vec<u64>>,
    /// For `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<u64>>,
}

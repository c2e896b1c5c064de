//! The responses of `/api/handoffs`. Which members they have depends on the request.

use serde::Serialize;
use utoipa::ToSchema;

use super::rows::PipelineRow;

/// The request decides which of these members there are.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PipelineState)]
pub(super) struct HandoffListing {
    /// For `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) current_agent: Option<Option<String>>,
    /// For `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) phase: Option<Option<String>>,
    /// For `storyId` alone, oldest first; or for `agent` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) handoffs: Option<Vec<PipelineRow>>,
    /// For `storyId` and `agent`: the newest pending handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) handoff: Option<Option<PipelineRow>>,
    /// For `stale=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stale: Option<Vec<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold_minutes: Option<u64>,
    /// Only if the response is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<LeftOut>,
}

/// What a response leaves out because it would be too large.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeftOut {
    /// There are more rows than `limit`. For a story the oldest are left out, else the newest.
    pub(super) has_more_rows: bool,
    /// How many rows a response has at most.
    pub(super) limit: u32,
    /// How many of the rows have no `payload` here although they have one:
    /// `/api/v1/handoffs/ID/package` returns it.
    pub(super) payloads: usize,
}

/// The result of an action. Which of these members there are depends on the action.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PipelineDone)]
pub(super) struct ActionResult {
    pub(super) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) handoff: Option<Option<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warnings: Option<Vec<String>>,
    /// For `accept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pub(super) fence: Option<Option<u32>>,
    /// For `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) return_handoff: Option<Option<PipelineRow>>,
    /// For `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) gate: Option<Option<PipelineRow>>,
    /// For `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancelled: Option<Vec<u64>>,
    /// For `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Vec<u64>>,
}

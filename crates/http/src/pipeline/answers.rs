//! What `/api/handoffs` answers. Which members there are depends on what was asked.

use serde::Serialize;
use utoipa::ToSchema;

use super::rows::PipelineRow;

/// What is asked for says which of these there are.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SeedState)]
pub(super) struct HandoffListing {
    /// Of `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) current_agent: Option<Option<String>>,
    /// Of `storyId` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) phase: Option<Option<String>>,
    /// Of `storyId` alone, oldest first; or of `agent` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) handoffs: Option<Vec<PipelineRow>>,
    /// Of `storyId` and `agent`: the newest that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) handoff: Option<Option<PipelineRow>>,
    /// Of `stale=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stale: Option<Vec<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold_minutes: Option<u64>,
    /// Only where the answer does not have everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<LeftOut>,
}

/// What an answer leaves out, because it would be too large.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeftOut {
    /// There are more rows than `limit`. Of a story the oldest are left out, else the newest.
    pub(super) has_more_rows: bool,
    /// How many rows an answer has at most.
    pub(super) limit: u32,
    /// How many of the rows have no `payload` here, though they were handed one:
    /// `/api/v1/handoffs/ID/package` has it.
    pub(super) payloads: usize,
}

/// What an action came to. Which of these there are depends on it.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SeedDone)]
pub(super) struct ActionResult {
    pub(super) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) handoff: Option<Option<PipelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warnings: Option<Vec<String>>,
    /// Of `accept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pub(super) fence: Option<Option<u32>>,
    /// Of `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) return_handoff: Option<Option<PipelineRow>>,
    /// Of `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PipelineRow>)]
    pub(super) gate: Option<Option<PipelineRow>>,
    /// Of `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancelled: Option<Vec<u64>>,
    /// Of `cleanup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Vec<u64>>,
}

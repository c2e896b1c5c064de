//! Blockers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What stops a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Blocker)]
pub struct BlockerDocument {
    /// The id of the run.
    #[serde(default)]
    #[schema(required = true)]
    pub run_id: Uuid,
    pub run_number: u64,
    /// The same as `runId`.
    pub run: Uuid,
    /// The key of the story.
    pub story: String,
    /// Numbered within its run, from 1.
    pub number: u32,
    /// The label of the handoff whose work is blocked.
    pub handoff: String,
    pub by: String,
    /// Null if it was lost in a recovery or is damaged.
    pub words: Option<String>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

//! Retention: messages of finished runs that are dropped because of their age.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What was dropped, or would be.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetentionResult {
    /// How many days messages are kept after the end of their run; null if the project keeps them for
    /// ever.
    pub messages_kept_days: Option<u64>,
    /// False for a dry run.
    pub is_recorded: bool,
    /// How many messages of how many runs.
    pub messages: u64,
    pub runs: u64,
    /// The first 500 of these runs.
    pub items: Vec<RetainedRunDocument>,
}

/// What was dropped of one run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetainedRunDocument {
    pub run: u64,
    pub run_id: Uuid,
    pub story: String,
    pub messages: u64,
}

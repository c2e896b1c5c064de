//! The shared context of a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One version of a document of the shared context.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContextDocument)]
pub struct SharedDocument {
    pub key: String,
    /// Counted from 1.
    pub version: u32,
    /// The agent that wrote it, or the caller.
    pub changed_by: String,
    pub changed_at: Timestamp,
    pub bytes: u32,
    /// Null if it was lost in a recovery or is damaged.
    pub text: Option<String>,
}

/// A new version of a document of the shared context.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewContextVersion, example = json!({"version": 0, "text": "The API is versioned by path.", "agent": "architect"}))]
pub struct NewContext {
    /// The version that the caller has seen; 0 to create the document.
    pub version: u32,
    #[schema(min_length = 1, max_length = 65536)]
    pub text: String,
    /// The agent that writes it; if omitted, only the caller is recorded.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
}

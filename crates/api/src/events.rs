//! Events of the log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// One event in the log.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Event)]
pub struct EventDocument {
    /// Its position in the log of all runs.
    pub position: u64,
    /// Its position in the run, from 1.
    pub version: u64,
    pub at: Timestamp,
    #[schema(example = "handoff.created")]
    pub name: String,
    /// Who sent the command that caused it.
    pub by: String,
    /// The hash over this event and the hash of the previous one.
    pub hash: String,
    /// The event as it is stored. Texts are referred to by their hashes.
    #[schema(value_type = serde_json::Value)]
    pub body: Option<Box<RawValue>>,
    /// The reason, comment, answer or message that the event refers to, at most 1000 characters of
    /// it; omitted if there is none, or if it was lost in a recovery or is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether `text` was shortened; omitted if not.
    #[serde(default, rename = "isTextCut", skip_serializing_if = "std::ops::Not::not")]
    pub is_text_cut: bool,
}

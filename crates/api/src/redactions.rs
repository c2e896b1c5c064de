//! Redaction: texts that are taken out of the store.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Which texts of a run to drop, and why. One of `handoff`, `texts` and `files`, or several.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"handoff": "HO-002", "parts": ["reason"], "reason": "it names a customer"}))]
pub struct RedactionRequest {
    /// A handoff of the run: its label, its number or its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub handoff: Option<String>,
    /// Which texts of that handoff; all of them if there are none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<HandoffPart>,
    /// Texts by the hash that events name them by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub texts: Vec<String>,
    /// Files of the run by the SHA-256 of their bytes: the bytes, and what is known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub files: Vec<String>,
    /// Why: it is recorded, so it must not repeat what is dropped.
    #[schema(min_length = 1, max_length = 10_000)]
    pub reason: String,
}

/// A text of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum HandoffPart {
    Package,
    Reason,
    EndedReason,
    Acknowledgement,
}

impl HandoffPart {
    pub const ALL: [Self; 4] =
        [Self::Package, Self::Reason, Self::EndedReason, Self::Acknowledgement];

    pub fn name(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Reason => "reason",
            Self::EndedReason => "endedReason",
            Self::Acknowledgement => "acknowledgement",
        }
    }
}

/// What was dropped, or would be.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactionResult {
    /// The number of the run.
    pub run: u64,
    pub run_id: Uuid,
    /// False for a dry run, and where nothing was there any more.
    pub is_recorded: bool,
    pub redacted: Vec<RedactedText>,
    /// What the request names and was dropped before: asking again changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub already_redacted: Vec<DroppedBefore>,
}

/// A text that was dropped before.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DroppedBefore {
    #[serde(flatten)]
    pub text: RedactedText,
    pub at: Timestamp,
    pub by: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactedText {
    /// Its hash.
    pub text: String,
    /// What it is: `HO-002 reason`, or `text` where only its hash was given.
    pub what: String,
}

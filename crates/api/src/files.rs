//! Files that runners send back of attempts and checks.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::FileKindWord;

/// A file without its bytes: the server may have them already, or they were left out.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"fence": 1, "kind": "artifact", "name": "target/report.html",
    "note": "left out: it has 5242880 bytes, and a file has at most 2097152"}))]
pub struct FileNotice {
    /// The fencing token of the claim.
    pub fence: u32,
    pub kind: FileKindWord,
    /// `output.txt`, or the path of a file below the workspace.
    #[schema(min_length = 1, max_length = 300)]
    pub name: String,
    /// The SHA-256 of its bytes, which the run has to have already; omitted where the file was left out.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: Option<String>,
    /// What was cut, or why it was left out.
    #[schema(min_length = 1, max_length = 1000)]
    pub note: Option<String>,
}

/// A file of a handoff.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = File)]
pub struct FileDocument {
    /// The label of the handoff.
    pub handoff: String,
    /// The fencing token of the attempt, or of the claim of the checks.
    pub fence: u32,
    pub kind: FileKindWord,
    /// `[redacted]`, `[lost]` or `[damaged]` where it is not known any more.
    pub name: String,
    /// The SHA-256 of its bytes; null where they were left out, or it is not known any more.
    pub sha256: Option<String>,
    /// How many bytes are kept.
    pub bytes: u64,
    /// What was cut, or why it was left out.
    pub note: Option<String>,
    /// The bytes were not sent; `note` has the reason.
    pub is_left_out: bool,
    /// When it was kept; null in a dry run.
    pub at: Option<Timestamp>,
    /// Who sent it.
    pub by: String,
}

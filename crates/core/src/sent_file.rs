//! Files that a runner sends back of an attempt or of a check: what was printed, what was changed, what the
//! package names. Their bytes are texts of the run; they move nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::named::named;
use crate::run::HandoffNo;

named! {
    /// What a file is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SentFileKind {
        /// What the program of an attempt printed.
        Log = "log",
        /// What an attempt changed in its workspace.
        Diff = "diff",
        /// A file of the workspace that the package names.
        Artifact = "artifact",
        /// What a check printed.
        Check = "check",
    }
}

/// Of one attempt, those that were left out included.
pub const MOST_FILES: u32 = 50;
/// Of one attempt.
pub const MOST_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Of one file. A longer one is cut, or left out, by the runner.
pub const LARGEST_FILE: u64 = 2 * 1024 * 1024;

/// A file as it comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFile {
    pub kind: SentFileKind,
    /// Its name, its hash, and what was cut: a document that `wire` reads.
    pub record: Arc<str>,
    pub bytes: FileBytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileBytes {
    /// `n_bytes` before they were encoded as a text.
    New { text: Arc<str>, n_bytes: u64 },
    /// The run has them: another file of it is the same.
    Stored { text: ContentId, n_bytes: u64 },
    /// It was left out; the record says why.
    LeftOut,
}

/// How much was sent of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFiles {
    pub handoff: HandoffNo,
    pub fence: u32,
    pub n_files: u32,
    pub n_bytes: u64,
}

/// How a holding ended, as far as the log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldingEnd {
    /// There was none with this fencing token, under a lease.
    Unknown,
    /// The work was taken from its holder, or given back.
    Lost,
    /// It has not ended, or its holder ended it: by handing on, sending back or asking.
    Own,
}

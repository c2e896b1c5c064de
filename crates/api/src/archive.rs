//! The archive.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where the archive is, and how far behind the log.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveDocument {
    /// The folder of `current.json`, in the project.
    pub state: String,
    /// The folder of the sessions, in the project.
    pub sessions: String,
    /// How many events have not been written to the files yet.
    pub behind: u64,
    /// Why the archive cannot be written.
    pub problem: Option<String>,
}

/// What a rebuild wrote.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    pub runs: u64,
    /// Runs that cannot be read, and so are not archived in full.
    pub unreadable: u64,
    /// Session folders that are named after no run of this database. They were left alone.
    pub unknown_sessions: u64,
    /// Sessions with events that this database does not have. They were moved aside, to folders
    /// whose names end in `.newer-` and a number, which `baton recover` reads.
    pub kept_sessions: u64,
}

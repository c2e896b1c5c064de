//! Signed checkpoints, and the log as they cover it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A signed statement of what the log was.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDocument {
    /// Consecutive in the database.
    pub number: u64,
    /// The whole of it with its signature: what is kept elsewhere, and given to
    /// `baton audit verify --checkpoint`.
    pub text: String,
    /// Null if it is damaged, as everything below.
    pub at: Option<Timestamp>,
    /// The position of the last event that it covers.
    pub position: Option<u64>,
    pub events: Option<u64>,
    pub runs: Option<u64>,
    pub handoffs: Option<u64>,
    /// Over all of these events, in their order.
    pub root: Option<String>,
    /// The public key that it is signed by.
    pub key: Option<String>,
}

/// One event of the log of all runs, with everything that its hash covers.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedEvent {
    pub position: u64,
    pub run_id: Uuid,
    /// Counted in its run.
    pub version: u64,
    pub at: Timestamp,
    pub name: String,
    pub by: String,
    /// Over the hash before it in its run, the run, the version, the time, `by` and the body.
    pub hash: String,
    /// The encoded event, as text: the hash covers these bytes.
    pub body: String,
}

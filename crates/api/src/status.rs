//! The status of the project on one screen.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::runs::RunDocument;

/// Who has the baton, and what waits for a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStatus {
    /// What the server calls its project: the name of its folder. Omitted where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The open and the paused runs, oldest first, at most 100; `/api/v1/runs` lists all.
    pub runs: Vec<RunDocument>,
    /// Whether there are more runs.
    pub has_more_runs: bool,
    /// What waits for a person in those runs.
    pub waits_for_you: Vec<ToDo>,
    /// How many stories have never had a run.
    pub stories_waiting: u64,
    /// The servers that work on the same database, by the time of their start; omitted where there is
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeDocument>,
    /// Set while events come late to those who follow the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_delay: Option<LogDelayDocument>,
}

/// A server on a database that several may use.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeDocument {
    pub id: Uuid,
    /// What its machine is called.
    pub name: String,
    /// Where it listens, as it says itself.
    pub url: String,
    pub version: String,
    pub started_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// False if it has not been heard of for a while.
    pub is_alive: bool,
}

/// Why events come late.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LogDelayDocument {
    pub seconds: f64,
    /// The process in the database whose transaction is open; null if unknown.
    pub pid: Option<i32>,
    pub message: String,
}

/// An action that a run needs from a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToDo {
    /// The id of the run.
    pub run_id: Uuid,
    pub run_number: u64,
    /// The same as `runNumber`.
    pub run: u64,
    /// The key of the story.
    pub story: String,
    /// The label of the handoff that asks; null if the baton is loose.
    pub handoff: Option<String>,
    pub why: String,
    /// The question, or the agent's own reason, at most 300 characters of it; omitted if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The command to type.
    pub command: String,
}

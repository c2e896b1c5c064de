//! The status of the project on one screen.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::runs::RunDocument;

/// Who has the baton, and what waits for a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStatus {
    /// The open and the paused runs, oldest first, at most 100; `/api/v1/runs` lists all.
    pub runs: Vec<RunDocument>,
    /// Whether there are more runs.
    pub has_more_runs: bool,
    /// What waits for a person in those runs.
    pub waits_for_you: Vec<ToDo>,
    /// How many stories have never had a run.
    pub stories_waiting: u64,
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

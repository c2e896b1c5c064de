//! Stories.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A piece of work, waiting or in progress.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Story)]
pub struct StoryDocument {
    pub key: String,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    /// Keys of the stories that have to be finished first.
    pub depends_on: Vec<String>,
    /// Stories with a higher priority start first.
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
    pub status: StoryStatus,
    /// The id of the story's newest run.
    #[serde(default)]
    pub run_id: Option<Uuid>,
    /// The same as `runId`.
    pub run: Option<Uuid>,
    pub created_at: Timestamp,
    /// Warnings from adding the story: that it looks like another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The progress of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoryStatus {
    Waiting,
    /// Servers up to 0.1 say `under way`.
    #[serde(alias = "under way")]
    UnderWay,
    Paused,
    Finished,
    Cancelled,
}

/// The content of a story.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"title": "Logins fail", "acceptance": ["A valid login works"], "priority": 1}))]
pub struct StoryText {
    pub title: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub acceptance: Vec<String>,
    /// Keys of the stories that have to be finished first.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Stories with a higher priority start first.
    #[serde(default)]
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
}

/// A story to add.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"key": "login", "title": "Logins fail", "acceptance": ["A valid login works"]}))]
pub struct NewStory {
    #[schema(min_length = 1, max_length = 200)]
    pub key: String,
    /// If omitted, the key.
    pub title: Option<String>,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub acceptance: Vec<String>,
    /// Keys of the stories that have to be finished first.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Stories with a higher priority start first.
    #[serde(default)]
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
}

impl StoryStatus {
    /// For people; in JSON it has no blank.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::UnderWay => "under way",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }
}

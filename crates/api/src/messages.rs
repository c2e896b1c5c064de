//! Messages of a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A progress note or a message.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageDocument {
    /// The position of its event in the log of all runs.
    pub position: u64,
    pub at: Timestamp,
    /// The agent that says it; null if the sender named none.
    pub agent: Option<String>,
    /// The name of that agent, as it was shown then; null without an agent.
    #[serde(rename = "agentName", default)]
    pub agent_name: Option<String>,
    /// Who sent it.
    pub by: String,
    /// Null if it was lost in a recovery or is damaged.
    pub text: Option<String>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

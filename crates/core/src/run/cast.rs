//! What was shown of the agents of a run, and since which handoff.

use serde::{Deserialize, Serialize};

use super::{HandoffNo, is_false};
use crate::content::ContentId;
use crate::names::AgentId;

/// What is shown of all agents, since a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCast {
    pub since: HandoffNo,
    pub cast: ContentId,
    /// It came after that handoff, with a message, a question or a decision: the handoff is still
    /// shown as before. Earlier versions did not say so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_after: bool,
}

/// What is shown of an agent, since a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portrait {
    pub agent: AgentId,
    pub since: HandoffNo,
    pub portrait: ContentId,
}

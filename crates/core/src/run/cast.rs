//! What was shown of the agents of a run, and since which handoff.

use serde::{Deserialize, Serialize};

use super::HandoffNo;
use crate::content::ContentId;
use crate::names::AgentId;

/// What is shown of all agents, since a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCast {
    pub since: HandoffNo,
    pub cast: ContentId,
}

/// What is shown of an agent, since a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portrait {
    pub agent: AgentId,
    pub since: HandoffNo,
    pub portrait: ContentId,
}

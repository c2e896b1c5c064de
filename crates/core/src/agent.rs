//! Who can receive a handoff: a role with a prompt, not a process.

use crate::names::AgentId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: AgentId,
    /// Display name: `Analyst`.
    pub name: String,
    pub description: String,
    pub capabilities: Vec<String>,
    pub avatar: Option<String>,
    pub color: Option<String>,
    /// The instructions the agent is started with.
    pub prompt: String,
}

impl Agent {
    /// Placeholder for an agent that no file describes any more.
    pub fn unknown(id: AgentId) -> Self {
        Self {
            id,
            name: "Unknown Agent".to_owned(),
            description: String::new(),
            capabilities: Vec::new(),
            avatar: None,
            color: None,
            prompt: String::new(),
        }
    }
}

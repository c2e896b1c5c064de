//! Who can receive a handoff: a role with a prompt, not a process.

use crate::named::named;
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

named! {
    /// How an agent communicates with Baton.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum AgentInterface {
        /// Over HTTP.
        #[default]
        Curl = "curl",
        /// With the `baton` command.
        Cli = "cli",
        /// By a block at the end of its output, which the agent's launcher reads.
        Block = "block",
    }
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

//! Who can receive a handoff: a role with a prompt, not a process.

use crate::document::Node;
use crate::named::named;
use crate::names::AgentId;
use crate::view::read::{owned_at, texts_at};

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
/// Bounds of a portrait: it is stored with every run that the agent takes part in.
const MOST_NAME: usize = 100;
const MOST_DESCRIPTION: usize = 500;
const MOST_CAPABILITIES: usize = 20;
const MOST_AVATAR: usize = 300;

impl Agent {
    /// Shown for an agent that no file describes any more; its id is shown beside it.
    pub const UNKNOWN: &'static str = "Unknown Agent";

    /// An agent that no file describes: one of the two reserved ones, or an unknown one.
    pub fn without_file(id: AgentId) -> Self {
        let named = |name: &str, description: &str, id| Self {
            name: name.to_owned(),
            description: description.to_owned(),
            ..Self::unknown(id)
        };
        if id.is_human() {
            return named("Human", "A person, who answers in the inbox", id);
        }
        if id.is_orchestrator() {
            let description = "Baton itself, which hands stories in and takes them back";
            return named("Orchestrator", description, id);
        }
        Self::unknown(id)
    }

    /// Placeholder for an agent that no file describes any more.
    pub fn unknown(id: AgentId) -> Self {
        Self {
            id,
            name: Self::UNKNOWN.to_owned(),
            description: String::new(),
            capabilities: Vec::new(),
            avatar: None,
            color: None,
            prompt: String::new(),
        }
    }

    /// The name for a sentence that does not show the id beside it.
    pub fn label(&self) -> String {
        if self.name == Self::UNKNOWN {
            return format!("{} ({})", self.name, self.id);
        }
        self.name.clone()
    }

    /// What is shown of the agent. Runs keep it: later edits of the agent's file do not change who
    /// took part in them. The prompt is not part of it.
    pub fn portrait(&self) -> Node {
        let short = |text: &str, most: usize| Node::Text(text.chars().take(most).collect());
        let optional = |text: Option<&String>, most: usize| {
            text.filter(|it| it.len() <= most).map_or(Node::Null, Node::text)
        };
        let capabilities = self.capabilities.iter().take(MOST_CAPABILITIES);
        Node::map([
            ("name", short(&self.name, MOST_NAME)),
            ("description", short(&self.description, MOST_DESCRIPTION)),
            ("capabilities", Node::List(capabilities.map(|it| short(it, MOST_NAME)).collect())),
            ("avatar", optional(self.avatar.as_ref(), MOST_AVATAR)),
            ("color", optional(self.color.as_ref(), MOST_NAME)),
        ])
    }

    /// The agent as a [portrait](Agent::portrait) shows it.
    pub fn of_portrait(id: AgentId, portrait: &Node) -> Self {
        Self {
            name: owned_at(portrait, "name").unwrap_or_else(|| id.to_string()),
            description: owned_at(portrait, "description").unwrap_or_default(),
            capabilities: texts_at(portrait, "capabilities"),
            avatar: owned_at(portrait, "avatar"),
            color: owned_at(portrait, "color"),
            prompt: String::new(),
            id,
        }
    }
}

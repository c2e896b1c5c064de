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

/// For agents whose files name no colour. The order is part of what users see: add at the end.
const AVATAR_COLORS: [&str; 8] =
    ["blue", "green", "purple", "orange", "cyan", "pink", "red", "yellow"];

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

    /// The first letters of the first two words of its name, for an avatar without an image.
    pub fn initials(&self) -> String {
        let words = self.name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        let letters: String =
            words.take(2).filter_map(|it| it.chars().next()).flat_map(char::to_uppercase).collect();
        if letters.is_empty() { "?".to_owned() } else { letters }
    }

    /// The colour of its avatar: the one in its file, else one that follows from its id alone.
    pub fn avatar_color(&self) -> &str {
        let sum: usize = self.id.as_str().bytes().map(usize::from).sum();
        self.color.as_deref().unwrap_or(AVATAR_COLORS[sum % AVATAR_COLORS.len()])
    }

    /// Its avatar, where that is the address of an image.
    pub fn avatar_url(&self) -> Option<&str> {
        let is_url = |it: &&str| {
            ["https://", "http://", "data:image/", "/"].iter().any(|start| it.starts_with(start))
        };
        self.avatar.as_deref().filter(is_url)
    }

    /// Its avatar, where that is a character such as an emoji.
    pub fn avatar_symbol(&self) -> Option<&str> {
        self.avatar.as_deref().filter(|_| self.avatar_url().is_none())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(id: &str, name: &str, avatar: Option<&str>) -> Agent {
        let id = AgentId::parse(id).unwrap();
        Agent { name: name.to_owned(), avatar: avatar.map(str::to_owned), ..Agent::unknown(id) }
    }

    #[test]
    fn an_avatar_is_initials_in_a_stable_colour_or_an_image() {
        for (name, expected) in [
            ("Product Manager", "PM"),
            ("analyst", "A"),
            ("Unknown Agent", "UA"),
            ("the lead of QA", "TL"),
            ("übersetzer 2", "Ü2"),
            ("…", "?"),
        ] {
            assert_eq!(agent("x", name, None).initials(), expected, "{name}");
        }
        let [first, again] = ["A", "B"].map(|name| agent("developer", name, None));
        assert_eq!(first.avatar_color(), again.avatar_color(), "a new name keeps the colour");
        let own = Agent { color: Some("#1a2b3c".to_owned()), ..first };
        assert_eq!(own.avatar_color(), "#1a2b3c");
        for (avatar, url, symbol) in [
            (None, None, None),
            (Some("🔍"), None, Some("🔍")),
            (Some("https://example.org/a.png"), Some("https://example.org/a.png"), None),
            (Some("/avatars/a.png"), Some("/avatars/a.png"), None),
        ] {
            let agent = agent("x", "X", avatar);
            assert_eq!((agent.avatar_url(), agent.avatar_symbol()), (url, symbol));
        }
    }
}

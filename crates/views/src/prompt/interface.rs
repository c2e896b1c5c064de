//! The same action for each interface: a curl line, a command, or a block to print.

mod block;
mod cli;
mod curl;

use baton_core::document::Node;
use baton_core::names::{AgentId, CheckName, StoryKey};

use super::ways::PromptAction;
use super::{DashboardUrl, PromptToken};

/// How the agent communicates with Baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentInterface {
    /// Over HTTP.
    Curl,
    /// With the `baton` command.
    Cli,
    /// By a block at the end of its output, which the agent's launcher reads.
    Block,
}

impl AgentInterface {
    pub fn name(self) -> &'static str {
        match self {
            AgentInterface::Curl => "curl",
            AgentInterface::Cli => "cli",
            AgentInterface::Block => "block",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Curl, Self::Cli, Self::Block].into_iter().find(|it| it.name() == name)
    }

    /// The action, as it can be typed or printed.
    pub(super) fn say(self, desk: &PromptContext<'_>, act: &PromptAction) -> String {
        match self {
            AgentInterface::Curl => curl::say(desk, act),
            AgentInterface::Cli => cli::say(desk, act),
            AgentInterface::Block => block::say(desk, act),
        }
    }
}

/// The agent, and the handoffs that it acts on.
pub(super) struct PromptContext<'a> {
    pub(super) url: &'a DashboardUrl,
    pub(super) token: Option<&'a PromptToken>,
    pub(super) story: &'a StoryKey,
    pub(super) agent: &'a AgentId,
    /// The handoff that was offered.
    pub(super) handoff: u64,
    /// The handoff that is worked on, which may be another.
    pub(super) work: u64,
    /// The fencing token of the work, under a lease.
    pub(super) fence: Option<u32>,
}

/// The here-document's delimiter. No line of JSON can equal it.
const END: &str = "BATON";

const WHY: &str = "<what has to change, and where>";
const QUESTION: &str = "<your question>";
const ANSWER: &str = "<your answer>";

fn passed(check: &CheckName) -> Vec<(&'static str, Node)> {
    vec![("check", Node::text(check.as_str())), ("verdict", Node::text("passed"))]
}

/// The action in the format of the pipeline API. A block is read by the same rules.
fn envelope(desk: &PromptContext<'_>, act: &PromptAction) -> Node {
    let on = |action: &str, number: u64, more: Vec<(&'static str, Node)>| {
        let members = [
            ("action", Node::text(action)),
            ("handoffId", Node::count(number)),
            ("agent", Node::text(desk.agent.as_str())),
        ];
        Node::map(members.into_iter().chain(more))
    };
    let create = |to: &AgentId, more: Vec<(&'static str, Node)>, example: &Node| {
        let members = [
            ("action", Node::text("create")),
            ("storyId", Node::text(desk.story.as_str())),
            ("fromAgent", Node::text(desk.agent.as_str())),
            ("toAgent", Node::text(to.as_str())),
        ];
        let payload = ("payload", example.clone());
        Node::map(members.into_iter().chain(more).chain([payload]))
    };
    let kind = |kind: &str| ("kind", Node::text(kind));
    match act {
        PromptAction::Accept => on("accept", desk.handoff, Vec::new()),
        PromptAction::HandOn { to, outcome, example } => {
            create(to, vec![("outcome", Node::text(outcome.name()))], example)
        }
        PromptAction::Delegate { to, example } => create(to, vec![kind("delegation")], example),
        PromptAction::Escalate { example } => {
            create(&AgentId::human(), vec![kind("escalation")], example)
        }
        PromptAction::Return { to, outcome, example } => {
            create(to, vec![kind("return"), ("outcome", Node::text(outcome.name()))], example)
        }
        PromptAction::Reject => on("reject", desk.handoff, vec![("reason", Node::text(WHY))]),
        PromptAction::Clarify => {
            on("clarify", desk.handoff, vec![("question", Node::text(QUESTION))])
        }
        PromptAction::Answer => on("answer", desk.handoff, vec![("answer", Node::text(ANSWER))]),
        PromptAction::Record { check } => on("evidence", desk.work, passed(check)),
    }
}

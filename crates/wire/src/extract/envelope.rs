//! What an agent wrote itself in the JSON that its program prints around it: `claude -p
//! --output-format json` and `stream-json`, `codex exec --json`, `gemini -o json`, `opencode run
//! --format json`, chat completions, task results.

use baton_core::document::Node;

use super::candidate::is_handoff;
use super::own_answer::is_own_answer;

/// A part of an envelope.
pub(super) enum EnvelopePart<'a> {
    /// Text that may hold a handoff.
    Text(&'a str),
    /// A handoff that is an object, not a text.
    Document(&'a Node),
}

/// The members in which agent programs give their agent's words.
const SPOKEN: [&str; 13] = [
    "answer",
    "completion",
    "content",
    "final_output",
    "last_message",
    "message",
    "output",
    "output_text",
    "response",
    "result",
    "stdout",
    "text",
    "value",
];

/// Objects with such a `type` are about what the agent was given, thought or did. A handoff in a
/// file that it read is not one that it makes.
const OTHER_TYPES: [&str; 20] = [
    "command_execution",
    "content_block_delta",
    "file_change",
    "function_call",
    "function_call_output",
    "item.started",
    "item.updated",
    "mcp_tool_call",
    "reasoning",
    "stream_event",
    "system",
    "thinking",
    "todo_list",
    "tool",
    "tool_call",
    "tool_result",
    "tool_use",
    "user",
    "user_message",
    "web_search",
];

const OTHER_ROLES: [&str; 7] =
    ["developer", "function", "input", "system", "tool", "user", "ROLE_USER"];

/// The parts in their order.
pub(super) fn parts(envelope: &Node) -> Vec<EnvelopePart<'_>> {
    let mut found = Vec::new();
    visit(envelope, "", &mut found);
    found
}

fn visit<'a>(node: &'a Node, key: &str, found: &mut Vec<EnvelopePart<'a>>) {
    match node {
        // An agent that asked Baton hands nothing on by that.
        Node::Map(_) if is_own_answer(node) => {}
        Node::Map(_) if is_handoff(node) => found.push(EnvelopePart::Document(node)),
        Node::Map(members) if !is_of_others(node) => {
            members.iter().for_each(|(key, value)| visit(value, key, found));
        }
        Node::List(items) => items.iter().for_each(|it| visit(it, key, found)),
        Node::Text(text) if SPOKEN.contains(&key) => found.push(EnvelopePart::Text(text)),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Map(_) => {}
    }
}

fn is_of_others(object: &Node) -> bool {
    let word = |key: &str| object.member(key).and_then(Node::as_text);
    word("type").is_some_and(|it| OTHER_TYPES.contains(&it))
        || word("role").is_some_and(|it| OTHER_ROLES.contains(&it))
}

//! Acts as a block to print: whoever started the agent reads the last one.

use baton_wire::json;

use super::{PromptAction, PromptContext, envelope};

/// What the block begins and ends with, each on a line of its own.
const OPENING: &str = "```baton";
const CLOSING: &str = "```";

pub(super) fn say(desk: &PromptContext<'_>, act: &PromptAction) -> String {
    format!("{OPENING}\n{}\n{CLOSING}", json::print_pretty(&envelope(desk, act)))
}

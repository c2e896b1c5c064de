//! Actions as a block to print: the agent's launcher reads the last one.

use baton_wire::json;

use super::{PromptAction, PromptContext, envelope};

/// The first and the last line of the block.
const OPENING: &str = "```baton";
const CLOSING: &str = "```";

pub(super) fn say(desk: &PromptContext<'_>, act: &PromptAction) -> String {
    format!("{OPENING}\n{}\n{CLOSING}", json::print_pretty(&envelope(desk, act)))
}

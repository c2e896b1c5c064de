//! Markdown that ends in a metadata block: prose for people, and JSON in a fence.
//!
//! The tree is the JSON; the prose around it is in the reserved member `#markdown`, so that it
//! survives the other formats and comes back where it was. Without a block nothing is guessed.

use baton_core::document::Node;
use baton_core::package::Format;

use super::{FormatError, FormatFault, refuse_nul};
use crate::json;
use crate::position::TextPosition;

pub(crate) mod fences;
mod layout;
mod prose;

use fences::FencedBlock;
use layout::MarkdownLayout;

/// Reads the metadata block and the prose around it.
pub fn decode(text: &str) -> Result<Node, FormatError> {
    refuse_nul(Format::Markdown, text)?;
    let Some(fence) = fences::metadata(text) else {
        let sentence = "there is no metadata: end the text with a `## Metadata` heading and a \
                        fenced `json` block under it";
        return Err(FormatError {
            format: Format::Markdown,
            at: TextPosition::of(text, text.len()),
            fault: FormatFault::NoMetadata(sentence.to_owned()),
        });
    };
    let metadata = metadata(text, &fence)?;
    let layout = MarkdownLayout::of(text, &fence, &metadata);
    prose::join(layout, metadata).ok_or_else(|| {
        FormatError::at(Format::Markdown, text, fence.open.start, FormatFault::TooDeep)
    })
}

/// The prose and the block; where there is no prose, the block alone under its heading.
pub fn encode(document: &Node) -> String {
    match prose::split(document) {
        Some((layout, metadata)) => layout.print(&metadata),
        None => MarkdownLayout::default().print(document),
    }
}

/// The JSON in a block. Its errors are reported at their position in the whole text.
pub(crate) fn metadata(text: &str, fence: &FencedBlock) -> Result<Node, FormatError> {
    json::parse(&text[fence.content.clone()]).map_err(|error| {
        let start = TextPosition::of(text, fence.content.start);
        let at = TextPosition { line: start.line + error.line - 1, column: error.column };
        let sentence = format!("the metadata block is not JSON: {}", error.fault);
        FormatError { format: Format::Markdown, at, fault: FormatFault::NoMetadata(sentence) }
    })
}

/// The nesting depth.
fn depth(node: &Node) -> usize {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => 0,
        Node::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Node::Map(members) => 1 + members.iter().map(|(_, it)| depth(it)).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;

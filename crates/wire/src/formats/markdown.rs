//! Markdown that ends in a metadata block: prose for people, and JSON in a fence. Or Markdown that
//! begins with front matter in YAML, as other systems write it.
//!
//! The tree is the JSON; the prose around it is in the reserved member `#markdown`, so that it
//! survives the other formats and comes back where it was. Without a block nothing is guessed.

use std::ops::Range;

use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::package::Format;

use super::{FormatError, FormatFault, refuse_nul};
use crate::json;
use crate::position::TextPosition;

pub(crate) mod fences;
pub(crate) mod front_matter;
mod layout;
mod prose;

use fences::FencedBlock;
use front_matter::FrontMatter;
use layout::MarkdownLayout;

/// Where the metadata of a text is.
#[derive(Debug, Clone)]
enum MetadataPlace {
    Fence(FencedBlock),
    Front(FrontMatter),
}

impl MetadataPlace {
    /// The opening line, the metadata itself and the closing line.
    fn parts(&self) -> [Range<usize>; 3] {
        match self {
            Self::Fence(it) => [&it.open, &it.content, &it.close],
            Self::Front(it) => [&it.open, &it.content, &it.close],
        }
        .map(Clone::clone)
    }
}

/// The metadata of a text: JSON under a heading `Metadata`, else front matter that is a handoff, else
/// the last JSON in a fence, else any front matter. `None` where there is none of these.
fn find(text: &str) -> Option<(MetadataPlace, Result<Node, FormatError>)> {
    let fence = fences::metadata(text);
    let is_titled = fence.as_ref().is_some_and(|it| it.heading.is_some());
    let front = if is_titled { None } else { FrontMatter::of(text) };
    let front = front.map(|it| (it.read(text), it));
    match (fence, front) {
        (Some(fence), Some((read, _))) if !read.as_ref().is_ok_and(is_handoff) => {
            let read = metadata(text, &fence);
            Some((MetadataPlace::Fence(fence), read))
        }
        (_, Some((read, front))) => Some((MetadataPlace::Front(front), read)),
        (Some(fence), None) => {
            let read = metadata(text, &fence);
            Some((MetadataPlace::Fence(fence), read))
        }
        (None, None) => None,
    }
}

/// The bytes of the metadata of a text, which is JSON or YAML.
pub(super) fn metadata_range(text: &str) -> Option<Range<usize>> {
    let (place, _) = find(text)?;
    let [_, content, _] = place.parts();
    Some(content)
}

fn is_handoff(document: &Node) -> bool {
    DocumentKind::of(document) != DocumentKind::Payload
}

/// Reads the metadata and the prose around it.
pub fn decode(text: &str) -> Result<Node, FormatError> {
    refuse_nul(Format::Markdown, text)?;
    let Some((place, read)) = find(text) else {
        let sentence = "there is no metadata: end the text with a `## Metadata` heading and a \
                        fenced `json` block under it, or begin it with front matter";
        return Err(FormatError {
            format: Format::Markdown,
            at: TextPosition::of(text, text.len()),
            fault: FormatFault::NoMetadata(sentence.to_owned()),
        });
    };
    let metadata = read?;
    let layout = MarkdownLayout::of(text, &place, &metadata);
    prose::join(layout, metadata).ok_or_else(|| {
        let [open, ..] = place.parts();
        FormatError::at(Format::Markdown, text, open.start, FormatFault::TooDeep)
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

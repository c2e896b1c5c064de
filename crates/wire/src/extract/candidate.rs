//! Finds places in a text that look like a handoff. Each is parsed later, and only once.

use std::ops::Range;

use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;

use super::{json_blocks, xml_blocks, yaml_blocks};
use crate::formats::markdown::fences::{self, FencedBlock};
use crate::formats::{Format, FormatError};

pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) format: Format,
    pub(super) sign: Sign,
}

/// The evidence that a handoff is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is in a place for handoffs only: in a fence `baton`, under a heading `Metadata`.
    Place,
    /// It begins as a handoff does.
    Root,
    /// Only its contents can tell.
    Content,
}

/// Words of handoffs, for a text that is too broken to parse.
const TELLING: [&str; 8] = [
    "\"handoff\"",
    "\"acknowledgment\"",
    "\"acknowledgement\"",
    "\"output_type\"",
    "\"blocked_reason\"",
    "\"next_agent\"",
    "\"toAgent\"",
    "\"handoffId\"",
];

impl Candidate {
    pub(super) fn is_meant(&self, text: &str, document: &Result<Node, FormatError>) -> bool {
        match (self.sign, document) {
            (Sign::Place, Ok(_) | Err(_)) | (Sign::Root, Err(_)) => true,
            (Sign::Root | Sign::Content, Ok(document)) => is_handoff(document),
            (Sign::Content, Err(_)) => TELLING.iter().any(|it| text.contains(it)),
        }
    }
}

/// A document in one of the built-in formats, or a command of the pipeline API.
fn is_handoff(document: &Node) -> bool {
    let has = |key: &str| document.member(key).is_some();
    let is_command = has("action") && (has("storyId") || has("handoffId"));
    is_command || DocumentKind::of(document) != DocumentKind::Payload
}

/// The candidates in a text.
#[derive(Default)]
pub(super) struct Candidates {
    /// In order. None is inside another of its format, so that parsing them all takes a few passes
    /// at most.
    pub(super) whole: Vec<Candidate>,
    /// The last one with a beginning and no end: the output may have been truncated in it.
    pub(super) unclosed: Option<Candidate>,
}

impl Candidates {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        scan(text, 0, Fences::Opened, &mut found);
        found.whole.sort_by_key(|it| (it.span.start, usize::MAX - it.span.end));
        let mut ends = [0; Format::ALL.len()];
        found.whole.retain(|it| {
            let end = &mut ends[it.format as usize];
            let is_outside = it.span.end > *end;
            *end = (*end).max(it.span.end);
            is_outside
        });
        found
    }

    pub(super) fn add(&mut self, span: Range<usize>, format: Format, sign: Sign) {
        self.whole.push(Candidate { span, format, sign });
    }

    pub(super) fn add_unclosed(&mut self, span: Range<usize>, format: Format, sign: Sign) {
        if self.unclosed.as_ref().is_none_or(|it| it.span.start < span.start) {
            self.unclosed = Some(Candidate { span, format, sign });
        }
    }
}

/// Whether a Markdown fence is searched for more fences.
#[derive(Clone, Copy)]
enum Fences {
    Opened,
    Kept,
}

/// Searches a text that begins at `offset` of the whole.
fn scan(text: &str, offset: usize, nested: Fences, found: &mut Candidates) {
    let mut start = 0;
    // An unclosed fence is not a fence.
    for fence in fences::fences(text).into_iter().filter(|it| it.is_closed) {
        bare(&text[start..fence.open.start], offset + start, found);
        in_fence(text, &fence, offset, nested, found);
        start = fence.close.end;
    }
    bare(&text[start..], offset + start, found);
}

fn bare(text: &str, offset: usize, found: &mut Candidates) {
    xml_blocks::find(text, offset, found);
    yaml_blocks::find(text, offset, found);
    json_blocks::find(text, offset, found);
}

/// Fence languages that may hold other content than they say.
const LOOKED_INTO: [&str; 12] = [
    "", "baton", "console", "html", "json", "jsonc", "output", "text", "txt", "xml", "yaml", "yml",
];

fn in_fence(
    text: &str,
    fence: &FencedBlock,
    offset: usize,
    nested: Fences,
    found: &mut Candidates,
) {
    let content = &text[fence.content.clone()];
    let start = offset + fence.content.start;
    let span = start..start + content.len();
    let is_object = content.trim_start().starts_with('{');
    match (fence.language.as_str(), fence.heading) {
        ("baton", _) if is_object => found.add(span, Format::Json, Sign::Place),
        ("json" | "", Some(heading)) if is_object => {
            let span = offset + heading..offset + fence.close.end;
            found.add(span, Format::Markdown, Sign::Place);
        }
        ("json" | "jsonc" | "", _) if is_object => {
            found.add(span, Format::Json, Sign::Content);
        }
        ("yaml" | "yml", _) if yaml_blocks::begins_with_root(content) => {
            found.add(span, Format::Yaml, Sign::Root);
        }
        ("markdown" | "md", _) => match nested {
            Fences::Opened => scan(content, start, Fences::Kept, found),
            Fences::Kept => bare(content, start, found),
        },
        (language, _) if LOOKED_INTO.contains(&language) => bare(content, start, found),
        // Code in other languages may quote a handoff, but hands nothing over.
        _ => {}
    }
}

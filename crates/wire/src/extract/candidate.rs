//! Finds places in a text that look like a handoff. Each is parsed later, and only once.

use std::ops::Range;

use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::document::request::PipelineRequest;

use super::own_answer::{is_cut_answer, is_own_answer};
use super::{json_blocks, xml_blocks, yaml_blocks};
use crate::formats::markdown::fences::{self, FencedBlock, MarkdownBlocks};
use crate::formats::markdown::front_matter;
use crate::formats::{Format, FormatError};

pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) format: Format,
    pub(super) sign: Sign,
    pub(super) content: CandidateContent,
}

pub(super) enum CandidateContent {
    Document,
    /// Front matter; the prose below it belongs to the document.
    FrontMatter,
    /// A text to be searched by itself: a block quote or a fence in a list item, without its marks.
    Wrapped(String),
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
const TELLING: [&str; 10] = [
    "\"handoff\"",
    "\"acknowledgment\"",
    "\"acknowledgement\"",
    "\"output_type\"",
    "\"blocked_reason\"",
    "\"next_agent\"",
    "\"toAgent\"",
    "\"to_agent\"",
    "\"from_agent\"",
    "\"handoffId\"",
];

impl Candidate {
    pub(super) fn is_meant(&self, text: &str, document: &Result<Node, FormatError>) -> bool {
        match (self.sign, document) {
            (Sign::Place | Sign::Root | Sign::Content, Ok(document)) if is_own_answer(document) => {
                false
            }
            (Sign::Place, Ok(_) | Err(_)) | (Sign::Root, Err(_)) => true,
            (Sign::Root | Sign::Content, Ok(document)) => is_handoff(document),
            (Sign::Content, Err(_)) => {
                TELLING.iter().any(|it| text.contains(it)) && !is_cut_answer(text)
            }
        }
    }
}

/// A document in one of the built-in formats, another system's handoff, or a command of the pipeline
/// API.
pub(super) fn is_handoff(document: &Node) -> bool {
    let has = |key: &str| document.member(key).is_some();
    let is_command = has("action") && (has("storyId") || has("handoffId"));
    is_command
        || PipelineRequest::of(document).is_some()
        || DocumentKind::of(document) != DocumentKind::Payload
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
        self.push(span, format, sign, CandidateContent::Document);
    }

    fn push(&mut self, span: Range<usize>, format: Format, sign: Sign, content: CandidateContent) {
        self.whole.push(Candidate { span, format, sign, content });
    }

    /// Adds a text that has to be searched by itself.
    fn add_wrapped(&mut self, span: Range<usize>, text: String) {
        let content = CandidateContent::Wrapped(text);
        self.push(span, Format::Markdown, Sign::Content, content);
    }

    /// Drops the candidates from the given one on that begin in a hidden stretch.
    fn hide(&mut self, from: usize, hidden: &[Range<usize>], offset: usize) {
        let is_hidden = |at: usize| {
            let at = at.checked_sub(offset);
            let after = |at: usize| hidden.partition_point(|it| it.start <= at);
            at.is_some_and(|at| after(at).checked_sub(1).is_some_and(|it| at < hidden[it].end))
        };
        // Only these are looked at: there may be thousands of texts to search.
        let newest = self.whole.split_off(from);
        self.whole.extend(newest.into_iter().filter(|it| !is_hidden(it.span.start)));
        self.unclosed = self.unclosed.take().filter(|it| !is_hidden(it.span.start));
    }

    pub(super) fn add_unclosed(&mut self, span: Range<usize>, format: Format, sign: Sign) {
        if self.unclosed.as_ref().is_none_or(|it| it.span.start < span.start) {
            let content = CandidateContent::Document;
            self.unclosed = Some(Candidate { span, format, sign, content });
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
    let n_before = found.whole.len();
    let MarkdownBlocks { fences, quotes, comments } = fences::blocks(text);
    let mut start = 0;
    let mut fenced: Vec<Range<usize>> = Vec::new();
    // An unclosed fence is not a fence.
    for fence in fences.into_iter().filter(|it| it.is_closed) {
        bare(&text[start..fence.open.start], offset + start, found);
        in_fence(text, &fence, offset, nested, found);
        start = fence.close.end;
        fenced.push(fence.open.start..start);
    }
    bare(&text[start..], offset + start, found);
    if let Fences::Opened = nested {
        let n_before = found.whole.len();
        for span in front_matter::blocks(text) {
            found.push(span, Format::Markdown, Sign::Content, CandidateContent::FrontMatter);
        }
        found.hide(n_before, &fenced, offset);
    }
    // An opening tag before a comment is paired with its closing one behind it, so only candidates
    // that begin in a comment are in it.
    found.hide(n_before, &comments, offset);
    found.hide(n_before, &quotes, offset);
    for quote in quotes {
        let inner = without_marks(&text[quote.clone()]);
        found.add_wrapped(offset + quote.start..offset + quote.end, inner);
    }
}

/// The lines of a block quote without their `>`.
fn without_marks(quote: &str) -> String {
    let line = |line: &'_ str| {
        let inner = line.trim_start_matches(' ').strip_prefix('>').unwrap_or(line).to_owned();
        inner.strip_prefix(' ').map(str::to_owned).unwrap_or(inner)
    };
    quote.split_inclusive('\n').map(line).collect()
}

/// A fence without the list item's marker and indentation.
fn without_indent(fence: &str, indent: usize) -> String {
    let sign = fence.find(['`', '~']).unwrap_or(0);
    let line = |line: &'_ str| {
        let n_blanks = line.len() - line.trim_start_matches(' ').len();
        line[n_blanks.min(indent)..].to_owned()
    };
    fence[sign..].split_inclusive('\n').map(line).collect()
}

fn bare(text: &str, offset: usize, found: &mut Candidates) {
    xml_blocks::find(text, offset, found);
    yaml_blocks::find(text, offset, found);
    json_blocks::find(text, offset, found);
}

/// Fence languages that may hold other content than they say.
const LOOKED_INTO: [&str; 14] = [
    "", "baton", "console", "html", "json", "jsonc", "jsonl", "ndjson", "output", "text", "txt",
    "xml", "yaml", "yml",
];

/// Whether a fence in this language is searched.
pub(super) fn is_searched(language: &str) -> bool {
    LOOKED_INTO.contains(&language) || matches!(language, "markdown" | "md")
}

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
    // Indentation means nothing to JSON.
    if fence.indent > 0 && !is_object {
        let whole = fence.open.start..fence.close.end;
        let inner = without_indent(&text[whole.clone()], fence.indent);
        found.add_wrapped(offset + whole.start..offset + whole.end, inner);
        return;
    }
    match (fence.language.as_str(), fence.heading) {
        ("baton", _) if is_object => found.add(span, Format::Json, Sign::Place),
        ("json" | "", Some(heading)) if is_object => {
            let span = offset + heading..offset + fence.close.end;
            found.add(span, Format::Markdown, Sign::Place);
        }
        ("json" | "jsonc" | "", _) if is_object => {
            found.add(span, Format::Json, Sign::Content);
        }
        ("yaml" | "yml", _) if yaml_blocks::is_document(content) => {
            found.add(span, Format::Yaml, Sign::Root);
        }
        // The prose of a file with front matter ends with the fence.
        ("markdown" | "md", _) if front_matter::begins(content) => {
            found.add_wrapped(span, content.to_owned());
        }
        ("markdown" | "md", _) => match nested {
            Fences::Opened => scan(content, start, Fences::Kept, found),
            Fences::Kept => bare(content, start, found),
        },
        // As in all other formats, what stands in the fence is one document where it can be.
        ("baton", _) if yaml_blocks::is_map(content) => {
            found.add(span, Format::Yaml, Sign::Place);
        }
        (language, _) if LOOKED_INTO.contains(&language) => bare(content, start, found),
        // Code in other languages may quote a handoff, but hands nothing over.
        _ => {}
    }
}

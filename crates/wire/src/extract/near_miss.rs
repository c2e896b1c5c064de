//! What looks like a handoff in an output without one, and why it is not taken.

use std::fmt;
use std::ops::Range;

use baton_core::document::Node;

use super::candidate::{CandidateContent, Candidates, is_searched};
use super::own_answer::is_own_answer;
use super::plain::Plain;
use crate::formats::markdown::fences::{self, FencedBlock, MarkdownBlocks};
use crate::formats::{self, Format};
use crate::position::TextPosition;

/// A block that its writer may have meant as a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// Its first line in the output, from 1.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a block at line {} looks like a handoff, but {}", self.line, self.why)
    }
}

/// The last one, for an output in which no handoff was found.
pub(super) fn find(output: &str) -> Option<NearMiss> {
    let text = &Plain::of(output).text;
    match (in_candidates(text), in_lines(text)) {
        // A line of a document that was read says less than the document.
        (Some((span, read)), Some((start, skipped))) => {
            Some(if start < span.end { read } else { skipped })
        }
        (Some((_, miss)), None) | (None, Some((_, miss))) => Some(miss),
        (None, None) => None,
    }
}

/// The last document that was read.
fn in_candidates(text: &str) -> Option<(Range<usize>, NearMiss)> {
    Candidates::of(text).whole.iter().rev().find_map(|candidate| {
        let CandidateContent::Document = candidate.content else { return None };
        let document = match candidate.format {
            Format::Markdown => return None,
            it @ (Format::Json | Format::Xml | Format::Yaml) => {
                formats::decode(it, &text[candidate.span.clone()]).ok()?
            }
        };
        let line = TextPosition::of(text, candidate.span.start).line;
        Some((candidate.span.clone(), NearMiss { line, why: why_not(&document)? }))
    })
}

/// Why a document is no handoff; `None` where nothing in it says that it was meant as one.
fn why_not(document: &Node) -> Option<String> {
    let has = |key: &str| document.member(key).is_some();
    let text = |key: &str| document.member(key).and_then(Node::as_text);
    if is_own_answer(document) {
        return Some("it is an answer of Baton's own API".to_owned());
    }
    match text("action") {
        Some("create") => {
            return Some("`create` needs `toAgent`, and `fromAgent` or `storyId`".to_owned());
        }
        Some(word @ ("accept" | "reject" | "clarify" | "answer")) => {
            return Some(format!("`{word}` needs `handoffId`"));
        }
        Some(_) | None => {}
    }
    match document.member("handoff") {
        Some(Node::Map(_)) => return Some("its `handoff` has neither `from` nor `to`".to_owned()),
        Some(_) => {
            return Some("its `handoff` is no map with `from` and `to`".to_owned());
        }
        None => {}
    }
    if has("from") && has("to") {
        let why = "`from` and `to` alone may mean anything: put them under `handoff`, or call them \
                   `from_agent` and `to_agent`";
        return Some(why.to_owned());
    }
    if has("to_agent") || has("toAgent") || has("from_agent") || has("fromAgent") {
        return Some("what it names is no agent's id".to_owned());
    }
    (has("status") && has("summary")).then(|| {
        "a report needs `agent`, an agent's id, and a `status` such as `complete`".to_owned()
    })
}

/// The most of a line that is looked at.
const NEAR: usize = 400;

/// The last line that begins a handoff where none is looked for.
fn in_lines(text: &str) -> Option<(usize, NearMiss)> {
    let mut last = None;
    let mut start = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        if is_telling(&line[..line.floor_char_boundary(NEAR)]) {
            last = Some((n + 1, start));
        }
        start += line.len();
    }
    let (line, start) = last?;
    let MarkdownBlocks { fences, comments, .. } = fences::blocks(text);
    if comments.iter().any(|it| it.contains(&start)) {
        return Some((start, NearMiss { line, why: "it is in an HTML comment".to_owned() }));
    }
    let end = |it: &FencedBlock| it.close.end.max(it.content.end);
    let fence = fences.iter().find(|it| (it.open.start..end(it)).contains(&start));
    let why = match fence {
        Some(it) if !it.is_closed => "its fence is never closed".to_owned(),
        Some(it) if !is_searched(&it.language) => {
            format!("it is in a fence for `{}`; use one for `baton`", it.language)
        }
        Some(_) | None => "it is no whole document at the beginning of a line".to_owned(),
    };
    Some((start, NearMiss { line, why }))
}

fn is_telling(line: &str) -> bool {
    let begin = line.trim_start();
    let is_request = line.contains("\"action\"") && line.contains("\"create\"");
    begin.starts_with("<handoff>")
        || begin.starts_with("handoff:")
        || begin.starts_with("```baton")
        || line.contains("{\"handoff\"")
        || line.contains("\"toAgent\":")
        || line.contains("\"to_agent\":")
        || is_request
}

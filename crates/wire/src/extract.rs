//! Finds the handoffs in an agent's output.
//!
//! XML, YAML and JSON, bare or in a fence, a metadata block under its heading and Markdown with
//! front matter; among chatter, code and colours, in block quotes and list items, and in the JSON
//! that agent programs wrap their answer in. HTML comments are not searched, and answers of Baton's
//! own API are no handoffs. A broken handoff is reported, not skipped: an agent that printed a broken
//! one after a good one meant the broken one. Fields beside `handoff` belong to it in every format.

use std::ops::Range;

use baton_core::document::Node;

use crate::formats::markdown::{self, fences};
use crate::formats::{self, Format, FormatError};
use crate::json;
use crate::position::TextPosition;

mod candidate;
mod envelope;
mod error;
mod json_blocks;
mod near_miss;
mod own_answer;
mod plain;
mod xml_blocks;
mod yaml_blocks;

use candidate::{Candidate, CandidateContent, Candidates, is_handoff};
use envelope::EnvelopePart;
pub use error::ExtractError;
pub use near_miss::NearMiss;
use plain::Plain;

/// A handoff, or an attempt at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its bytes in the output; those of what is around it where that had to be taken off.
    pub span: Range<usize>,
    pub format: Format,
    /// Its own text, where the output has it in a JSON string, a block quote or a list item.
    pub unwrapped: Option<String>,
    /// The parsed document, or why it cannot be read.
    pub document: Result<Node, FormatError>,
}

impl Found {
    /// The handoff as its sender wrote it.
    pub fn text<'a>(&'a self, output: &'a str) -> &'a str {
        self.unwrapped.as_deref().unwrap_or(&output[self.span.clone()])
    }
}

/// How deep a handoff may be wrapped: in a quote in a JSON string in a JSON string, and no deeper.
/// Each level reads the text once more.
const MOST_WRAPPED: usize = 4;

/// Everything that looks like a handoff, in output order; the newest is the last.
pub fn extract(output: &str) -> Vec<Found> {
    let plain = Plain::of(output);
    let mut all = search(&plain.text, 0);
    for found in &mut all {
        found.span = plain.original(&found.span);
    }
    all
}

/// The last one, which must be well-formed.
pub fn extract_one(output: &str) -> Result<Found, ExtractError> {
    let Some(last) = extract(output).pop() else { return Err(nothing_in(output)) };
    match last.document {
        Ok(_) => Ok(last),
        Err(error) => Err(ExtractError::Broken { span: last.span, error }),
    }
}

/// The error for an output without a handoff.
pub fn nothing_in(output: &str) -> ExtractError {
    ExtractError::Nothing { near_miss: near_miss::find(output) }
}

/// Searches a text without escape sequences.
fn search(text: &str, depth: usize) -> Vec<Found> {
    if let Some(items) = json_list(text) {
        return in_envelope(&items, &(0..text.len()), depth);
    }
    let Candidates { whole, unclosed } = Candidates::of(text);
    // Positions are counted incrementally: there may be thousands of broken candidates.
    let (mut reached, mut place) = (0, TextPosition::START);
    let mut taken = 0;
    let mut all: Vec<Found> = Vec::new();
    // Where in `all` the documents with front matter are: their prose ends where the next begins.
    let mut fronts: Vec<usize> = Vec::new();
    for candidate in whole {
        let Range { start, end } = candidate.span;
        place = place.behind(&text[reached..start]);
        reached = start;
        // Candidates inside a handoff are a part of it.
        if start < taken {
            continue;
        }
        match &candidate.content {
            CandidateContent::Wrapped(inner) => {
                let inside = unwrapped(inner, &candidate.span, depth);
                if !inside.is_empty() {
                    taken = end;
                }
                all.extend(inside);
            }
            CandidateContent::FrontMatter => {
                if let Some(found) = front_matter(text, &candidate.span) {
                    fronts.push(all.len());
                    all.push(found);
                    taken = end;
                }
            }
            CandidateContent::Document => match look(text, &candidate, place) {
                CandidateVerdict::Handoff(found) => {
                    all.push(found);
                    taken = end;
                }
                // What is in the strings of a JSON object is escaped: it is not searched as it is.
                CandidateVerdict::Envelope(object) => {
                    all.extend(in_envelope(&object, &candidate.span, depth));
                    taken = end;
                }
                CandidateVerdict::Nothing => {}
            },
        }
    }
    if let Some(candidate) = unclosed.filter(|it| it.span.start >= taken) {
        let place = TextPosition::of(text, candidate.span.start);
        if let CandidateVerdict::Handoff(found) = look(text, &candidate, place) {
            all.push(found);
        }
    }
    for index in fronts {
        let end = all.get(index + 1).map_or(text.len(), |it| it.span.start);
        let found = &mut all[index];
        found.span.end = found.span.end.max(end);
        found.document = formats::decode(Format::Markdown, &text[found.span.clone()]);
    }
    all
}

/// What a candidate turned out to be.
enum CandidateVerdict {
    Handoff(Found),
    /// JSON that is no handoff and may hold one.
    Envelope(Node),
    Nothing,
}

fn look(whole: &str, candidate: &Candidate, start: TextPosition) -> CandidateVerdict {
    let text = &whole[candidate.span.clone()];
    let document = match candidate.format {
        Format::Json | Format::Xml | Format::Yaml => formats::decode(candidate.format, text),
        // The chatter around a metadata block is not its prose.
        Format::Markdown => match fences::metadata(text) {
            Some(fence) => markdown::metadata(text, &fence),
            None => return CandidateVerdict::Nothing,
        },
    };
    if candidate.is_meant(text, &document) {
        let document = document.map_err(|error| FormatError { at: error.at.after(start), ..error });
        let (span, format) = (candidate.span.clone(), candidate.format);
        return CandidateVerdict::Handoff(Found { span, format, unwrapped: None, document });
    }
    match (candidate.format, document) {
        (Format::Json, Ok(object)) => CandidateVerdict::Envelope(object),
        // A program's answer may be longer than a package.
        (Format::Json, Err(_)) if text.len() > json::MOST_BYTES => {
            json::parse_within(text, text.len())
                .map_or(CandidateVerdict::Nothing, CandidateVerdict::Envelope)
        }
        (Format::Json | Format::Xml | Format::Yaml | Format::Markdown, _) => {
            CandidateVerdict::Nothing
        }
    }
}

/// The items of a text that is one JSON list, as some agent programs print their messages.
fn json_list(text: &str) -> Option<Node> {
    let text = text.trim();
    let is_list = text.strip_prefix('[').is_some_and(|it| it.trim_start().starts_with('{'));
    if is_list { json::parse_within(text, text.len()).ok() } else { None }
}

/// The handoffs in the parts of a JSON value that an agent wrote itself.
fn in_envelope(envelope: &Node, span: &Range<usize>, depth: usize) -> Vec<Found> {
    let mut all = Vec::new();
    for part in envelope::parts(envelope) {
        match part {
            EnvelopePart::Text(text) => all.extend(unwrapped(text, span, depth)),
            EnvelopePart::Document(document) => all.push(Found {
                span: span.clone(),
                format: Format::Json,
                unwrapped: Some(json::print_pretty(document)),
                document: Ok(document.clone()),
            }),
        }
    }
    all
}

/// The handoffs in a text that stood inside of something else.
fn unwrapped(inner: &str, span: &Range<usize>, depth: usize) -> Vec<Found> {
    if depth == MOST_WRAPPED {
        return Vec::new();
    }
    let plain = Plain::of(inner);
    let mut all = search(&plain.text, depth + 1);
    for found in &mut all {
        found.unwrapped = Some(found.text(&plain.text).to_owned());
        found.span = span.clone();
    }
    all
}

/// A document whose fields are in front matter; its prose is found later.
fn front_matter(text: &str, span: &Range<usize>) -> Option<Found> {
    let document = formats::decode(Format::Markdown, &text[span.clone()]);
    let is_meant = document.as_ref().is_ok_and(is_handoff);
    let (span, format) = (span.clone(), Format::Markdown);
    is_meant.then_some(Found { span, format, unwrapped: None, document })
}

#[cfg(test)]
mod tests;

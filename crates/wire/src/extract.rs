//! Finds the handoffs in an agent's output.
//!
//! XML, YAML and JSON, bare or in a fence, and a metadata block under its heading; among chatter,
//! code and colours. A broken handoff is reported, not skipped: an agent that printed a broken one
//! after a good one meant the broken one.

use std::ops::Range;

use baton_core::document::Node;

use crate::formats::markdown::fences;
use crate::formats::{self, Format, FormatError};
use crate::position::TextPosition;

mod candidate;
mod error;
mod json_blocks;
mod plain;
mod xml_blocks;
mod yaml_blocks;

use candidate::{Candidate, Candidates};
pub use error::ExtractError;
use plain::Plain;

/// A handoff, or an attempt at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its bytes in the output.
    pub span: Range<usize>,
    pub format: Format,
    /// The parsed document, or why it cannot be read.
    pub document: Result<Node, FormatError>,
}

/// Everything that looks like a handoff, in output order; the newest is the last.
pub fn extract(output: &str) -> Vec<Found> {
    let plain = Plain::of(output);
    let Candidates { whole, unclosed } = Candidates::of(&plain.text);
    // Positions are counted incrementally: there may be thousands of broken candidates.
    let (mut reached, mut place) = (0, TextPosition::START);
    let mut taken = 0;
    let mut all: Vec<Found> = Vec::new();
    for candidate in whole {
        let start = candidate.span.start;
        place = place.behind(&plain.text[reached..start]);
        reached = start;
        let end = candidate.span.end;
        // Candidates inside a handoff are a part of it.
        if start < taken {
            continue;
        }
        if let Some(found) = found(&plain, candidate, place) {
            all.push(found);
            taken = end;
        }
    }
    if let Some(candidate) = unclosed.filter(|it| it.span.start >= taken) {
        let place = TextPosition::of(&plain.text, candidate.span.start);
        all.extend(found(&plain, candidate, place));
    }
    all
}

/// The last one, which must be well-formed.
pub fn extract_one(output: &str) -> Result<Found, ExtractError> {
    let last = extract(output).pop().ok_or(ExtractError::Nothing)?;
    match last.document {
        Ok(_) => Ok(last),
        Err(error) => Err(ExtractError::Broken { span: last.span, error }),
    }
}

fn found(plain: &Plain, candidate: Candidate, start: TextPosition) -> Option<Found> {
    let text = &plain.text[candidate.span.clone()];
    let document = match candidate.format {
        Format::Json | Format::Xml | Format::Yaml => formats::decode(candidate.format, text),
        // The chatter around a metadata block is not its prose.
        Format::Markdown => match fences::metadata(text) {
            Some(fence) => formats::markdown::metadata(text, &fence),
            None => return None,
        },
    };
    if !candidate.is_meant(text, &document) {
        return None;
    }
    let document = document.map_err(|error| FormatError { at: error.at.after(start), ..error });
    Some(Found { span: plain.original(&candidate.span), format: candidate.format, document })
}

#[cfg(test)]
mod tests;

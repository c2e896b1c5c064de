//! JSON objects in a text that begin a line.

use super::candidate::{Candidates, Sign};
use crate::formats::Format;

/// How often the text may be scanned in search of the ends of objects. An object with an end costs
/// its own length; a hostile text has many without one.
const MOST_PASSES: usize = 16;

/// Searched from the end, so that earlier text cannot hide the newest.
pub(super) fn find(text: &str, offset: usize, found: &mut Candidates) {
    let mut budget = MOST_PASSES * text.len();
    for start in line_starts(text).filter(|it| text[*it..].starts_with('{')) {
        let rest = &text.as_bytes()[start..];
        let end = end_of_object(&rest[..rest.len().min(budget)]);
        match end {
            Some(end) => found.add(offset + start..offset + start + end, Format::Json, SIGN),
            None => found.add_unclosed(offset + start..offset + text.len(), Format::Json, SIGN),
        }
        budget = budget.saturating_sub(end.unwrap_or(rest.len()));
        if budget == 0 {
            return;
        }
    }
}

const SIGN: Sign = Sign::Content;

/// Where lines begin, last first.
fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    text.rmatch_indices('\n').map(|(at, _)| at + 1).chain([0])
}

/// The length of the object that a text begins with, if its braces are balanced.
fn end_of_object(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_in_text = false;
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_text => is_escaped = true,
            b'"' => is_in_text = !is_in_text,
            b'{' | b'[' if !is_in_text => depth += 1,
            b'}' | b']' if !is_in_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

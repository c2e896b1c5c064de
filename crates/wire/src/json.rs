//! JSON as RFC 8259 has it, read into [`Node`] and printed from it with nothing lost:
//! the order of members and the digits of numbers stay as they were written.
//!
//! Stricter than most readers where two of them would disagree about the meaning: duplicate keys,
//! U+0000 and lone surrogates are refused. Looser in one place: a number may have any size.

use baton_core::document::Node;

mod error;
mod print;
mod read;

pub use error::{JsonError, JsonFault};

/// The largest text [`parse`] takes: a package, and then some.
pub const MOST_BYTES: usize = 1024 * 1024;

/// The maximum indentation depth, in every format. Beyond it the blanks would outweigh the content:
/// a megabyte that is nested 60 deep would be printed as 60.
pub const MOST_INDENTED: usize = 14;

/// The maximum nesting depth.
pub const MOST_DEPTH: usize = 64;

/// Reads one JSON text of at most [`MOST_BYTES`].
pub fn parse(text: &str) -> Result<Node, JsonError> {
    parse_within(text, MOST_BYTES)
}

/// As [`parse`], for a request body or another envelope with the caller's own limit.
pub fn parse_within(text: &str, most_bytes: usize) -> Result<Node, JsonError> {
    read::read(text, most_bytes)
}

/// The document on one line, without insignificant white space.
pub fn print(node: &Node) -> String {
    print::print(node, print::JsonLayout::Compact)
}

/// The document for people: one member per line, indented by two blanks, no newline at the end.
pub fn print_pretty(node: &Node) -> String {
    print::print(node, print::JsonLayout::Pretty)
}

#[cfg(test)]
mod tests;

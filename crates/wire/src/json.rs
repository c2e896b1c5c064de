//! JSON as RFC 8259 has it, read into [`Node`] and printed from it with nothing lost:
//! the order of members and the digits of numbers stay as they were written.
//!
//! Stricter than most readers where two of them would disagree about the meaning: a key stands
//! once, U+0000 and lone surrogates are refused. Looser in one place: a number may have any size.

use baton_core::document::Node;

mod print;
mod read;

/// The largest text [`parse`] takes: a package, and then some.
pub const MOST_BYTES: usize = 1024 * 1024;

/// How many lists and maps may be open at once.
pub const MOST_DEPTH: usize = 64;

/// Why a text is not JSON, and where it stops being so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct JsonError {
    pub line: usize,
    pub column: usize,
    pub fault: JsonFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    #[error("the text has {n_bytes} bytes; the most is {most}")]
    TooLarge { n_bytes: usize, most: usize },
    #[error("lists and maps are nested more than {MOST_DEPTH} deep")]
    TooDeep,
    #[error("the text ends where {expected} should follow")]
    Ends { expected: &'static str },
    #[error("found `{found}` where {expected} should stand")]
    Unexpected { found: String, expected: &'static str },
    #[error("the key `{key}` stands here a second time")]
    DuplicateKey { key: String },
    #[error("the character U+0000 is refused everywhere")]
    Nul,
    #[error("`\\u{code:04X}` is half of a surrogate pair without its other half")]
    LoneSurrogate { code: u16 },
    #[error(
        "`\\{found}` is not an escape; use one of `\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, `\\uXXXX`"
    )]
    BadEscape { found: String },
    #[error("the control character U+{code:04X} must be written as an escape inside text")]
    ControlCharacter { code: u8 },
    #[error("`{found}` is not a number")]
    BadNumber { found: String },
}

impl JsonError {
    /// Stable: programs match on it.
    pub fn code(&self) -> &'static str {
        match self.fault {
            JsonFault::TooLarge { .. } => "json_too_large",
            JsonFault::TooDeep => "json_too_deep",
            JsonFault::DuplicateKey { .. } => "json_duplicate_key",
            JsonFault::Nul => "json_nul",
            JsonFault::LoneSurrogate { .. } => "json_lone_surrogate",
            JsonFault::Ends { .. }
            | JsonFault::Unexpected { .. }
            | JsonFault::BadEscape { .. }
            | JsonFault::ControlCharacter { .. }
            | JsonFault::BadNumber { .. } => "json_syntax",
        }
    }
}

/// Reads one JSON text of at most [`MOST_BYTES`].
pub fn parse(text: &str) -> Result<Node, JsonError> {
    parse_within(text, MOST_BYTES)
}

/// As [`parse`], for a request body or another envelope whose bound the caller knows.
pub fn parse_within(text: &str, most_bytes: usize) -> Result<Node, JsonError> {
    read::read(text, most_bytes)
}

/// The document on one line, without a blank that it does not need.
pub fn print(node: &Node) -> String {
    print::print(node, print::Layout::Compact)
}

/// The document for people: one member a line, indented by two blanks, no newline at the end.
pub fn print_pretty(node: &Node) -> String {
    print::print(node, print::Layout::Pretty)
}

#[cfg(test)]
mod tests;

//! One document tree, four ways to write it: JSON, XML, YAML, and Markdown with a metadata block.
//!
//! Every document read here can be printed in any other format and comes back the same, through any
//! chain of them; comments and insignificant white space excepted. `docs/formats.md` says how.

use baton_core::document::Node;
pub use baton_core::package::Format;

use crate::json::{self, JsonFault, MOST_BYTES};
use crate::position::TextPosition;

mod error;
mod guess;
pub mod markdown;
mod places;
pub mod xml;
pub mod yaml;

pub use error::{FormatError, FormatFault};
pub use guess::guess;
pub use places::Places;

/// How many lists and maps may be open at once, in every format.
pub const MOST_DEPTH: usize = json::MOST_DEPTH;

/// Reads one document of at most [`MOST_BYTES`].
pub fn decode(format: Format, text: &str) -> Result<Node, FormatError> {
    decode_within(format, text, MOST_BYTES)
}

/// As [`decode`], for unchecked bytes. The size is checked before anything else.
pub fn decode_bytes(format: Format, bytes: &[u8]) -> Result<Node, FormatError> {
    check_size(format, bytes.len(), MOST_BYTES)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(format, text),
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Err(FormatError::at(format, &good, good.len(), FormatFault::NotUtf8))
        }
    }
}

/// As [`decode`], for a caller with its own size limit.
pub fn decode_within(format: Format, text: &str, most_bytes: usize) -> Result<Node, FormatError> {
    check_size(format, text.len(), most_bytes)?;
    // A byte order mark has no meaning in UTF-8, but some editors write it.
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    match format {
        Format::Json => json::parse_within(text, most_bytes).map_err(FormatError::from),
        Format::Xml => xml::decode(text),
        Format::Yaml => yaml::decode(text),
        Format::Markdown => markdown::decode(text),
    }
}

/// The document for people: indented, with a newline at the end.
pub fn encode(document: &Node, format: Format) -> String {
    match format {
        Format::Json => json::print_pretty(document) + "\n",
        Format::Xml => xml::encode(document),
        Format::Yaml => yaml::encode(document),
        Format::Markdown => markdown::encode(document),
    }
}

fn check_size(format: Format, n_bytes: usize, most: usize) -> Result<(), FormatError> {
    if n_bytes <= most {
        return Ok(());
    }
    let fault = match format {
        Format::Json => FormatFault::Json(JsonFault::TooLarge { n_bytes, most }),
        Format::Xml | Format::Yaml | Format::Markdown => FormatFault::TooLarge { n_bytes, most },
    };
    Err(FormatError { format, at: TextPosition::START, fault })
}

/// U+0000 is refused everywhere, before a third-party parser sees it.
fn refuse_nul(format: Format, text: &str) -> Result<(), FormatError> {
    match text.find('\0') {
        Some(offset) => Err(FormatError::at(format, text, offset, FormatFault::Nul)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

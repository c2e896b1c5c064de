//! XML, as in the XML handoff, read into the JSON form and printed from it.
//!
//! An element is a member, repeated elements are a list, an attribute is `@name`, text beside
//! others is `#text`, and a scalar is its text. What XML cannot express (types, odd keys, lists of
//! one) is in reserved `baton-*` attributes; what JSON cannot express (interleaved elements) in the
//! member `#order`. No DTD, no entities but the five, no processing instructions.

use baton_core::document::Node;

use super::FormatError;

mod assemble;
mod characters;
mod declaration;
mod marks;
mod plan;
mod print;
mod read;

/// Reads one XML document.
pub fn decode(text: &str) -> Result<Node, FormatError> {
    read::read(text)
}

/// The document indented by two blanks, with a newline at the end.
pub fn encode(document: &Node) -> String {
    print::print(document)
}

/// The root of a document that has several keys, or is no map at all.
const ROOT: &str = "document";

/// The element of a key that is no XML name; the key is in `baton-key`.
const MEMBER: &str = "member";

/// The element of a list's item where the list is an element of its own.
const ITEM: &str = "item";

/// The member that holds text beside attributes and elements.
const TEXT: &str = "#text";

/// The member with the order of interleaved elements.
const ORDER: &str = "#order";

#[cfg(test)]
mod tests;

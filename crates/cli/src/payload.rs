//! Arguments that carry a payload: text, `@FILE`, or `-` for stdin.

use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::package::Format;
use baton_wire::{formats, json};
use serde_json::value::{RawValue, to_raw_value};

use crate::document;
use crate::failure::Failure;
use crate::named_file;

const MOST_OUTPUT: u64 = 64 * 1024 * 1024;

/// A package as written: JSON, or a document in another format, such as Markdown with a metadata block.
pub(crate) fn package(argument: &str) -> Result<Box<RawValue>, Failure> {
    let text = text(argument)?;
    // An argument is JSON, unless it is a file or comes from a pipe.
    let (file, by_name) = match argument.strip_prefix('@') {
        Some(path) => (path, document::by_name(path)),
        None if argument == "-" => ("stdin", None),
        None => {
            json::parse(&text).map_err(|error| {
                let file = named_file::exists(argument).then(|| argument.to_owned());
                Failure::Payload { error, file }
            })?;
            return raw(text);
        }
    };
    match by_name.or_else(|| formats::guess(&text)).unwrap_or(Format::Json) {
        Format::Json => {
            // Checked here, so that an error has its own line and column.
            json::parse(&text).map_err(|error| Failure::Payload { error, file: None })?;
            raw(text)
        }
        format @ (Format::Xml | Format::Yaml | Format::Markdown) => {
            let document = formats::decode(format, &text)
                .map_err(|error| Failure::Document { file: file.to_owned(), error })?;
            match format {
                // The text itself is sent, so that what is stored is what was written.
                Format::Markdown | Format::Xml if is_document(format, &document) => {
                    to_raw_value(&text).map_err(|error| Failure::Usage(error.to_string()))
                }
                Format::Json | Format::Xml | Format::Yaml | Format::Markdown => {
                    raw(json::print(&document))
                }
            }
        }
    }
}

/// Whether the server reads the text as a document of this format: other XML would stay a text there.
fn is_document(format: Format, document: &Node) -> bool {
    format == Format::Markdown || DocumentKind::of(document) != DocumentKind::Payload
}

/// A reason: text, `-` for stdin, or `@FILE` where there is such a file.
pub(crate) fn reason(argument: &str) -> Result<String, Failure> {
    match argument.strip_prefix('@') {
        Some(path) if named_file::exists(path) => named_file::text(path),
        Some(_) | None if argument != "-" => Ok(argument.to_owned()),
        Some(_) | None => file(argument),
    }
}

/// Free text: a question, an answer, a comment.
pub(crate) fn words(argument: Option<&String>) -> Result<Option<String>, Failure> {
    argument.map(|it| text(it)).transpose()
}

/// The receiver's acknowledgement: a JSON document, or a text.
pub(crate) fn acknowledgement(argument: &str) -> Result<Box<RawValue>, Failure> {
    let text = text(argument)?;
    match json::parse(&text) {
        Ok(Node::Map(_)) => raw(text),
        Ok(Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_))
        | Err(_) => to_raw_value(&text).map_err(|error| Failure::Usage(error.to_string())),
    }
}

fn raw(text: String) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(text).map_err(|error| Failure::Usage(error.to_string()))
}

/// The text of a document: a file, or stdin for `-`.
pub(crate) fn file(name: &str) -> Result<String, Failure> {
    if name == "-" {
        named_file::read_text(&mut std::io::stdin(), "stdin")
    } else {
        named_file::text(name)
    }
}

/// Everything that an agent printed, which may be long and need not be valid UTF-8.
pub(crate) fn output(name: &str) -> Result<String, Failure> {
    let bytes = if name == "-" {
        named_file::read_at_most(&mut std::io::stdin(), "stdin", MOST_OUTPUT)?
    } else {
        named_file::read_at_most(&mut named_file::open(name)?, name, MOST_OUTPUT)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Text from the source that the argument names.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    match argument.strip_prefix('@') {
        Some(path) => named_file::text(path),
        None if argument == "-" => file(argument),
        None => Ok(argument.to_owned()),
    }
}

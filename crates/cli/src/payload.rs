//! Arguments that carry a payload: text, `@FILE`, or `-` for stdin.

use baton_core::document::Node;
use baton_core::package::Format;
use baton_wire::{formats, json};
use serde_json::value::{RawValue, to_raw_value};

use crate::failure::Failure;
use crate::named_file;

const MOST_OUTPUT: u64 = 64 * 1024 * 1024;

/// A package: JSON as written, or a YAML or Markdown document in its JSON form.
pub(crate) fn package(argument: &str) -> Result<Box<RawValue>, Failure> {
    let text = text(argument)?;
    match formats::guess(&text) {
        Some(format @ (Format::Yaml | Format::Markdown)) => {
            let document = formats::decode(format, &text).map_err(|error| {
                let sentence = error.sentence();
                Failure::Usage(format!("the payload is not {}: {sentence}", format.title()))
            })?;
            raw(json::print_pretty(&document))
        }
        Some(Format::Json | Format::Xml) | None => {
            // Checked here, so that an error has its own line and column.
            json::parse(&text).map_err(|error| {
                let is_file = argument == text && named_file::exists(argument);
                Failure::Payload { error, file: is_file.then(|| argument.to_owned()) }
            })?;
            raw(text)
        }
    }
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

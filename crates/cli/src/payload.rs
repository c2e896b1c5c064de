//! What is handed over on the command line: text, `@FILE`, or `-` for stdin.

use std::io::Read as _;

use baton_core::document::Node;
use baton_wire::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::failure::Failure;

const MOST_OUTPUT: u64 = 64 * 1024 * 1024;

/// A package of JSON, as it is written.
pub(crate) fn package(argument: &str) -> Result<Box<RawValue>, Failure> {
    let text = text(argument)?;
    // Looked at here, where what is wrong with it has a line and a column of its own.
    json::parse(&text)?;
    raw(text)
}

/// Something that is said: a question, an answer, a comment.
pub(crate) fn words(argument: Option<&String>) -> Result<Option<String>, Failure> {
    argument.map(|it| text(it)).transpose()
}

/// What the receiver of a handoff says: a document of JSON, or a text.
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
    if name == "-" { read_text(&mut std::io::stdin(), "stdin") } else { file_at(name) }
}

fn file_at(path: &str) -> Result<String, Failure> {
    read_text(&mut open(path)?, path)
}

fn read_text(from: &mut dyn std::io::Read, name: &str) -> Result<String, Failure> {
    let bytes = read_at_most(from, name, json::MOST_BYTES as u64)?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("`{name}` is not UTF-8 text")))
}

/// Everything that an agent printed, which may be long and need not be text to the last byte.
pub(crate) fn output(name: &str) -> Result<String, Failure> {
    let bytes = if name == "-" {
        read_at_most(&mut std::io::stdin(), "stdin", MOST_OUTPUT)?
    } else {
        read_at_most(&mut open(name)?, name, MOST_OUTPUT)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Text from wherever the argument says.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    match argument.strip_prefix('@') {
        Some(path) => file_at(path),
        None if argument == "-" => file(argument),
        None => Ok(argument.to_owned()),
    }
}

fn open(path: &str) -> Result<std::fs::File, Failure> {
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            return Failure::NotFound(format!("there is no file `{path}`"));
        }
        Failure::io(format!("read `{path}`"), error)
    };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Err(Failure::Usage(format!("`{path}` is a folder; name a file in it")));
    }
    std::fs::File::open(path).map_err(failed)
}

/// More than that is not even read.
fn read_at_most(from: &mut dyn std::io::Read, name: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io(format!("read `{name}`"), error))?;
    if bytes.len() as u64 > most {
        return Err(Failure::Usage(format!("`{name}` has more than {most} bytes")));
    }
    Ok(bytes)
}

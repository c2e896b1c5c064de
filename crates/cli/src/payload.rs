//! What is handed over on the command line: text, `@FILE`, or `-` for stdin.

use std::io::Read as _;

use baton_core::acknowledgement::Acknowledgement;
use baton_core::document::Node;
use baton_core::names::Words;
use baton_core::package::{Format, Package};
use baton_wire::json;
use baton_wire::located::yaml;

use crate::failure::Failure;

/// A package of JSON.
pub(crate) fn package(argument: &str) -> Result<Package, Failure> {
    let text = text(argument)?;
    let document = json::parse(&text)?;
    Ok(Package::new(Format::Json, text, document))
}

/// Something that is said: a question, an answer, a comment.
pub(crate) fn words(argument: Option<&String>) -> Result<Option<Words>, Failure> {
    let text = argument.map(|it| text(it)).transpose()?;
    Ok(text.map(|it| Words::parse(&it)).transpose()?)
}

/// What the receiver of a handoff says: an `acknowledgment` document, or plain words.
pub(crate) fn acknowledgement(argument: &str) -> Result<Acknowledgement, Failure> {
    let text = text(argument)?;
    match document(&text) {
        Some(document) => Acknowledgement::read(&document, text).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Failure::Usage(format!("the acknowledgement is not usable: {}", problems.join("; ")))
        }),
        None => Ok(Acknowledgement::words(text)),
    }
}

/// JSON or YAML, where the text is a document with members; a sentence is not.
fn document(text: &str) -> Option<Node> {
    let document = json::parse(text).ok().or_else(|| {
        let read = yaml::parse(text, json::MOST_BYTES).ok()?;
        Some(read.to_node())
    })?;
    match document {
        Node::Map(_) => Some(document),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => None,
    }
}

/// Text from wherever the argument says.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    let bytes = if argument == "-" {
        read_at_most(&mut std::io::stdin(), "stdin")?
    } else if let Some(path) = argument.strip_prefix('@') {
        let mut file = std::fs::File::open(path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return Failure::NotFound(format!("there is no file `{path}`"));
            }
            Failure::io(format!("read `{path}`"), error)
        })?;
        read_at_most(&mut file, path)?
    } else {
        return Ok(argument.to_owned());
    };
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("`{argument}` is not UTF-8 text")))
}

/// More than a package may have is not even read.
fn read_at_most(from: &mut dyn std::io::Read, name: &str) -> Result<Vec<u8>, Failure> {
    let most = json::MOST_BYTES as u64;
    let mut bytes = Vec::new();
    from.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io(format!("read `{name}`"), error))?;
    if bytes.len() as u64 > most {
        return Err(Failure::Usage(format!("`{name}` has more than {most} bytes")));
    }
    Ok(bytes)
}

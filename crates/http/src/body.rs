//! Reading what is sent: bounded, UTF-8, JSON, and no field that nobody would look at.

use axum::body::Body;
use axum::http::StatusCode;
use baton_core::document::Node;
use baton_core::package::{Format, Package};
use baton_wire::json;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::problem::Problem;

/// The most that a request may bring; a package may have less.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The members of a JSON object, each looked at by name.
pub(crate) struct Envelope(Vec<(String, Node)>);

/// Reads a body that has to be a JSON object; returns its text too.
pub(crate) async fn read(body: Body) -> Result<(String, Envelope), Problem> {
    let text = read_text(body).await?;
    match json::parse_within(&text, MOST_BYTES)? {
        Node::Map(members) => Ok((text, Envelope(members))),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
            Err(Problem::malformed("not_an_object", "the body has to be a JSON object"))
        }
    }
}

async fn read_text(body: Body) -> Result<String, Problem> {
    let collected = Limited::new(body, MOST_BYTES).collect().await.map_err(|error| {
        if error.downcast_ref::<LengthLimitError>().is_some() {
            let message = format!("a request has at most {MOST_BYTES} bytes");
            return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message);
        }
        Problem::malformed("broken_off", "the body did not arrive whole")
    })?;
    String::from_utf8(collected.to_bytes().into())
        .map_err(|_| Problem::malformed("not_utf8", "the body is not UTF-8 text"))
}

impl Envelope {
    /// Refuses members that nobody knows, all at once and with those that somebody does.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        let unknown: Vec<String> = self
            .0
            .iter()
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let message = format!("unknown: {}; known here: {}", unknown.join(", "), known.join(", "));
        Err(Problem::malformed("unknown_field", message))
    }

    /// A member that is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let found = self.0.iter().find(|(it, _)| it == name).map(|(_, node)| node);
        found.filter(|it| **it != Node::Null)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        match self.get(name) {
            None => Ok(None),
            Some(Node::Text(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a text")),
        }
    }

    pub(crate) fn required_text(&self, name: &str) -> Result<&str, Problem> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(node) = self.get(name) else { return Ok(None) };
        let number = match node {
            Node::Number(number) => number.as_str().parse().ok(),
            Node::Null | Node::Bool(_) | Node::Text(_) | Node::List(_) | Node::Map(_) => None,
        };
        number.map(Some).ok_or_else(|| wrong(name, "a whole number"))
    }

    pub(crate) fn required_number(&self, name: &str) -> Result<u64, Problem> {
        self.number(name)?.ok_or_else(|| missing(name))
    }

    /// A package: any JSON, by default an empty object.
    pub(crate) fn package(&self, name: &str) -> Result<Package, Problem> {
        let nothing = Node::Map(Vec::new());
        let node = self.get(name).unwrap_or(&nothing);
        let text = json::print(node);
        if text.len() > json::MOST_BYTES {
            let message = format!("a package has at most {} bytes", json::MOST_BYTES);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
        }
        Ok(Package::new(Format::Json, text, node.clone()))
    }
}

fn missing(name: &str) -> Problem {
    Problem::malformed("missing_field", format!("`{name}` is missing"))
}

fn wrong(name: &str, what: &str) -> Problem {
    Problem::malformed("wrong_type", format!("`{name}` has to be {what}"))
}

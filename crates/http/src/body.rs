//! Reading a request body: bounded, UTF-8, JSON, and without unknown fields.

use axum::body::Body;
use baton_core::document::Node;
use baton_core::package::{Format, Package};
use baton_wire::json;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use crate::problem::ApiProblem;
use crate::receive::too_large;

/// The most bytes of a request body; the bound on a package is lower.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The members of a JSON object, looked up by name.
pub(crate) struct Envelope(Vec<(String, Node)>);

/// Reads a body that has to be a JSON object; returns its text too.
pub(crate) async fn read(body: Body) -> Result<(String, Envelope), ApiProblem> {
    let text = read_text(body).await?;
    match json::parse_within(&text, MOST_BYTES)? {
        Node::Map(members) => Ok((text, Envelope(members))),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
            Err(not_an_object())
        }
    }
}

pub(crate) async fn read_text(body: Body) -> Result<String, ApiProblem> {
    // With a server, the guard has received the body within its bounds; without one, it is read
    // here.
    let collected = body
        .collect()
        .await
        .map_err(|_| ApiProblem::malformed("broken_off", "the body did not arrive whole"))?;
    let bytes = collected.to_bytes();
    if bytes.len() > MOST_BYTES {
        return Err(too_large());
    }
    String::from_utf8(bytes.into())
        .map_err(|_| ApiProblem::malformed("not_utf8", "the body is not UTF-8 text"))
}

/// Reads a body as its schema has it, without unknown fields; an empty body, or null, is an empty
/// object. Returns its text too.
pub(crate) async fn read_as<T>(body: Body) -> Result<(String, T), ApiProblem>
where
    T: DeserializeOwned + ToSchema,
{
    let text = read_text(body).await?;
    let document = match text.trim() {
        "" | "null" => "{}",
        _ => text.as_str(),
    };
    // serde would also take a list, in the order of the fields.
    let is_object = document.trim_start().starts_with('{');
    let read = if is_object { serde_json::from_str(document).ok() } else { None };
    match read {
        Some(read) => Ok((text, read)),
        None => Err(why_not::<T>(document)?),
    }
}

/// A package with the sender's own text, as it was in the body.
pub(crate) fn package(raw: Option<&RawValue>) -> Result<Package, ApiProblem> {
    let text = raw.map_or("{}", RawValue::get);
    if text.len() > json::MOST_BYTES {
        return Err(ApiProblem::too_large(package_bound()));
    }
    let document = json::parse(text)?;
    Ok(Package::new(Format::Json, text, document))
}

/// Explains why a body was refused: not JSON, an unknown or missing field, or one of the wrong
/// type.
fn why_not<T: DeserializeOwned + ToSchema>(document: &str) -> Result<ApiProblem, ApiProblem> {
    let members = match json::parse_within(document, MOST_BYTES)? {
        Node::Map(members) => members,
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
            return Ok(not_an_object());
        }
    };
    let (known, required) = fields_of(&T::schema());
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let envelope = Envelope(members);
    envelope.only(&known)?;
    if let Some(name) = required.iter().find(|it| envelope.get(it).is_none()) {
        return Ok(missing(name));
    }
    let error = serde_json::from_str::<T>(document).err().map(|it| it.to_string());
    let message = error.unwrap_or_else(|| "the body cannot be read".to_owned());
    Ok(ApiProblem::malformed("wrong_type", message))
}

/// The fields of a schema, and those that are required.
fn fields_of(schema: &RefOr<Schema>) -> (Vec<String>, Vec<String>) {
    match schema {
        RefOr::T(Schema::Object(object)) => {
            (object.properties.keys().cloned().collect(), object.required.clone())
        }
        RefOr::T(_) | RefOr::Ref(_) => Default::default(),
    }
}

impl Envelope {
    /// Refuses unknown members, all at once, and lists the known ones.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ApiProblem> {
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
        Err(ApiProblem::malformed("unknown_field", message))
    }

    /// A member that is present and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let found = self.0.iter().find(|(it, _)| it == name).map(|(_, node)| node);
        found.filter(|it| **it != Node::Null)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiProblem> {
        match self.get(name) {
            None => Ok(None),
            Some(Node::Text(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a text")),
        }
    }

    pub(crate) fn required_text(&self, name: &str) -> Result<&str, ApiProblem> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// A non-negative integer.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, ApiProblem> {
        let Some(node) = self.get(name) else { return Ok(None) };
        let number = match node {
            Node::Number(number) => number.as_str().parse().ok(),
            Node::Null | Node::Bool(_) | Node::Text(_) | Node::List(_) | Node::Map(_) => None,
        };
        number.map(Some).ok_or_else(|| wrong(name, "a whole number"))
    }

    pub(crate) fn required_number(&self, name: &str) -> Result<u64, ApiProblem> {
        self.number(name)?.ok_or_else(|| missing(name))
    }

    /// A package: any JSON, by default an empty object. It is moved out, since it may be large.
    pub(crate) fn package(&mut self, name: &str) -> Result<Package, ApiProblem> {
        let is_it = |(it, node): &(String, Node)| it == name && *node != Node::Null;
        let found = self.0.iter().position(is_it).map(|it| self.0.swap_remove(it).1);
        let document = found.unwrap_or_else(|| Node::Map(Vec::new()));
        let text = json::print(&document);
        if text.len() > json::MOST_BYTES {
            return Err(ApiProblem::too_large(package_bound()));
        }
        Ok(Package::new(Format::Json, text, document))
    }
}

fn not_an_object() -> ApiProblem {
    ApiProblem::malformed("not_an_object", "the body has to be a JSON object")
}

fn package_bound() -> String {
    format!("a package has at most {} bytes", json::MOST_BYTES)
}

fn missing(name: &str) -> ApiProblem {
    ApiProblem::malformed("missing_field", format!("`{name}` is missing"))
}

fn wrong(name: &str, what: &str) -> ApiProblem {
    ApiProblem::malformed("wrong_type", format!("`{name}` has to be {what}"))
}

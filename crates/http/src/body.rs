//! Reading a request body: bounded, UTF-8, JSON, and without unknown fields.

mod action;

use axum::body::Body;
use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::package::{Format, Package};
use baton_wire::{formats, json};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use self::action::first_action;
use crate::misfit::misfit;
use crate::problem::ApiProblem;
use crate::receive::too_large;
use crate::scope::Door;

/// The most bytes of a request body; the bound on a package is lower.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The text of a body, without credentials of this server: nothing of it that is stored has one.
pub(crate) async fn read_text(door: &Door, body: Body) -> Result<String, ApiProblem> {
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
    let text = String::from_utf8(bytes.into())
        .map_err(|_| ApiProblem::malformed("not_utf8", "the body is not UTF-8 text"))?;
    door.without_credentials(text)
}

/// The bytes of a file, at most `most`. One with a credential of this server is refused: without it, it would
/// be another file.
pub(crate) async fn read_bytes(door: &Door, body: Body, most: u64) -> Result<Vec<u8>, ApiProblem> {
    let collected = body
        .collect()
        .await
        .map_err(|_| ApiProblem::malformed("broken_off", "the body did not arrive whole"))?;
    let bytes = Vec::from(collected.to_bytes());
    if bytes.len() as u64 > most {
        let message =
            format!("a file has at most {most} bytes; send the end of it, or leave it out");
        return Err(ApiProblem::too_large(message));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if door.without_credentials(text.clone())? != text {
        let message = "the file contains the token of an attempt or the credential of a runner, which others \
                       could then read; mask it, or leave the file out";
        return Err(ApiProblem::malformed("credential_in_text", message));
    }
    Ok(bytes)
}

/// Reads a body as its schema has it; an empty body, or null, is an empty object. Returns its text
/// too.
pub(crate) async fn read_as<T>(door: &Door, body: Body) -> Result<(String, T), ApiProblem>
where
    T: DeserializeOwned + ToSchema,
{
    let text = read_text(door, body).await?;
    let document = match text.trim() {
        "" | "null" => "{}",
        _ => text.as_str(),
    };
    let read = parse_as(document)?;
    Ok((text, read))
}

/// Reads a JSON object as its schema has it.
pub(crate) fn parse_as<T: DeserializeOwned + ToSchema>(document: &str) -> Result<T, ApiProblem> {
    // serde would also take a list, in the order of the fields.
    let is_object = document.trim_start().starts_with('{');
    let read = if is_object { serde_json::from_str(document).ok() } else { None };
    read.map_or_else(|| Err(why_not::<T>(document)), Ok)
}

/// The `action` of a pipeline API request: one of `known`.
pub(crate) fn action<'k>(document: &str, known: &[&'k str]) -> Result<&'k str, ApiProblem> {
    if let Some(first) = first_action(document)
        && let Some(action) = known.iter().copied().find(|it| *it == first)
    {
        return Ok(action);
    }
    let ActionField { action } = parse_as(document)?;
    let Some(action) = action else {
        let message = format!("`action` is one of {}", known.join(", "));
        return Err(ApiProblem::malformed("missing_field", message));
    };
    known.iter().copied().find(|it| *it == action).ok_or_else(|| {
        let message = format!("there is no action `{action}`; there are {}", known.join(", "));
        ApiProblem::malformed("unknown_action", message)
    })
}

#[derive(Deserialize, ToSchema)]
struct ActionField {
    action: Option<String>,
}

/// A package with the sender's own text, as it was in the body.
pub(crate) fn package(raw: Option<&RawValue>) -> Result<Package, ApiProblem> {
    let text = raw.map_or("{}", RawValue::get);
    if text.len() > json::MOST_BYTES {
        let message = format!("a package has at most {} bytes", json::MOST_BYTES);
        return Err(ApiProblem::too_large(message));
    }
    let document = json::parse(text)?;
    Ok(Package::new(Format::Json, text, document))
}

/// As [`package`]; a text may be a whole document in another format, such as Markdown with a metadata
/// block. Any other text stays a text.
pub(crate) fn package_or_document(raw: Option<&RawValue>) -> Result<Package, ApiProblem> {
    let package = package(raw)?;
    let Node::Text(text) = package.document.as_ref() else { return Ok(package) };
    let format = formats::guess(text).filter(|it| *it != Format::Json);
    let Some(document) = format.and_then(|it| formats::decode(it, text).ok()) else {
        return Ok(package);
    };
    let is_document =
        format == Some(Format::Markdown) || DocumentKind::of(&document) != DocumentKind::Payload;
    match format {
        Some(format) if is_document => Ok(Package::new(format, text.as_str(), document)),
        Some(_) | None => Ok(package),
    }
}

/// Explains why a body was refused: not JSON, an unknown or missing field, or one of the wrong
/// type.
fn why_not<T: ToSchema>(document: &str) -> ApiProblem {
    let misfit = match json::parse_within(document, MOST_BYTES) {
        Err(error) => return error.into(),
        Ok(document @ Node::Map(_)) => misfit::<T>(&document),
        Ok(Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_)) => {
            return ApiProblem::malformed("not_an_object", "the body has to be a JSON object");
        }
    };
    misfit.unwrap_or_else(|| {
        let message = "the body does not fit its schema, which `/openapi.json` has";
        ApiProblem::malformed("wrong_type", message)
    })
}

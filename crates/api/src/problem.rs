//! Error responses (RFC 9457).

use std::borrow::Cow;

use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// RFC 9457, with `error` and `success` added for clients of the pipeline API.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub struct ProblemDocument {
    pub success: bool,
    /// The page of the code on this server, `/errors/CODE`: a reference relative to the URL of the
    /// request.
    #[serde(rename = "type")]
    pub about: String,
    /// The name of the HTTP status.
    pub title: Cow<'static, str>,
    #[serde(serialize_with = "number", deserialize_with = "status")]
    #[schema(value_type = u16, minimum = 400, maximum = 599)]
    pub status: StatusCode,
    /// The kind of problem, for programs to match on.
    pub code: Cow<'static, str>,
    /// What is wrong and what to do, for people.
    pub detail: String,
    /// The same as `detail`.
    pub error: String,
    /// Every rule of the contract that the package breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Broken>,
    /// A package that would satisfy the contract, once its placeholders are filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub skeleton: Option<Box<RawValue>>,
    /// The agent that has accepted the handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The handoff in question in its current state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub handoff: Option<Box<RawValue>>,
    /// The version in `If-Match`, or the version of a context document that the caller has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// The current version of the run, or of the context document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_version: Option<u64>,
    /// Who wrote the version of a context document that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
}

/// One rule that a package breaks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Broken {
    /// Where in the package, as in `context.artifacts[2].path`.
    pub path: String,
    pub rule: String,
    pub message: String,
}

impl From<baton_core::problem::Problem> for Broken {
    fn from(problem: baton_core::problem::Problem) -> Self {
        Self { path: problem.path, rule: problem.rule, message: problem.message }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StatusCode, D::Error> {
    let number = u16::deserialize(deserializer)?;
    StatusCode::from_u16(number).map_err(serde::de::Error::custom)
}

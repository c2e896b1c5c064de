//! What a no looks like: a status and one JSON object that says why and what to do. The only file
//! of this face that maps errors.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::names::NameError;
use baton_core::refusal::Refusal;
use baton_engine::{EngineError, ErrorClass};
use baton_wire::json::{self, JsonError, JsonFault};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Boxed, because every handler's result has room for it.
#[derive(Debug)]
pub(crate) struct Problem(Box<Document>);

/// RFC 9457, with `error` and `success` besides for seed 000's callers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub(crate) struct Document {
    success: bool,
    /// Names the kind of problem, once and for ever.
    #[serde(rename = "type")]
    about: String,
    /// The name of the status.
    title: &'static str,
    #[serde(serialize_with = "number")]
    #[schema(value_type = u16, minimum = 400, maximum = 599)]
    status: StatusCode,
    /// The kind of problem, for programs to match on.
    code: &'static str,
    /// What is wrong and what to do, for people.
    detail: String,
    /// The same as `detail`.
    error: String,
    /// Every rule of a contract that the package breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Broken>,
    /// What would keep the contract, once its marks are filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    skeleton: Option<Box<RawValue>>,
    /// Who has accepted the handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    /// The handoff in question as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    handoff: Option<Box<RawValue>>,
    /// What `If-Match` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_version: Option<u64>,
    /// What the run is at.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_version: Option<u64>,
}

/// One rule that a package breaks.
#[derive(Debug, Serialize, ToSchema)]
struct Broken {
    /// Where in the package, as in `context.artifacts[2].path`.
    path: String,
    rule: String,
    message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Document {
            success: false,
            about: format!("https://baton.invalid/errors/{code}"),
            title: status.canonical_reason().unwrap_or("Error"),
            status,
            code,
            detail: message.clone(),
            error: message,
            problems: Vec::new(),
            skeleton: None,
            holder: None,
            handoff: None,
            expected_version: None,
            actual_version: None,
        }))
    }

    pub(crate) fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// With the handoff in question, as the face that is asked shows handoffs.
    #[must_use]
    pub(crate) fn about(mut self, handoff: Option<Box<RawValue>>) -> Self {
        self.0.handoff = handoff;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = match serde_json::to_string(&self.0) {
            Ok(body) => body,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        let kind = HeaderValue::from_static("application/problem+json");
        (self.0.status, [(CONTENT_TYPE, kind)], body).into_response()
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let status = match error.class() {
            ErrorClass::Malformed => StatusCode::BAD_REQUEST,
            ErrorClass::Unacceptable => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Conflict => StatusCode::CONFLICT,
            ErrorClass::Outdated => StatusCode::PRECONDITION_FAILED,
            ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        if error.class() == ErrorClass::Unavailable {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::error!(error, "a request could not be served");
        }
        let mut problem = Self::new(status, error.code(), error.to_string());
        let document = &mut problem.0;
        match error {
            EngineError::Refused { refusal, .. } => document.explain(refusal),
            EngineError::Outdated { expected, actual } => {
                document.expected_version = Some(expected.0);
                document.actual_version = Some(actual.0);
            }
            EngineError::NoSuchHandoff { .. }
            | EngineError::NoSuchRun { .. }
            | EngineError::NoSuchStory { .. }
            | EngineError::NoSuchWorkflow { .. }
            | EngineError::WorkflowUnclear { .. }
            | EngineError::AlreadyOpen { .. }
            | EngineError::RunOpen { .. }
            | EngineError::NoArchive
            | EngineError::ArchiveFailing { .. }
            | EngineError::NothingReady { .. }
            | EngineError::NoPrompt { .. }
            | EngineError::UnknownVariable { .. }
            | EngineError::KeyReused
            | EngineError::Contended
            | EngineError::Closing
            | EngineError::Store(_) => {}
        }
        problem
    }
}

impl Document {
    fn explain(&mut self, refusal: Refusal) {
        if let Refusal::Contract { problems, skeleton, .. } = refusal {
            let broken = |it: baton_core::problem::Problem| Broken {
                path: it.path,
                rule: it.rule,
                message: it.message,
            };
            self.problems = problems.into_iter().map(broken).collect();
            self.skeleton = RawValue::from_string(json::print(&skeleton)).ok();
        } else if let Refusal::AlreadyAccepted { holder, .. } = refusal {
            self.holder = Some(holder.to_string());
        }
    }
}

impl From<JsonError> for Problem {
    fn from(error: JsonError) -> Self {
        let status = match error.fault {
            JsonFault::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            JsonFault::TooDeep
            | JsonFault::Ends { .. }
            | JsonFault::Unexpected { .. }
            | JsonFault::DuplicateKey { .. }
            | JsonFault::Nul
            | JsonFault::LoneSurrogate { .. }
            | JsonFault::BadEscape { .. }
            | JsonFault::ControlCharacter { .. }
            | JsonFault::BadNumber { .. } => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.code(), error.to_string())
    }
}

impl From<NameError> for Problem {
    fn from(error: NameError) -> Self {
        Self::malformed("bad_name", error.to_string())
    }
}

pub(crate) async fn no_such_page(method: Method, uri: Uri) -> Problem {
    let message = format!("there is nothing at {} {}", method, uri.path());
    Problem::new(StatusCode::NOT_FOUND, "no_such_page", message)
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let message = format!("{} does not take {method}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", message)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

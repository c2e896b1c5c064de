//! Error responses (RFC 9457): a status and one JSON object that says why and what to do. The only
//! file of this crate that maps errors.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_api::{Broken, ProblemDocument};
use baton_core::names::NameError;
use baton_core::refusal::Refusal;
use baton_engine::{EngineError, ErrorClass};
use baton_store::HandoffRow;
use baton_wire::formats::{FormatError, FormatFault};
use baton_wire::json::{self, JsonError, JsonFault};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::failure_log;

/// Boxed, to keep the result of every handler small.
#[derive(Debug)]
pub(crate) struct ApiProblem {
    document: Box<ProblemDocument>,
    /// In seconds, for the header of that name.
    retry_after: Option<u32>,
}

impl ApiProblem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        let document = Box::new(ProblemDocument {
            success: false,
            about: format!("/errors/{code}"),
            title: status.canonical_reason().unwrap_or("Error").into(),
            status,
            code: code.into(),
            detail: message.clone(),
            error: message,
            problems: Vec::new(),
            skeleton: None,
            holder: None,
            handoff: None,
            expected_version: None,
            actual_version: None,
            changed_by: None,
        });
        Self { document, retry_after: None }
    }

    /// An internal error, which only a bug can cause; the cause is in the log.
    pub(crate) fn bug() -> Self {
        let message = "the server failed over this request, and has logged how; it serves others";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", message)
    }

    pub(crate) fn detail(&self) -> &str {
        &self.document.detail
    }

    pub(crate) fn code(&self) -> &str {
        &self.document.code
    }

    /// Adds `Retry-After`.
    #[must_use]
    pub(crate) fn again_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }
}

/// What a page says about a problem; every error response carries it for browsers.
#[derive(Debug, Clone)]
pub(crate) struct ProblemText {
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) code: String,
}

/// An error response, with the handoff in question as the API of the request shows handoffs.
pub(crate) async fn refused<T: Serialize>(
    error: EngineError,
    show: impl AsyncFnOnce(&HandoffRow) -> Result<T, EngineError>,
) -> ApiProblem {
    let row = error.handoff().cloned();
    let mut problem = ApiProblem::from(error);
    if let Some(row) = row
        && let Ok(shown) = show(&row).await
    {
        problem.document.handoff = serde_json::value::to_raw_value(&shown).ok();
    }
    problem
}

/// A message may quote a request, and so be as large as the request.
const MOST_MESSAGE: usize = 8 * 1024;

fn shortened(mut message: String) -> String {
    if message.len() > MOST_MESSAGE {
        message.truncate(message.floor_char_boundary(MOST_MESSAGE));
        message.push('…');
    }
    message
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let body = match serde_json::to_string(&self.document) {
            Ok(body) => body,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response = (self.document.status, [(CONTENT_TYPE, kind)], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let (title, detail, code) = (self.document.title.to_string(), self.detail(), self.code());
        let (detail, code) = (detail.to_owned(), code.to_owned());
        response.extensions_mut().insert(ProblemText { title, detail, code });
        response
    }
}

impl From<EngineError> for ApiProblem {
    fn from(error: EngineError) -> Self {
        let status = match error.class() {
            ErrorClass::Malformed => StatusCode::BAD_REQUEST,
            ErrorClass::Unacceptable => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Conflict => StatusCode::CONFLICT,
            ErrorClass::Outdated => StatusCode::PRECONDITION_FAILED,
            ErrorClass::Forbidden => StatusCode::FORBIDDEN,
            ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        if error.class() == ErrorClass::Unavailable {
            failure_log::tell(&error);
        }
        let mut problem = Self::new(status, error.code(), error.to_string());
        let document = &mut problem.document;
        if let EngineError::Refused { refusal, .. } = error {
            explain(document, refusal);
        } else if let EngineError::Outdated { expected, actual } = error {
            document.expected_version = expected.first().map(|it| it.0);
            document.actual_version = Some(actual.0);
        } else if let EngineError::StoryTooLarge { problems, .. } = error {
            document.problems = problems.into_iter().map(Broken::from).collect();
        }
        problem
    }
}

fn explain(document: &mut ProblemDocument, refusal: Refusal) {
    if let Refusal::Contract { problems, skeleton, .. } = refusal {
        document.problems = problems.into_iter().map(Broken::from).collect();
        document.skeleton = RawValue::from_string(json::print(&skeleton)).ok();
    } else if let Refusal::AlreadyAccepted { holder, .. } = refusal {
        document.holder = Some(holder.to_string());
    } else if let Refusal::ContextChanged { expected, actual, by, .. } = refusal {
        document.expected_version = Some(expected.into());
        document.actual_version = Some(actual.into());
        document.changed_by = Some(by).filter(|it| !it.is_empty());
    }
}

impl From<JsonError> for ApiProblem {
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

impl From<FormatError> for ApiProblem {
    fn from(error: FormatError) -> Self {
        let status = match error.fault {
            FormatFault::TooLarge { .. } | FormatFault::Json(JsonFault::TooLarge { .. }) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            FormatFault::NoMetadata(_) => StatusCode::UNPROCESSABLE_ENTITY,
            FormatFault::Json(_)
            | FormatFault::TooDeep
            | FormatFault::NotUtf8
            | FormatFault::Nul
            | FormatFault::Duplicate { .. }
            | FormatFault::XmlSyntax(_)
            | FormatFault::XmlRefused(_)
            | FormatFault::XmlReserved(_)
            | FormatFault::YamlSyntax(_)
            | FormatFault::YamlRefused(_) => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.code(), error.to_string())
    }
}

impl From<NameError> for ApiProblem {
    fn from(error: NameError) -> Self {
        Self::malformed(error.code(), error.to_string())
    }
}

pub(crate) async fn no_such_page(method: Method, uri: Uri) -> ApiProblem {
    let message = format!("there is nothing at {} {}", method, uri.path());
    ApiProblem::new(StatusCode::NOT_FOUND, "no_such_page", message)
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> ApiProblem {
    let message = format!("{} does not take {method}", uri.path());
    ApiProblem::new(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", message)
}

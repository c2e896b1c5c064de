//! What a no looks like: a status and one JSON object that says why and what to do. The only file
//! of this face that maps errors.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::document::Node;
use baton_core::names::NameError;
use baton_core::refusal::Refusal;
use baton_engine::{EngineError, ErrorClass};
use baton_wire::json::{self, JsonError};

/// Boxed, because every handler's result has room for it.
#[derive(Debug)]
pub(crate) struct Problem(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// Members beside: the row in question, the problems, a skeleton.
    more: Vec<(&'static str, Node)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { status, code, message: message.into(), more: Vec::new() }))
    }

    pub(crate) fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, node: Node) -> Self {
        self.0.more.push((name, node));
        self
    }
}

/// RFC 9457, with `error` and `success` besides for seed 000's callers.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Inner { status, code, message, more } = *self.0;
        let about = format!("https://baton.invalid/errors/{code}");
        let status_number = Node::Number(i64::from(status.as_u16()).into());
        let members = [
            ("success", Node::Bool(false)),
            ("type", Node::Text(about)),
            ("title", Node::text(status.canonical_reason().unwrap_or("Error"))),
            ("status", status_number),
            ("code", Node::text(code)),
            ("detail", Node::text(&message)),
            ("error", Node::text(&message)),
        ];
        let body = json::print(&Node::map(members.into_iter().chain(more)));
        let kind = HeaderValue::from_static("application/problem+json");
        (status, [(CONTENT_TYPE, kind)], body).into_response()
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let status = match error.class() {
            ErrorClass::Malformed => StatusCode::BAD_REQUEST,
            ErrorClass::Unacceptable => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Conflict => StatusCode::CONFLICT,
            ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        if error.class() == ErrorClass::Unavailable {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::error!(error, "a request could not be served");
        }
        let problem = Self::new(status, error.code(), error.to_string());
        match error {
            EngineError::Refused {
                refusal: Refusal::Contract { problems, skeleton, .. }, ..
            } => {
                let problems = problems.iter().map(|it| {
                    Node::map([
                        ("path", Node::text(&it.path)),
                        ("rule", Node::text(&it.rule)),
                        ("message", Node::text(&it.message)),
                    ])
                });
                problem.with("problems", Node::List(problems.collect())).with("skeleton", *skeleton)
            }
            EngineError::Refused { refusal: Refusal::AlreadyAccepted { holder, .. }, .. } => {
                problem.with("holder", Node::text(holder.as_str()))
            }
            EngineError::Refused { .. }
            | EngineError::NoSuchHandoff { .. }
            | EngineError::NoSuchRun { .. }
            | EngineError::NoSuchStory { .. }
            | EngineError::NoSuchWorkflow { .. }
            | EngineError::WorkflowUnclear { .. }
            | EngineError::AlreadyOpen { .. }
            | EngineError::NothingReady { .. }
            | EngineError::NoPrompt { .. }
            | EngineError::UnknownVariable { .. }
            | EngineError::KeyReused
            | EngineError::Contended
            | EngineError::Closing
            | EngineError::Store(_) => problem,
        }
    }
}

impl From<JsonError> for Problem {
    fn from(error: JsonError) -> Self {
        Self::malformed(error.code(), error.to_string())
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

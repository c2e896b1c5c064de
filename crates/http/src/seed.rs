//! Seed 000's API, as its page prints it: the same paths, fields, words and answers.

mod agents;
mod handoffs;
mod query;
mod rows;
mod run;
mod story;

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_engine::{Caller, EngineError, Key, Mode};
use baton_store::HandoffRef;
use baton_wire::json;

use crate::App;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/handoffs", get(handoffs::get).post(handoffs::post))
        .route("/api/run", get(run::get).post(run::post))
        .route("/api/agents", get(agents::get))
        .route("/api/story/{id}", get(story::get))
}

/// An answer as JSON.
pub(crate) struct Json(pub(crate) Node);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], json::print(&self.0)).into_response()
    }
}

/// Who asks. Without credentials it is whoever sits at this machine.
fn caller(headers: &HeaderMap, route: &str, request: &str) -> Result<Caller, Problem> {
    let principal = Principal::parse("local")?;
    let key = match headers.get("idempotency-key").map(|it| it.to_str()) {
        None => None,
        Some(Ok(key)) if !key.trim().is_empty() && key.len() <= 200 => Some(Key {
            scope: format!("http:{principal}:{route}"),
            key: key.to_owned(),
            request: Hash::of(request.as_bytes()),
        }),
        Some(_) => {
            let message = "`Idempotency-Key` has 1 to 200 plain characters";
            return Err(Problem::malformed("bad_key", message));
        }
    };
    Ok(Caller { principal, key, mode: Mode::Commit })
}

/// A no, with the row in question as this API shows rows.
async fn refused(app: &App, error: EngineError) -> Problem {
    let row = match &error {
        EngineError::Refused { handoff: Some(row), .. } => Some((**row).clone()),
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
        | EngineError::Store(_) => None,
    };
    let problem = Problem::from(error);
    match row {
        Some(row) => match rows::one(app, &row).await {
            Ok(node) => problem.with("handoff", node),
            Err(_) => problem,
        },
        None => problem,
    }
}

fn by_number(number: u64) -> HandoffRef {
    HandoffRef::Number(number)
}

//! Seed 000's API, as its page prints it: the same paths, fields, words and answers.

mod agents;
mod described;
mod handoffs;
pub(crate) mod rows;
mod run;
mod signal;
mod story;

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use baton_core::document::Node;
use baton_engine::EngineError;
use baton_store::HandoffRef;
use baton_wire::json;

use serde_json::value::RawValue;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::problem::Problem;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(handoffs::get, handoffs::post))
        .routes(routes!(run::get, run::post))
        .routes(routes!(signal::get, signal::post))
        .routes(routes!(agents::get))
        .routes(routes!(story::get))
}

/// An answer as JSON.
pub(crate) struct Json(pub(crate) Node);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], json::print(&self.0)).into_response()
    }
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
        | EngineError::Outdated { .. }
        | EngineError::KeyReused
        | EngineError::Contended
        | EngineError::Closing
        | EngineError::Store(_) => None,
    };
    let problem = Problem::from(error);
    let Some(row) = row else { return problem };
    match rows::one(app, &row).await {
        Ok(node) => problem.about(RawValue::from_string(json::print(&node)).ok()),
        Err(_) => problem,
    }
}

fn by_number(number: u64) -> HandoffRef {
    HandoffRef::Number(number)
}

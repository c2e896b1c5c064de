//! The pipeline API, exactly as the pipeline document has it: paths, fields, values and responses.

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

use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::problem::ApiProblem;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(handoffs::get, handoffs::post))
        .routes(routes!(run::get, run::post))
        .routes(routes!(signal::get, signal::post))
        .routes(routes!(agents::get))
        .routes(routes!(story::get))
}

/// A JSON response.
pub(crate) struct Json(pub(crate) Node);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], json::print(&self.0)).into_response()
    }
}

/// A JSON response of a type with a schema.
pub(crate) struct Typed<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Typed<T> {
    fn into_response(self) -> Response {
        let mut body = Vec::with_capacity(USUAL_BYTES);
        match serde_json::to_writer(&mut body, &self.0) {
            Ok(()) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
            Err(error) => unreachable!("our own types always encode: {error}"),
        }
    }
}

/// Most responses fit in it, so that they are written without being copied.
const USUAL_BYTES: usize = 2048;

/// An error response, with the handoff in question as a row of this API.
async fn refused(app: &App, error: EngineError) -> ApiProblem {
    let row = error.handoff().cloned();
    let problem = ApiProblem::from(error);
    let Some(row) = row else { return problem };
    match rows::one(app, &row).await {
        Ok(row) => problem.about(serde_json::value::to_raw_value(&row).ok()),
        Err(_) => problem,
    }
}

fn by_number(number: u64) -> HandoffRef {
    HandoffRef::Number(number)
}

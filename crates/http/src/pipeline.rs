//! The pipeline API, exactly as the pipeline document has it: paths, fields, values and responses.

mod agents;
mod handoffs;
pub(crate) mod rows;
mod run;
mod signal;
mod story;

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use baton_engine::EngineError;

use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::problem::{self, ApiProblem};
use crate::scope::RequestScope;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(handoffs::get, handoffs::post))
        .routes(routes!(run::get, run::post))
        .routes(routes!(signal::get, signal::post))
        .routes(routes!(agents::get))
        .routes(routes!(story::get))
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
async fn refused(app: &RequestScope, error: EngineError) -> ApiProblem {
    problem::refused(error, async |row| rows::one(app, row).await).await
}

/// A query value that is present and not empty.
fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|it| !it.is_empty())
}

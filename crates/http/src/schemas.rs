//! The published JSON Schemas, for editors and other tools: the same as `baton schema` prints.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use baton_wire::schema::{all, schema};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::openapi::ReadProblems;
use crate::pipeline::Typed;
use crate::problem::ApiProblem;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

/// The list of schemas.
#[derive(Serialize, ToSchema)]
struct Schemas {
    /// Each is at `/schemas/NAME`.
    schemas: Vec<&'static str>,
}

/// Lists the JSON Schemas.
///
/// Of every document and file that Baton reads.
#[utoipa::path(get, path = "/schemas", operation_id = "listSchemas", tag = "server",
    responses((status = 200, description = "Their names", body = Schemas), ReadProblems))]
async fn list() -> Typed<Schemas> {
    Typed(Schemas { schemas: all().map(|(name, _)| name).collect() })
}

/// Gets a JSON Schema.
///
/// By its name, with or without `.json`.
#[utoipa::path(get, path = "/schemas/{name}", operation_id = "getSchema", tag = "server",
    params(("name" = String, Path, description = "As `/schemas` lists it")),
    responses(
        (status = 200, description = "The schema",
            body = serde_json::Value, content_type = "application/schema+json"),
        ReadProblems))]
async fn get(Path(name): Path<String>) -> Result<Response, ApiProblem> {
    // `.json` is allowed, as in a file name.
    let name = name.strip_suffix(".json").unwrap_or(&name);
    let name = name.strip_suffix(".schema").unwrap_or(name);
    match schema(name) {
        Some(text) => {
            let kind = HeaderValue::from_static("application/schema+json");
            Ok(([(CONTENT_TYPE, kind)], text).into_response())
        }
        None => {
            let known: Vec<&str> = all().map(|(name, _)| name).collect();
            let message = format!("there is no schema `{name}`; there are {}", known.join(", "));
            Err(ApiProblem::new(StatusCode::NOT_FOUND, "no_such_schema", message))
        }
    }
}

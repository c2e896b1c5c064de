//! The OpenAPI document, generated from the routes: as JSON, and as an HTML page.

mod finish;
mod page;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use utoipa::openapi::response::{Response as Described, ResponseBuilder};
use utoipa::openapi::{Content, OpenApi as Document, Ref, RefOr};
use utoipa::{IntoResponses, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

pub(crate) use self::finish::{TAGS, finish};
pub(crate) use self::page::render;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Baton",
        description = "Passes work between AI agents and people without dropping it.",
        contact(name = "The contributors of Baton"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "stories", description = "What there is to do"),
        (name = "runs", description = "Stories going through workflows, and where the baton is"),
        (name = "handoffs", description = "Who hands what to whom"),
        (name = "inbox", description = "What waits for a person"),
        (name = "blockers", description = "What keeps runs from going on"),
        (name = "decisions", description = "What was decided, by whom and why"),
        (name = "events", description = "The log"),
        (name = "metrics", description = "How handoffs fare"),
        (name = "audit", description = "Every handoff of every run, to read and to export"),
        (name = "agents", description = "Who there is"),
        (name = "definitions", description = "The workflows that there are"),
        (name = "workflows", description = "Attribution of a workflow under way"),
        (name = "pipeline", description = "The pipeline API: one route with actions, as small agents use it"),
        (name = "runner", description = "Work for the programs that agents are run by"),
        (name = "server", description = "The server itself")
    ),
    components(schemas(baton_api::ProblemDocument))
)]
struct Head;

/// The document's title, version and tags.
pub(crate) fn head() -> Document {
    Head::openapi()
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(document)).routes(routes!(read_page))
}

/// Gets this OpenAPI document.
///
/// It is made from the routes, so that it names every one of them and nothing else.
#[utoipa::path(get, path = "/openapi.json", operation_id = "getOpenApi", tag = "server",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value), ReadProblems))]
async fn document(State(app): State<Arc<App>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.description.clone()).into_response()
}

/// Shows this description as an HTML page.
///
/// For people, without scripts. Programs read `/openapi.json`.
#[utoipa::path(get, path = "/api", operation_id = "getApiPage", tag = "server",
    responses(
        (status = 200, description = "The page",
            body = String, content_type = "text/html"),
        ReadProblems))]
async fn read_page(State(app): State<Arc<App>>) -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], app.page.clone()).into_response()
}

/// The error responses that every route has.
pub(crate) struct ServerProblems;

/// The error responses of a read.
pub(crate) struct ReadProblems;

/// The error responses of a write.
pub(crate) struct WriteProblems;

const ANY: &[(&str, &str)] = &[
    ("403", "It comes from another page, or its token does not reach that far"),
    ("421", "It is meant for another server"),
];

const READ: &[(&str, &str)] = &[
    ("400", "The request cannot be read"),
    ("401", "Its token is not one of this server's"),
    ("404", "There is no such thing"),
    ("503", "The store does not answer, or the server is about to stop"),
];

const WRITE: &[(&str, &str)] = &[
    ("409", "Good in itself, but not now: the run is elsewhere"),
    ("412", "The run is not at the version in `If-Match`"),
    ("413", "More than 4 MiB, or a package of more than 1 MiB"),
    ("415", "Not JSON"),
    ("422", "What it says does not keep the rules, or the key belongs to another request"),
];

impl IntoResponses for ServerProblems {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        ANY.iter().map(problem).collect()
    }
}

impl IntoResponses for ReadProblems {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        ANY.iter().chain(READ).map(problem).collect()
    }
}

impl IntoResponses for WriteProblems {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        ANY.iter().chain(READ).chain(WRITE).map(problem).collect()
    }
}

fn problem((status, description): &(&str, &str)) -> (String, RefOr<Described>) {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    let response = ResponseBuilder::new()
        .description(*description)
        .content("application/problem+json", content)
        .build();
    ((*status).to_owned(), RefOr::T(response))
}

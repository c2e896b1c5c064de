//! The live page: who has the baton, what happened so far, and what waits for a person.
//!
//! The server renders the whole page every time; the script fetches it again when an event arrives
//! and replaces what changed. A person answers on the page too: the script sends what the forms hold
//! to the API, as JSON.

mod answer_form;
mod backlog;
mod board;
mod conversation;
mod document;
mod handoff;
mod history;
mod html;
mod inbox;
pub(crate) mod markdown;
pub(crate) mod pipeline;
mod run;
mod story;
mod team;
mod who;

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use self::document::PagePath;
use crate::App;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

pub(crate) use self::document::{fixed_page, with_problem_page};
pub(crate) use self::html::Html;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(board))
        .route("/runs/{run}", get(run))
        .route("/handoffs/{handoff}", get(handoff))
        .route("/stories/{story}", get(story))
        .route("/assets/{name}", get(document::asset))
}

async fn board(app: RequestScope) -> Response {
    document::respond(&app, PagePath::Board).await
}

async fn run(app: RequestScope, name: Result<Named, ApiProblem>) -> Response {
    named(&app, name, PagePath::Run).await
}

async fn handoff(app: RequestScope, name: Result<Named, ApiProblem>) -> Response {
    named(&app, name, PagePath::Handoff).await
}

async fn story(app: RequestScope, name: Result<Named, ApiProblem>) -> Response {
    named(&app, name, PagePath::Story).await
}

async fn named(
    app: &RequestScope,
    name: Result<Named, ApiProblem>,
    path: fn(String) -> PagePath,
) -> Response {
    match name {
        Ok(Named(name)) => document::respond(app, path(name)).await,
        Err(problem) => with_problem_page(app, problem.into_response()).await,
    }
}

/// True for a route that renders whole stored documents, so that its duration is not known
/// beforehand.
pub(crate) fn renders(route: &str) -> bool {
    matches!(
        route,
        "/" | "/runs/{run}"
            | "/handoffs/{handoff}"
            | "/api/v1/handoffs/{handoff}"
            | "/api/v1/runs/{run}/messages"
            | "/api/v1/runs/{run}/events"
            | "/api/v1/handoffs/{handoff}/package"
            | "/api/v1/handoffs/{handoff}/prompt"
            | "/api/v1/runs/{run}/completion"
            | "/api/v1/runs/{run}/decisions"
            | "/api/v1/inbox"
            | "/api/v1/blockers"
    )
}

/// True for a page that a person may open by a link from any site.
pub(crate) fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/api")
        || ["/runs/", "/handoffs/", "/stories/", "/errors/"].iter().any(|it| path.starts_with(it))
}

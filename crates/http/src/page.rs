//! The live page: who has the baton, what happened so far, and what waits for a person.
//!
//! The server renders the whole page every time; the script fetches it again when an event arrives
//! and replaces what changed. The page is read-only: commands are typed, or sent to the API.

mod board;
mod document;
mod handoff;
mod history;
mod html;
mod inbox;
mod messages;
pub(crate) mod pipeline;
mod run;
mod story;
mod who;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::App;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(board::get))
        .route("/runs/{run}", get(run::get))
        .route("/handoffs/{handoff}", get(handoff::get))
        .route("/stories/{story}", get(story::get))
        .route("/assets/{name}", get(document::asset))
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

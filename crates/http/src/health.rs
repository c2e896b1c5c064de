//! Is it alive, and can it serve.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use baton_engine::ArchiveHealth;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::openapi::ServerProblems;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(ready))
}

/// Says that the server is alive.
#[utoipa::path(get, path = "/healthz", operation_id = "isAlive", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"), ServerProblems))]
async fn alive() -> &'static str {
    "ok\n"
}

/// Says whether the store answers. An archive that fails is told, and keeps nobody from working.
#[utoipa::path(get, path = "/readyz", operation_id = "isReady", tag = "server",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 503, description = "It does not", body = String, content_type = "text/plain"),
        ServerProblems))]
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.engine.store().last_position().await {
        Ok(_) => match *app.engine.archive_health().borrow() {
            ArchiveHealth::Off | ArchiveHealth::Well { .. } => (StatusCode::OK, "ready\n"),
            ArchiveHealth::Failing { .. } => (StatusCode::OK, "ready, but the archive is behind\n"),
        },
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n"),
    }
}

//! Is it alive, and can it serve.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::App;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(ready))
}

/// Ready means that the store answers.
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.engine.store().last_position().await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n"),
    }
}

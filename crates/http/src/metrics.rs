//! Counting: how often what was asked, and how it was answered. Text for Prometheus at `/metrics`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::openapi::ReadProblems;
use crate::problem::Problem;

/// By route, method and status: few, because a route is its pattern.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(show))
}

pub(crate) async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(|it| it.as_str().to_owned());
    let route = route.unwrap_or_else(|| "other".to_owned());
    let method = request.method().as_str().to_owned();
    let response = next.run(request).await;
    let mut requests = app.metrics.requests.lock().unwrap_or_else(PoisonError::into_inner);
    *requests.entry((route, method, response.status().as_u16())).or_default() += 1;
    drop(requests);
    response
}

/// Counts, for Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "getCounts", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"), ReadProblems))]
async fn show(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let position =
        app.engine.store().last_position().await.map_err(baton_engine::EngineError::from)?;
    let mut text = String::new();
    text += "# HELP baton_http_requests_total Requests answered.\n";
    text += "# TYPE baton_http_requests_total counter\n";
    let requests = app.metrics.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for ((route, method, status), n) in requests {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "baton_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {n}"
        );
    }
    text += "# HELP baton_events_total Events in the log.\n# TYPE baton_events_total counter\n";
    let _ = writeln!(text, "baton_events_total {}", position.0);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

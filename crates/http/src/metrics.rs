//! Request counts by route, method and status. Prometheus text at `/metrics`.

mod handoffs;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::MatchedPath;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use baton_engine::EngineError;
use baton_views::InsightWindow;
use jiff::SignedDuration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::health;
use crate::openapi::ReadProblems;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// By route, then by method and status: few series, because a route is its pattern.
#[derive(Default)]
pub(crate) struct RequestMetrics {
    requests: Mutex<BTreeMap<String, Counts>>,
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(show))
}

/// How far back the figures of handoffs reach.
const WINDOW: SignedDuration = SignedDuration::from_hours(7 * 24);

type Counts = HashMap<(&'static str, StatusCode), u64>;

/// A client may invent methods, and each would be a series of its own for ever.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

impl RequestMetrics {
    pub(crate) fn count(&self, route: Option<&MatchedPath>, method: &Method, status: StatusCode) {
        let route = route.map_or("other", MatchedPath::as_str);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked up first: an insert needs an owned string.
        if !requests.contains_key(route) {
            requests.insert(route.to_owned(), Counts::new());
        }
        if let Some(of_route) = requests.get_mut(route) {
            *of_route.entry((method_label(method), status)).or_default() += 1;
        }
    }

    fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for (route, counts) in requests.iter() {
            for ((method, status), n) in counts {
                let status = status.as_u16();
                lines.push(format!(
                    "baton_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {n}"
                ));
            }
        }
        lines.sort_unstable();
        lines
    }
}

/// Gets the server's metrics.
///
/// Requests, events, the archive, and how handing off has fared in the last seven days, as
/// Prometheus reads them. More of that is at `/api/v1/insights` and `/api/v1/metrics`.
#[utoipa::path(get, path = "/metrics", operation_id = "getPrometheusMetrics", tag = "server",
    responses(
        (status = 200, description = "Prometheus text format 0.0.4",
            body = String, content_type = "text/plain"),
        ReadProblems))]
async fn show(app: RequestScope) -> Result<Response, ApiProblem> {
    let position = app.read().last_position().await?;
    let mut text = String::new();
    text += "# HELP baton_http_requests_total Requests answered.\n";
    text += "# TYPE baton_http_requests_total counter\n";
    for line in app.metrics.lines() {
        text += &line;
        text.push('\n');
    }
    match &app.cluster {
        None => {
            text += "# HELP baton_events_total Events in the log.\n";
            text += "# TYPE baton_events_total counter\n";
            let _ = writeln!(text, "baton_events_total {}", position.0);
        }
        // Positions that several servers give out have gaps, and count nothing.
        Some(cluster) => {
            text += "# HELP baton_log_position The position of the newest event.\n";
            text += "# TYPE baton_log_position counter\n";
            let _ = writeln!(text, "baton_log_position {}", position.0);
            cluster.state().await.map_err(EngineError::from)?.metrics(&mut text);
        }
    }
    app.usage.write(&mut text);
    health::metrics(&app.door, &mut text);
    let from = app.read().now() - WINDOW;
    let window = InsightWindow { from, workflow: None };
    let insights = app.insights.take(app.read().insights(&window)).await?;
    handoffs::write(&insights, &mut text);
    // Where its folder cannot be read, as `/readyz` says, nodes cannot tell which cursor is its own: the rest is told all the same.
    if let Some(archive) = app.archive.as_ref().filter(|it| it.is_followed())
        && let Ok(n_behind) = archive.behind().await
    {
        text += "# HELP baton_archive_behind Events that the archive does not tell of yet.\n";
        text += "# TYPE baton_archive_behind gauge\n";
        let _ = writeln!(text, "baton_archive_behind {n_behind}");
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_clients_invent_are_one_series() {
        let metrics = RequestMetrics::default();
        for name in ["GET", "FOO1", "FOO2", "get"] {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            metrics.count(None, &method, StatusCode::METHOD_NOT_ALLOWED);
        }
        let series = |method: &str, n: u64| {
            format!(
                "baton_http_requests_total{{route=\"other\",method=\"{method}\",status=\"405\"}} {n}"
            )
        };
        assert_eq!(metrics.lines(), [series("GET", 1), series("other", 3)]);
    }
}

//! The frame of every page, and its two asset files.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::hash::Hash;

use super::html::Html;
use crate::health;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

const HTML: &str = "text/html; charset=utf-8";

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const SCRIPT: Asset = Asset {
    name: "baton.js",
    kind: "text/javascript; charset=utf-8",
    text: include_str!("baton.js"),
};
const STYLE: Asset =
    Asset { name: "baton.css", kind: "text/css; charset=utf-8", text: include_str!("baton.css") };

/// The version of the two assets: a browser caches them until it changes.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let both = [SCRIPT.text, STYLE.text].concat();
    Hash::of(both.as_bytes()).to_string().chars().take(16).collect()
});

/// A page whose live part is `main`.
pub(super) async fn page(app: &RequestScope, title: &str, main: Html) -> Response {
    let kind = [(CONTENT_TYPE, HTML)];
    (StatusCode::OK, kind, around(app, title, main).await).into_response()
}

/// The page, or an error page.
pub(super) async fn page_or_problem(
    app: &RequestScope,
    page: Result<Response, ApiProblem>,
) -> Response {
    let problem = match page {
        Ok(page) => return page,
        Err(problem) => problem,
    };
    let mut html = Html::default();
    html.raw("<section class=\"empty\" data-key=\"problem\"><h2>").text(problem.title());
    html.raw("</h2><p>").words(problem.detail()).raw("</p><p class=\"meta\"><code>");
    html.text(problem.code()).raw("</code> · <a href=\"/\">All runs</a></p></section>");
    let text = around(app, problem.title(), html).await;
    // Keeps the problem's status and headers.
    let (mut parts, _) = problem.into_response().into_parts();
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}

async fn around(app: &RequestScope, title: &str, main: Html) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>").plain(title);
    html.raw("</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    html.raw(
        "<link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/assets/baton.css?v=",
    );
    html.attribute(&VERSION).raw("\"><script defer src=\"/assets/baton.js?v=").attribute(&VERSION);
    html.raw("\"></script></head><body><header class=\"top\"><h1><a href=\"/\">Baton</a></h1>");
    html.raw("<p id=\"said\" role=\"status\"></p><p id=\"link\" class=\"link\" role=\"status\">");
    html.raw("<noscript>Reload to see what changed</noscript></p></header>");
    match health::not_ready(app).await {
        Some(why) => html.raw("<p id=\"fault\" role=\"alert\">").text(&why).raw("</p>"),
        None => html.raw("<p id=\"fault\" role=\"alert\" hidden></p>"),
    };
    html.raw("<main id=\"live\">").add(main).raw("</main></body></html>\n");
    html.into_string()
}

/// `/assets/{name}`: cached for ever under the version that pages ask for, else with `no-cache`.
pub(super) async fn asset(Path(name): Path<String>, uri: Uri) -> Result<Response, ApiProblem> {
    let Some(asset) = [SCRIPT, STYLE].into_iter().find(|it| it.name == name) else {
        let message = format!("there is nothing at {}", uri.path());
        return Err(ApiProblem::new(StatusCode::NOT_FOUND, "no_such_page", message));
    };
    let is_this = uri.query() == Some(format!("v={}", *VERSION).as_str());
    let keep = if is_this { "public, max-age=31536000, immutable" } else { "no-cache" };
    Ok(([(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, keep)], asset.text).into_response())
}

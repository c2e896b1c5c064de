//! What is around every page, and the two files that come with it.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::hash::Hash;

use super::html::Html;
use crate::problem::Problem;

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

/// What tells one version of the two from the next: a browser keeps them until it changes.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let both = [SCRIPT.text, STYLE.text].concat();
    Hash::of(both.as_bytes()).to_string().chars().take(16).collect()
});

/// A page whose live part is `main`.
pub(super) fn page(title: &str, main: Html) -> Response {
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
    html.raw("<noscript>Reload to see what changed</noscript></p></header><main id=\"live\">");
    html.add(main).raw("</main></body></html>\n");
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    (StatusCode::OK, kind, html.into_string()).into_response()
}

/// `/assets/{name}`: for ever under the version that pages ask for, else only this once.
pub(super) async fn asset(Path(name): Path<String>, uri: Uri) -> Result<Response, Problem> {
    let Some(asset) = [SCRIPT, STYLE].into_iter().find(|it| it.name == name) else {
        let message = format!("there is nothing at {}", uri.path());
        return Err(Problem::new(StatusCode::NOT_FOUND, "no_such_page", message));
    };
    let is_this = uri.query() == Some(format!("v={}", *VERSION).as_str());
    let keep = if is_this { "public, max-age=31536000, immutable" } else { "no-cache" };
    Ok(([(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, keep)], asset.text).into_response())
}

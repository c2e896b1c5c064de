//! Who may ask at all: a local server is reached by every page that the user's browser has open,
//! so nothing that a foreign page could send is taken (DESIGN, section 11).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, ORIGIN, REFERER,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::App;
use crate::api;
use crate::page;
use crate::problem::Problem;

/// The names by which this server is called, and so the origins that are its own.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    hosts: Vec<String>,
}

/// Bodies that a page cannot send without asking first.
const OURS: &[&str] = &[
    "application/json",
    "application/xml",
    "application/yaml",
    "text/markdown",
    "application/problem+json",
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

impl Origins {
    pub(crate) fn new(address: SocketAddr, allowed: &[String]) -> Self {
        let port = address.port();
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|it| format!("{it}:{port}"));
        let allowed = allowed.iter().map(|it| it.to_ascii_lowercase());
        Self { hosts: loopback.into_iter().chain(allowed).collect() }
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|it| self.has_host(it))
    }
}

/// Lets a request in, or says why not; every answer tells browsers what it is not for, and is
/// counted. One layer for all of it: each costs every request something.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let refused = refuse(&app, &request).err().map(|it| it.into_response());
    let mut response = match refused {
        Some(response) => response,
        None => next.run(request).await,
    };
    protect(response.headers_mut());
    // So that a client can tell a Baton from anything else at that address.
    let version = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));
    response.headers_mut().insert(api::VERSION, version);
    response.headers_mut().insert(api::INSTANCE, app.instance.clone());
    app.metrics.count(route.as_ref(), method, response.status());
    response
}

fn refuse(app: &App, request: &Request) -> Result<(), Problem> {
    let origins = &app.origins;
    let headers = request.headers();
    let host = text(headers, HOST.as_str()).or_else(|| {
        let authority = request.uri().authority()?;
        Some(authority.as_str())
    });
    if !host.is_some_and(|it| origins.has_host(it)) {
        let message = "this server answers only to its own names; see `--allow-host`";
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "foreign_host", message));
    }
    if headers.get(api::INSTANCE).is_some_and(|it| it != app.instance) {
        let message = "this was meant for another server, which was at this address before";
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "other_server", message));
    }
    let foreign = || {
        let message = "what another page sends is not taken";
        Err(Problem::new(StatusCode::FORBIDDEN, "foreign_origin", message))
    };
    if headers.contains_key(ORIGIN)
        && !text(headers, ORIGIN.as_str()).is_some_and(|it| origins.has_origin(it))
    {
        return foreign();
    }
    match text(headers, "sec-fetch-site") {
        Some("same-origin" | "none") => {}
        None if !headers.contains_key("sec-fetch-site") => {}
        // To come here from elsewhere is fine, to fetch from elsewhere is not.
        Some("cross-site" | "same-site") if is_visit(request) => {}
        Some(_) | None => return foreign(),
    }
    check_content_type(request)
}

/// True for a person who opens a page, by a link or by its address. Pages change nothing.
fn is_visit(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::GET
        && text(headers, "sec-fetch-mode") == Some("navigate")
        && text(headers, "sec-fetch-dest") == Some("document")
        && page::is_page(request.uri().path())
}

/// A form can be sent from any page without asking; curl without a header looks the same. What
/// tells them apart is all that a browser cannot leave out.
fn check_content_type(request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let has_body = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !has_body {
        return Ok(());
    }
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_from_browser = headers.contains_key(ORIGIN)
        || headers.contains_key(REFERER)
        || headers.contains_key(COOKIE)
        || headers.keys().any(|it| it.as_str().starts_with("sec-fetch-"));
    if OURS.contains(&kind.as_str()) || !is_from_browser {
        return Ok(());
    }
    let message = format!("send one of {}", OURS[..4].join(", "));
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message))
}

fn protect(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|it| it.to_str().ok())
}

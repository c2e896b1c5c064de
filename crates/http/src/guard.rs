//! Which requests are let in: every page that the user's browser has open can reach a local server,
//! so no request that a foreign page could send is accepted.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    COOKIE, EXPECT, HOST, ORIGIN, REFERER, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;

use crate::App;
use crate::heavy::Heavy;
use crate::limits::ServerLimits;
use crate::page;
use crate::preconditions;
use crate::problem::ApiProblem;
use crate::receive::{ReceivedBody, drain};
use crate::serve::TwoLengths;

/// The host names of this server, and so the origins that are its own.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    hosts: Vec<String>,
}

/// Content types that a page cannot send without a CORS preflight.
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
        let own = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = ["localhost", "127.0.0.1", "[::1]", &own];
        let mut hosts: Vec<String> = names.iter().map(|it| format!("{it}:{port}")).collect();
        // Browsers and other clients omit the default port.
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        hosts.extend(allowed.iter().map(|it| it.to_ascii_lowercase()));
        Self { hosts }
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|it| self.has_host(it))
    }
}

/// Lets a request in, or says why not; sets the security headers of every response and counts it.
/// One layer for all of it, because each layer costs every request something.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let is_navigation = is_navigation(&request);
    let mut response = match refuse(&app, &request) {
        Ok(()) => {
            let known = preconditions::known_tags(&request);
            let response = answer(&app, request, route.as_ref(), next).await;
            preconditions::unless_known(known.as_ref(), response)
        }
        Err(problem) => turned_away(request, problem).await,
    };
    if is_navigation {
        response = page::with_problem_page(&app, response).await;
    }
    protect(response.headers_mut());
    // So that a client can tell Baton from any other server at that address.
    let version = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));
    response.headers_mut().insert(baton_api::VERSION, version);
    response.headers_mut().insert(baton_api::INSTANCE, app.instance.clone());
    app.metrics.count(route.as_ref(), &method, response.status());
    response
}

/// Receives the body and carries the request out: here, or in the pool for heavy requests if it
/// would keep others waiting.
async fn answer(app: &App, request: Request, route: Option<&MatchedPath>, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let received = match app.bodies.receive(body).await {
        Ok(received) => received,
        Err(problem) => return closing(problem.into_response()),
    };
    // Its share of the bound on all bodies is released with the response.
    let ReceivedBody { bytes, held: _held } = received;
    let heavy = match (bytes.len() > ServerLimits::SMALL_DOCUMENT, route) {
        (true, _) => Some(Heavy::Document),
        (false, Some(route)) => (parts.method == Method::GET && page::renders(route.as_str()))
            .then_some(Heavy::Rendering),
        (false, None) => None,
    };
    let body = if bytes.is_empty() { Body::empty() } else { Body::from(bytes) };
    let answering = next.run(Request::from_parts(parts, body));
    let answered = match heavy {
        Some(kind) => app.heavy.run(kind, answering).await,
        None => AssertUnwindSafe(answering).catch_unwind().await.map_err(|_| ApiProblem::bug()),
    };
    answered.unwrap_or_else(ApiProblem::into_response)
}

/// The response to a request that is refused before it is read any further.
async fn turned_away(request: Request, problem: ApiProblem) -> Response {
    let response = problem.into_response();
    // A client that sent `Expect` waits to be asked for its body, and so never sends it.
    let is_waiting = request.headers().contains_key(EXPECT);
    // The end of the body is uncertain, and so is the start of the next request.
    if request.extensions().get::<TwoLengths>().is_some() {
        return closing(response);
    }
    let body = request.into_body();
    if body.is_end_stream() || (!is_waiting && drain(body).await) {
        return response;
    }
    closing(response)
}

/// Unread bytes precede the next request, so the connection cannot be reused.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn refuse(app: &App, request: &Request) -> Result<(), ApiProblem> {
    let origins = &app.origins;
    let headers = request.headers();
    if request.extensions().get::<TwoLengths>().is_some() {
        let message = "a request has either `Content-Length` or `Transfer-Encoding`, not both (RFC \
             9112, 6.1), and a chunked one is not sent before the answer to the one before it";
        return Err(ApiProblem::malformed("two_lengths", message));
    }
    if headers.get_all(HOST).iter().nth(1).is_some() {
        let message = "there is more than one `Host`; a request has one (RFC 9112)";
        return Err(ApiProblem::malformed("bad_host", message));
    }
    let authority = request.uri().authority().map(|it| it.as_str());
    let host = text(headers, HOST.as_str()).or(authority);
    // If the request's target itself names a host, it takes precedence over `Host` (RFC 9112).
    let is_ours = |it: Option<&str>| it.is_some_and(|it| origins.has_host(it));
    if !is_ours(host) || !is_ours(authority.or(host)) {
        let message = "this server answers only to its own names; see `--allow-host`";
        return Err(ApiProblem::new(StatusCode::MISDIRECTED_REQUEST, "foreign_host", message));
    }
    if headers.get(baton_api::INSTANCE).is_some_and(|it| it != app.instance) {
        let message = "this was meant for another server, which was at this address before";
        return Err(ApiProblem::new(StatusCode::MISDIRECTED_REQUEST, "other_server", message));
    }
    app.door.check_names(request.uri(), headers)?;
    let foreign = || {
        let message = "requests from other web sites are refused";
        Err(ApiProblem::new(StatusCode::FORBIDDEN, "foreign_origin", message))
    };
    if headers.contains_key(ORIGIN)
        && !text(headers, ORIGIN.as_str()).is_some_and(|it| origins.has_origin(it))
    {
        return foreign();
    }
    match text(headers, "sec-fetch-site") {
        Some("same-origin" | "none") => {}
        None if !headers.contains_key("sec-fetch-site") => {}
        // Navigating here from another site is fine, fetching from there is not.
        Some("cross-site" | "same-site") if is_visit(request) => {}
        Some(_) | None => return foreign(),
    }
    check_content_type(request)?;
    check_encoding(headers)?;
    app.conditional.check(request)
}

/// True for a person who opens a page, by a link or by its address. Pages change nothing.
fn is_visit(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::GET
        && text(headers, "sec-fetch-mode") == Some("navigate")
        && text(headers, "sec-fetch-dest") == Some("document")
        && page::is_page(request.uri().path())
}

/// True for a browser that shows the response to a person; scripts and programs read problems as
/// JSON.
fn is_navigation(request: &Request) -> bool {
    let headers = request.headers();
    let accepted = text(headers, ACCEPT.as_str()).unwrap_or_default();
    let is_browser = match text(headers, "sec-fetch-mode") {
        Some(mode) => mode == "navigate",
        // Not sent to a host without a certificate; every browser accepts this type by default.
        None => accepted.contains("application/xhtml+xml"),
    };
    request.method() == Method::GET && accepted.contains("text/html") && is_browser
}

/// Any page can send a form without a preflight, and curl without a header looks the same. Only the
/// headers that a browser cannot omit tell them apart.
fn check_content_type(request: &Request) -> Result<(), ApiProblem> {
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
    Err(ApiProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message))
}

/// A body is read as it arrives, as UTF-8.
fn check_encoding(headers: &HeaderMap) -> Result<(), ApiProblem> {
    let refused = |message: String| {
        ApiProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message)
    };
    for value in headers.get_all(CONTENT_ENCODING) {
        let coding = value.to_str().unwrap_or("?");
        if !coding.trim().eq_ignore_ascii_case("identity") {
            let message =
                format!("a body with `Content-Encoding: {coding}` is not read; send it without");
            return Err(refused(message));
        }
    }
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let parameters = kind.split(';').skip(1).filter_map(|it| it.split_once('='));
    let charset =
        parameters.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let Some((_, charset)) = charset else { return Ok(()) };
    let charset = charset.trim().trim_matches('"');
    if ["utf-8", "utf8", "us-ascii"].iter().any(|it| charset.eq_ignore_ascii_case(it)) {
        return Ok(());
    }
    Err(refused(format!("a body in `{charset}` is not read; send UTF-8")))
}

fn protect(headers: &mut HeaderMap) {
    // The files of agents have a stricter one.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|it| it.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_by_the_address_that_it_listens_on() {
        for (listen, host, is_ours) in [
            ("127.0.0.1:4180", "127.0.0.1:4180", true),
            ("127.0.0.1:4180", "LOCALHOST:4180", true),
            ("127.0.0.1:4180", "localhost", false),
            ("127.0.0.1:4180", "localhost:80", false),
            ("127.0.0.1:4180", "127.0.0.2:4180", false),
            ("127.0.0.2:4180", "127.0.0.2:4180", true),
            ("127.0.0.1:80", "localhost", true),
            ("127.0.0.1:80", "localhost:80", true),
            ("127.0.0.2:80", "127.0.0.2", true),
            ("[::1]:80", "[::1]", true),
            ("127.0.0.1:80", "evil.example", false),
        ] {
            let origins = Origins::new(listen.parse().unwrap(), &[]);
            assert_eq!(origins.has_host(host), is_ours, "{listen} {host}");
            assert_eq!(origins.has_origin(&format!("http://{host}")), is_ours, "{listen} {host}");
        }
    }
}

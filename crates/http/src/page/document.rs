//! The frame of every page, and its two asset files.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, VARY};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::hash::Hash;

use super::html::Html;
use super::{board, handoff, run, story};
use crate::App;
use crate::health;
use crate::problem::{ApiProblem, ProblemText};
use crate::scope::RequestScope;

const HTML: &str = "text/html; charset=utf-8";
/// The position of the log up to which a page shows every event: its script asks again only for later
/// ones.
const POSITION: HeaderName = HeaderName::from_static("baton-position");

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

/// A page: what its tab and its header say, and its live part. All three are made of the same rows,
/// so they never contradict each other.
pub(super) struct PageParts {
    pub(super) title: String,
    pub(super) headline: String,
    pub(super) main: Html,
}

/// How often a page is rendered again because something was recorded meanwhile. Where that never
/// ends, the page shows each run as it was when it was read.
const MOST_RENDERINGS: usize = 3;

/// The page, or an error page. It is rendered until nothing is recorded meanwhile, so that all parts
/// show one state.
pub(super) async fn respond(app: &RequestScope, path: PagePath) -> Response {
    for n_renderings in 1.. {
        let before = app.read().last_position().await.ok();
        let rendered = path.render(app).await;
        if n_renderings < MOST_RENDERINGS && before != app.read().last_position().await.ok() {
            continue;
        }
        return match rendered {
            Ok(Rendered::Page(parts)) => {
                let mut response = page(app, parts).await;
                let position = before.and_then(|it| HeaderValue::from_str(&it.0.to_string()).ok());
                if let Some(position) = position {
                    response.headers_mut().insert(POSITION, position);
                }
                response
            }
            Ok(Rendered::Elsewhere(location)) => {
                (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
            }
            Err(problem) => with_problem_page(app, problem.into_response()).await,
        };
    }
    unreachable!("the last rendering is returned")
}

/// Which page, with the name in its path.
pub(super) enum PagePath {
    Board,
    Run(String),
    Handoff(String),
    Story(String),
}

impl PagePath {
    async fn render(&self, app: &RequestScope) -> Result<Rendered, ApiProblem> {
        match self {
            PagePath::Board => board::render(app).await,
            PagePath::Run(name) => run::render(app, name).await,
            PagePath::Handoff(name) => handoff::render(app, name).await,
            PagePath::Story(name) => story::render(app, name).await,
        }
    }
}

/// What a path shows.
pub(super) enum Rendered {
    Page(PageParts),
    /// The page is at another path.
    Elsewhere(String),
}

async fn page(app: &RequestScope, parts: PageParts) -> Response {
    let fault = health::not_ready(app).await;
    let fault = fault.or_else(|| app.notice.as_ref().and_then(|it| it()));
    let PageParts { title, headline, main } = parts;
    let frame = PageFrame {
        title: &title,
        project: app.project.as_deref(),
        headline: Some(&headline),
        fault: fault.as_deref(),
    };
    ([(CONTENT_TYPE, HTML)], frame.around(main)).into_response()
}

/// The same response, as a page if it is a problem. Status and headers stay.
pub(crate) async fn with_problem_page(app: &App, mut response: Response) -> Response {
    let Some(problem) = response.extensions_mut().remove::<ProblemText>() else { return response };
    // The page of a request that was not let in says nothing about the project.
    let is_let_in =
        !matches!(response.status(), StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST);
    let ProblemText { title, detail, code } = problem;
    let mut main = Html::default();
    main.raw("<section class=\"empty\" data-key=\"problem\"><h2>").text(&title);
    main.raw("</h2><p><bdi>")
        .with_code(&detail)
        .raw("</bdi></p><p class=\"meta\"><a href=\"/errors/");
    main.attribute(&code).raw("\"><code>").text(&code);
    main.raw("</code></a> · <a href=\"/\">All runs</a></p></section>");
    let project = app.project.as_deref().filter(|_| is_let_in);
    let fault = if is_let_in { health::not_ready(app).await } else { None };
    let frame = PageFrame { title: &title, project, headline: None, fault: fault.as_deref() };
    let (mut parts, _) = response.into_parts();
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
    parts.headers.insert(VARY, HeaderValue::from_static("accept"));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(frame.around(main)))
}

/// A page that belongs to no project and never changes, such as that of the API.
pub(crate) fn fixed_page(title: &str, main: Html) -> String {
    PageFrame { title, project: None, headline: None, fault: None }.around(main)
}

/// What is around the live part of every page.
struct PageFrame<'a> {
    title: &'a str,
    project: Option<&'a str>,
    /// None on a page that does not change, which needs no script.
    headline: Option<&'a str>,
    /// Why the server cannot record, or starts no agents.
    fault: Option<&'a str>,
}

impl PageFrame<'_> {
    fn around(&self, main: Html) -> String {
        let mut html = Html::default();
        html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
        html.plain(self.title);
        if !self.title.is_empty() && !self.title.ends_with(' ') {
            html.raw(" · ");
        }
        if let Some(project) = self.project {
            html.plain(project).raw(" · ");
        }
        html.raw("Baton</title>");
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        html.raw("<meta name=\"color-scheme\" content=\"light dark\">");
        html.raw("<link rel=\"icon\" href=\"data:,\">");
        html.raw("<link rel=\"stylesheet\" href=\"/assets/baton.css?v=").attribute(&VERSION);
        html.raw("\">");
        if self.headline.is_some() {
            html.raw("<script defer src=\"/assets/baton.js?v=").attribute(&VERSION);
            html.raw("\"></script>");
        }
        html.raw("</head><body><header class=\"top\"><h1><a href=\"/\">Baton</a>");
        if let Some(project) = self.project {
            html.raw(" <span class=\"project\">").name(project).raw("</span>");
        }
        html.raw("</h1><p id=\"headline\" role=\"status\">");
        html.words(self.headline.unwrap_or_default());
        html.raw("</p>");
        if self.headline.is_some() {
            html.raw("<p id=\"link\" class=\"link\" role=\"status\">");
            html.raw("<noscript>Reload to see what changed</noscript></p>");
        }
        html.raw("</header>");
        match self.fault {
            Some(why) => html.raw("<p id=\"fault\" role=\"alert\">").text(why).raw("</p>"),
            None => html.raw("<p id=\"fault\" role=\"alert\" hidden></p>"),
        };
        html.raw("<main id=\"live\">").add(main).raw("</main></body></html>\n");
        html.into_string()
    }
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

//! The pages of the error codes, which the `type` of a problem refers to: the same as `baton explain`
//! prints.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::response::{IntoResponse as _, Response};
use baton_api::{ERROR_PAGES, Page, error_page};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::lookup::not_found;
use crate::openapi::ReadProblems;
use crate::page::{Html, fixed_page, markdown};
use crate::params::Named;
use crate::pipeline::Typed;
use crate::problem::ApiProblem;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

/// Lists the error codes.
///
/// Each has a page at `/errors/CODE`.
#[utoipa::path(get, path = "/errors", operation_id = "listErrors", tag = "server",
    responses((status = 200, description = "Every code", body = Page<String>), ReadProblems))]
async fn list() -> Typed<Page<String>> {
    let items = ERROR_PAGES.iter().map(|(code, _)| (*code).to_owned()).collect();
    Typed(Page { items, next: None })
}

/// Explains an error code.
///
/// What it means, and what to do. HTML for browsers, else Markdown.
#[utoipa::path(get, path = "/errors/{code}", operation_id = "explainError", tag = "server",
    params(("code" = String, Path, description = "The `code` of a problem")),
    responses(
        (status = 200, description = "The page of the code",
            content((String = "text/markdown"), (String = "text/html"))),
        ReadProblems))]
async fn get(Named(code): Named, headers: HeaderMap) -> Result<Response, ApiProblem> {
    let Some(page) = error_page(&code) else {
        let message = format!("there is no error `{code}`; `/errors` lists them");
        return Err(not_found("no_such_error", message));
    };
    let accepted = headers.get(ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let (kind, text) = if accepted.contains("text/html") {
        let mut main = Html::default();
        main.raw("<section class=\"run prose-page\">");
        markdown::render(&mut main, page);
        main.raw("</section>");
        let body = fixed_page(&code, main);
        ("text/html; charset=utf-8", body)
    } else {
        ("text/markdown; charset=utf-8", page.to_owned())
    };
    Ok(([(CONTENT_TYPE, kind), (VARY, "accept")], text).into_response())
}

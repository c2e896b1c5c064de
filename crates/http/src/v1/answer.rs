//! A response: JSON, the run's version as `ETag`, and the `Location` of a created resource.

use axum::http::header::{CONTENT_TYPE, ETAG, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use baton_api::Page;
use baton_core::package::Format;
use baton_store::Version;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::preconditions::version_tag;
use crate::problem::ApiProblem;

pub(super) struct ApiResponse<T> {
    status: StatusCode,
    body: T,
    version: Option<Version>,
    location: Option<String>,
}

impl<T> ApiResponse<T> {
    pub(super) fn new(body: T) -> Self {
        Self { status: StatusCode::OK, body, version: None, location: None }
    }

    /// Sets the run's version as `ETag`, for `If-Match`.
    #[must_use]
    pub(super) fn at(self, version: Version) -> Self {
        Self { version: Some(version), ..self }
    }

    /// Marks the response as created, with this path as its `Location`.
    #[must_use]
    pub(super) fn made(self, location: String) -> Self {
        Self { status: StatusCode::CREATED, location: Some(location), ..self }
    }
}

impl<T> ApiResponse<T> {
    /// Marks the response as taken, with the result yet to come.
    #[must_use]
    pub(super) fn taken(self) -> Self {
        Self { status: StatusCode::ACCEPTED, ..self }
    }
}

impl<T: Serialize> IntoResponse for ApiResponse<T> {
    fn into_response(self) -> Response {
        let body = match serde_json::to_string(&self.body) {
            Ok(body) => body,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        let kind = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = (self.status, [kind], body).into_response();
        let etag = self.version.map(|it| version_tag(it, Format::Json));
        for (name, value) in [(ETAG, etag), (LOCATION, self.location)] {
            if let Some(value) = value.and_then(|it| HeaderValue::try_from(it).ok()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Builds a page from up to `limit` + 1 rows; the extra row shows whether there is a next page.
pub(super) fn cut<R, T>(
    mut rows: Vec<R>,
    limit: u32,
    name: impl Fn(&R) -> String,
    show: impl Fn(R) -> T,
) -> Page<T> {
    let limit = limit as usize;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(name);
    Page { items: rows.into_iter().map(show).collect(), next }
}

pub(super) const MOST_ROWS: u32 = 500;
const USUAL_ROWS: u32 = 50;

/// The page size.
pub(super) fn limit(asked: Option<u32>) -> Result<u32, ApiProblem> {
    let limit = asked.unwrap_or(USUAL_ROWS);
    if (1..=MOST_ROWS).contains(&limit) {
        return Ok(limit);
    }
    Err(ApiProblem::malformed("wrong_type", format!("`limit` is a number from 1 to {MOST_ROWS}")))
}

/// The number that a page begins after; the database has no numbers beyond a signed one.
pub(super) fn after(asked: Option<i64>) -> Result<u64, ApiProblem> {
    u64::try_from(asked.unwrap_or(0))
        .map_err(|_| ApiProblem::malformed("wrong_type", "`after` is a number from 0"))
}

/// The query of a list without filters.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Only what comes after this cursor: `next` of the previous page.
    #[param(minimum = 0)]
    pub(super) after: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    pub(super) limit: Option<u32>,
}

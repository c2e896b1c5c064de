//! Parameters of the URL: names in the path, and a query without unknown names.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::misfit::misfit_of_text;
use crate::problem::ApiProblem;
use crate::query::Query;

/// The one name in a path, decoded.
pub(crate) struct Named(pub(crate) String);

/// A run, and the number of something in it.
pub(crate) struct NumberedIn(pub(crate) String, pub(crate) u32);

/// A run, and the key of something in it.
pub(crate) struct KeyedIn(pub(crate) String, pub(crate) String);

/// A query as its schema has it, without unknown names.
pub(crate) struct Params<Q>(pub(crate) Q);

/// For a route without parameters: any is refused.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiProblem> {
        let read: Result<Path<String>, PathRejection> =
            Path::from_request_parts(parts, state).await;
        match read {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(ApiProblem::malformed("bad_path", "the path is not UTF-8 once decoded")),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for NumberedIn {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiProblem> {
        let KeyedIn(run, number) = KeyedIn::from_request_parts(parts, state).await?;
        let wrong = || {
            let message = format!("`{}` is no number: they count from 1", number.escape_debug());
            ApiProblem::malformed("wrong_type", message)
        };
        let read = number.parse().map_err(|_| wrong())?;
        Ok(Self(run, read))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for KeyedIn {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiProblem> {
        let read: Result<Path<(String, String)>, PathRejection> =
            Path::from_request_parts(parts, state).await;
        match read {
            Ok(Path((run, key))) => Ok(Self(run, key)),
            Err(_) => Err(ApiProblem::malformed("bad_path", "the path is not UTF-8 once decoded")),
        }
    }
}

impl<S: Send + Sync, Q: DeserializeOwned + IntoParams> FromRequestParts<S> for Params<Q> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiProblem> {
        match axum::extract::Query::<Q>::try_from_uri(&parts.uri) {
            Ok(query) => Ok(Self(query.0)),
            Err(_) => Err(why_not::<Q>(&parts.uri)),
        }
    }
}

/// Explains why a query was refused: an unknown or repeated name, or a value of the wrong type.
fn why_not<Q: IntoParams>(uri: &Uri) -> ApiProblem {
    let known = Q::into_params(|| None);
    let names: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
    let query = match Query::read(uri, &names) {
        Ok(query) => query,
        Err(problem) => return problem,
    };
    let misfit = known
        .iter()
        .find_map(|it| misfit_of_text(&it.name, query.get(&it.name)?, it.schema.as_ref()?));
    misfit.unwrap_or_else(|| {
        ApiProblem::malformed("wrong_type", "the query does not fit what `/openapi.json` has")
    })
}

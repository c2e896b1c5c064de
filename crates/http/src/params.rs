//! Parameters of the URL: names in the path, and a query without unknown names.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::problem::ApiProblem;

/// The one name in a path, decoded.
pub(crate) struct Named(pub(crate) String);

/// A query as its schema has it, without unknown names.
pub(crate) struct Params<Q>(pub(crate) Q);

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

impl<S: Send + Sync, Q: DeserializeOwned + IntoParams> FromRequestParts<S> for Params<Q> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiProblem> {
        match axum::extract::Query::<Q>::try_from_uri(&parts.uri) {
            Ok(query) => Ok(Self(query.0)),
            Err(error) => {
                let known = Q::into_params(|| None);
                let known: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
                // Unknown and repeated names get our own message; other errors get serde's.
                crate::query::Query::read(&parts.uri, &known)?;
                let why = std::error::Error::source(&error)
                    .map_or_else(|| error.to_string(), ToString::to_string);
                let message = format!("the query cannot be read: {why}");
                Err(ApiProblem::malformed("wrong_type", message))
            }
        }
    }
}

//! The query of a request: each name once, and no unknown names.

use axum::http::Uri;

use crate::problem::ApiProblem;

pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn read(uri: &Uri, known: &[&str]) -> Result<Self, ApiProblem> {
        let pairs: Vec<(String, String)> =
            axum::extract::Query::try_from_uri(uri).map(|it| it.0).map_err(|error| {
                ApiProblem::malformed("bad_query", format!("the query cannot be read: {error}"))
            })?;
        for (index, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let known = match known {
                    [] => "there are no parameters here".to_owned(),
                    known => format!("known here: {}", known.join(", ")),
                };
                let message = format!("unknown: `{name}`; {known}");
                return Err(ApiProblem::malformed("unknown_field", message));
            }
            if pairs[..index].iter().any(|(it, _)| it == name) {
                let message = format!("`{name}` is there twice");
                return Err(ApiProblem::malformed("twice", message));
            }
        }
        Ok(Self(pairs))
    }

    /// A value that is present and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
        value.filter(|it| !it.is_empty())
    }
}

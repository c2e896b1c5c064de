//! Preconditions of a request (RFC 9110, section 13): `If-Match` of a write, `If-None-Match` of a read
//! and of a write that may only create. A precondition is evaluated or refused, never ignored.

use std::collections::HashSet;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use baton_core::package::Format;
use baton_store::Version;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use crate::problem::ApiProblem;

/// The preconditions of one write.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preconditions {
    if_match: Option<EntityTags>,
    if_none_match: Option<EntityTags>,
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EntityTags {
    Any,
    List(Vec<EntityTag>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EntityTag {
    is_weak: bool,
    /// What stands between the quotes.
    opaque: String,
}

impl Preconditions {
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, ApiProblem> {
        let if_match = EntityTags::read(headers, &IF_MATCH)?;
        let if_none_match = EntityTags::read(headers, &IF_NONE_MATCH)?;
        Ok(Self { if_match, if_none_match })
    }

    /// The versions of a run that `If-Match` names; `None` if any will do.
    pub(crate) fn versions(&self) -> Option<Vec<Version>> {
        match &self.if_match {
            None | Some(EntityTags::Any) => None,
            Some(EntityTags::List(tags)) => {
                Some(tags.iter().filter(|it| !it.is_weak).filter_map(EntityTag::version).collect())
            }
        }
    }

    /// Whether they hold for what has this tag now; `None` if there is nothing.
    pub(crate) fn hold(&self, current: Option<&str>) -> bool {
        let matches = match (&self.if_match, current) {
            (None, _) => true,
            (Some(tags), Some(current)) => tags.has(current, Comparison::Strong),
            (Some(_), None) => false,
        };
        let is_other = match (&self.if_none_match, current) {
            (Some(tags), Some(current)) => !tags.has(current, Comparison::Weak),
            (None, _) | (Some(_), None) => true,
        };
        matches && is_other
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// A weak tag matches nothing.
    Strong,
    Weak,
}

impl EntityTags {
    fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ApiProblem> {
        let lines: Result<Vec<&str>, _> =
            headers.get_all(name).iter().map(|it| it.to_str()).collect();
        let read = match lines {
            Ok(lines) if lines.is_empty() => return Ok(None),
            Ok(lines) => Self::parse(&lines.join(",")),
            Err(_) => None,
        };
        let bad = || {
            let name = if name == IF_MATCH { "If-Match" } else { "If-None-Match" };
            let message = format!(
                "`{name}` is an `ETag` of an earlier response, such as `\"12\"`, or several"
            );
            ApiProblem::malformed("bad_version", message)
        };
        read.map(Some).ok_or_else(bad)
    }

    fn parse(text: &str) -> Option<Self> {
        if text.trim() == "*" {
            return Some(Self::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text.trim_start_matches([' ', '\t', ',']);
        while !rest.is_empty() {
            let is_weak = rest.starts_with("W/");
            let quoted = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
            let (opaque, after) = quoted.split_once('"')?;
            if opaque.bytes().any(|it| !(b'!'..=b'~').contains(&it)) {
                return None;
            }
            tags.push(EntityTag { is_weak, opaque: opaque.to_owned() });
            let after = after.trim_start_matches([' ', '\t']);
            if !after.is_empty() && !after.starts_with(',') {
                return None;
            }
            rest = after.trim_start_matches([' ', '\t', ',']);
        }
        (!tags.is_empty()).then_some(Self::List(tags))
    }

    /// Whether one of them is the tag `current`, which is strong and has its quotes.
    fn has(&self, current: &str, comparison: Comparison) -> bool {
        let same = |it: &EntityTag| {
            current.trim_matches('"') == it.opaque
                && (comparison == Comparison::Weak || !it.is_weak)
        };
        match self {
            Self::Any => true,
            Self::List(tags) => tags.iter().any(same),
        }
    }
}

impl EntityTag {
    /// The version of the run that [`version_tag`] made it of, in whichever format.
    fn version(&self) -> Option<Version> {
        let number = match self.opaque.split_once('-') {
            None => &self.opaque,
            Some((number, format)) => {
                Format::ALL.into_iter().find(|it| it.name() == format)?;
                number
            }
        };
        number.parse().ok().map(Version)
    }
}

/// The `ETag` of a run's version. Each format of the same version is another representation.
pub(crate) fn version_tag(version: Version, format: Format) -> String {
    format_tag(&version.0.to_string(), (format != Format::Json).then_some(format))
}

/// A tag, marked with the format unless that is the usual one.
pub(crate) fn format_tag(opaque: &str, unusual: Option<Format>) -> String {
    match unusual {
        None => format!("\"{opaque}\""),
        Some(format) => format!("\"{opaque}-{}\"", format.name()),
    }
}

/// The operations of a path, by method.
fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// The routes that evaluate preconditions, as the description has them.
#[derive(Debug, Default)]
pub(crate) struct ConditionalRoutes(HashSet<(HeaderName, String)>);

impl ConditionalRoutes {
    pub(crate) fn of(description: &OpenApi) -> Self {
        let mut routes = HashSet::new();
        for (path, item) in &description.paths.paths {
            for (method, operation) in operations(item) {
                for parameter in operation.parameters.iter().flatten() {
                    let RefOr::T(parameter) = parameter else { continue };
                    let is_header = matches!(parameter.parameter_in, ParameterIn::Header);
                    for name in [IF_MATCH, IF_NONE_MATCH] {
                        if is_header && parameter.name.eq_ignore_ascii_case(name.as_str()) {
                            routes.insert((name, format!("{method} {path}")));
                        }
                    }
                }
            }
        }
        Self(routes)
    }

    /// Refuses a write with a precondition that its route does not evaluate. Reads without an `ETag`
    /// have nothing to compare and answer in full.
    pub(crate) fn check(&self, request: &Request) -> Result<(), ApiProblem> {
        let (method, headers) = (request.method(), request.headers());
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        let Some(route) = request.extensions().get::<MatchedPath>() else { return Ok(()) };
        let route = || format!("{method} {}", route.as_str());
        for (name, shown) in [(IF_MATCH, "If-Match"), (IF_NONE_MATCH, "If-None-Match")] {
            if headers.contains_key(&name) && !self.0.contains(&(name, route())) {
                let message = format!("{} does not take `{shown}`; send it without", route());
                return Err(ApiProblem::new(
                    StatusCode::PRECONDITION_FAILED,
                    "precondition_unsupported",
                    message,
                ));
            }
        }
        Ok(())
    }
}

/// The tags of a read that the client has already.
pub(crate) fn known_tags(request: &Request) -> Option<HeaderMap> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let values = request.headers().get_all(IF_NONE_MATCH);
    let known: HeaderMap = values.iter().map(|it| (IF_NONE_MATCH, it.clone())).collect();
    (is_read && !known.is_empty()).then_some(known)
}

/// 304 in the place of an answer that the client has already.
pub(crate) fn unless_known(known: Option<&HeaderMap>, mut response: Response) -> Response {
    let Some(known) = known else { return response };
    let tag = response.headers().get(ETAG).and_then(|it| it.to_str().ok());
    // A tag that cannot be read is the tag of nothing.
    let tags = EntityTags::read(known, &IF_NONE_MATCH).ok().flatten();
    let is_known = match (tags, tag) {
        (Some(tags), Some(tag)) => tags.has(tag, Comparison::Weak),
        (None, _) | (_, None) => false,
    };
    if response.status() == StatusCode::OK && is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preconditions(name: HeaderName, value: &str) -> Result<Preconditions, ApiProblem> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        Preconditions::read(&headers)
    }

    #[test]
    fn if_match_compares_strongly_and_takes_lists() {
        for (value, current, holds) in [
            ("\"4\"", Some("\"4\""), true),
            ("\"999\", \"4\"", Some("\"4\""), true),
            ("\"999\",,\"4\" ,", Some("\"4\""), true),
            ("\"4,5\"", Some("\"4,5\""), true),
            ("W/\"4\"", Some("\"4\""), false),
            ("W/\"4\", \"4\"", Some("\"4\""), true),
            ("\"5\"", Some("\"4\""), false),
            ("\"4\"", None, false),
            ("*", Some("\"4\""), true),
            ("*", None, false),
        ] {
            let read = preconditions(IF_MATCH, value).unwrap();
            assert_eq!(read.hold(current), holds, "{value} {current:?}");
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        for (value, current, holds) in [
            ("\"4\"", Some("\"4\""), false),
            ("W/\"4\"", Some("\"4\""), false),
            ("\"5\", \"6\"", Some("\"4\""), true),
            ("*", Some("\"4\""), false),
            ("*", None, true),
        ] {
            let read = preconditions(IF_NONE_MATCH, value).unwrap();
            assert_eq!(read.hold(current), holds, "{value} {current:?}");
        }
    }

    #[test]
    fn a_version_is_the_same_in_every_format() {
        for (value, versions) in [
            ("\"4\"", Some(vec![4])),
            ("\"4-xml\", \"5-yaml\"", Some(vec![4, 5])),
            ("W/\"4\", \"x\", \"4-csv\"", Some(vec![])),
            ("*", None),
        ] {
            let read = preconditions(IF_MATCH, value).unwrap();
            let read = read.versions().map(|it| it.iter().map(|it| it.0).collect::<Vec<_>>());
            assert_eq!(read, versions, "{value}");
        }
        for format in Format::ALL {
            let tag = version_tag(Version(12), format);
            let read = preconditions(IF_MATCH, &tag).unwrap();
            assert_eq!(read.versions(), Some(vec![Version(12)]), "{tag}");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for value in ["12", "\"12", "12\"", "w/\"12\"", "\"1\" \"2\"", "\"1\", *", ",", "\"a b\""] {
            assert!(preconditions(IF_MATCH, value).is_err(), "{value}");
        }
    }
}

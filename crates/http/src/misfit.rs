//! Why a JSON document does not fit its schema, with the place: serde's own messages name Rust types.

use baton_core::document::Node;
use baton_wire::json;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use crate::problem::ApiProblem;

/// The first misfit of a document with the schema of `T`; `None` if it fits.
pub(crate) fn misfit<T: ToSchema>(document: &Node) -> Option<ApiProblem> {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts = Parts(parts.iter().map(|(name, it)| (name.clone(), as_node(it))).collect());
    parts.misfit(document, &as_node(&T::schema()), "")
}

/// The misfit of one query parameter.
pub(crate) fn misfit_of_text(name: &str, text: &str, schema: &RefOr<Schema>) -> Option<ApiProblem> {
    let schema = as_node(schema);
    let value = match main_type(&schema) {
        "integer" | "boolean" => json::parse(text).ok(),
        _ => None,
    };
    Parts(Vec::new()).misfit(&value.unwrap_or_else(|| Node::text(text)), &schema, name)
}

/// The schemas that another one refers to, by their names.
struct Parts(Vec<(String, Node)>);

impl Parts {
    fn misfit(&self, value: &Node, schema: &Node, path: &str) -> Option<ApiProblem> {
        if let Some(place) = text(schema, "$ref") {
            let name = place.rsplit('/').next().unwrap_or_default();
            let (_, schema) = self.0.iter().find(|(it, _)| it == name)?;
            return self.misfit(value, schema, path);
        }
        if let Some(Node::List(choices)) = schema.member("oneOf") {
            let misfits = choices.iter().map(|it| self.misfit(value, it, path));
            return misfits.collect::<Option<Vec<_>>>()?.into_iter().next();
        }
        if !types(schema).is_empty() && !types(schema).iter().any(|it| is_a(value, it, schema)) {
            return Some(wrong(path, &description(schema)));
        }
        if let Some(Node::List(words)) = schema.member("enum")
            && !words.contains(value)
        {
            let words: Vec<&str> = words.iter().filter_map(Node::as_text).collect();
            return Some(wrong(path, &format!("one of {}", words.join(", "))));
        }
        match value {
            Node::List(items) => {
                let schema = schema.member("items")?;
                let each = |(index, it)| self.misfit(it, schema, &format!("{path}[{index}]"));
                items.iter().enumerate().find_map(each)
            }
            Node::Map(members) => self.misfit_of_members(members, schema, path),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => None,
        }
    }

    fn misfit_of_members(
        &self,
        members: &[(String, Node)],
        schema: &Node,
        path: &str,
    ) -> Option<ApiProblem> {
        let Some(Node::Map(known)) = schema.member("properties") else { return None };
        let place = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let is_known = |name: &String| known.iter().any(|(it, _)| it == name);
        let is_closed = schema.member("additionalProperties") == Some(&Node::Bool(false));
        let unknown = members.iter().map(|(it, _)| it).filter(|it| is_closed && !is_known(it));
        let unknown: Vec<String> = unknown.map(|it| format!("`{}`", place(it))).collect();
        if !unknown.is_empty() {
            let known: Vec<&str> = known.iter().map(|(it, _)| it.as_str()).collect();
            let (unknown, known) = (unknown.join(", "), known.join(", "));
            let message = format!("unknown: {unknown}; known here: {known}");
            return Some(ApiProblem::malformed("unknown_field", message));
        }
        let given = |name: &str| members.iter().find(|(it, _)| it == name).map(|(_, it)| it);
        let is_missing = |it: &&str| given(it).is_none_or(|it| *it == Node::Null);
        if let Some(name) = list(schema, "required").filter_map(Node::as_text).find(is_missing) {
            let message = format!("`{}` is missing", place(name));
            return Some(ApiProblem::malformed("missing_field", message));
        }
        known.iter().find_map(|(name, schema)| self.misfit(given(name)?, schema, &place(name)))
    }
}

/// Read as a document, which keeps the order of the fields.
fn as_node(schema: &RefOr<Schema>) -> Node {
    let text = serde_json::to_string(schema).ok();
    text.and_then(|it| json::parse(&it).ok()).unwrap_or(Node::Null)
}

fn text<'a>(schema: &'a Node, name: &str) -> Option<&'a str> {
    schema.member(name).and_then(Node::as_text)
}

fn list<'a>(schema: &'a Node, name: &str) -> impl Iterator<Item = &'a Node> {
    let items = match schema.member(name) {
        Some(Node::List(items)) => items.as_slice(),
        Some(_) | None => &[],
    };
    items.iter()
}

/// The types that a value may have; none if it may be anything.
fn types(schema: &Node) -> &[Node] {
    match schema.member("type") {
        Some(Node::List(types)) => types,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// The type of a value that is not null.
fn main_type(schema: &Node) -> &str {
    types(schema).iter().filter_map(Node::as_text).find(|it| *it != "null").unwrap_or_default()
}

fn is_a(value: &Node, kind: &Node, schema: &Node) -> bool {
    let kind = kind.as_text().unwrap_or_default();
    match value {
        Node::Null => kind == "null",
        Node::Bool(_) => kind == "boolean",
        Node::Text(_) => kind == "string",
        Node::List(_) => kind == "array",
        Node::Map(_) => kind == "object",
        Node::Number(number) if kind == "integer" => {
            let (least, most) = range(schema);
            number.as_str().parse().is_ok_and(|it: i128| least <= it && it <= most)
        }
        Node::Number(_) => kind == "number",
    }
}

/// The least and the greatest number of a schema.
fn range(schema: &Node) -> (i128, i128) {
    let number = |name: &str| match schema.member(name) {
        Some(Node::Number(number)) => number.as_str().parse().ok(),
        Some(_) | None => None,
    };
    let widest =
        if text(schema, "format") == Some("int32") { u32::MAX.into() } else { u64::MAX.into() };
    (number("minimum").unwrap_or(i64::MIN.into()), number("maximum").unwrap_or(widest))
}

fn description(schema: &Node) -> String {
    match main_type(schema) {
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        "integer" => match range(schema) {
            (least, most) if least >= 0 && most < u64::MAX.into() => {
                format!("a whole number from {least} to {most}")
            }
            _ => "a whole number".to_owned(),
        },
        _ => "a number".to_owned(),
    }
}

fn wrong(path: &str, what: &str) -> ApiProblem {
    let subject = if path.is_empty() { "the body".to_owned() } else { format!("`{path}`") };
    ApiProblem::malformed("wrong_type", format!("{subject} has to be {what}"))
}

#[cfg(test)]
mod tests {
    use baton_api::{Acceptance, NewHandoff, StoryText};

    use super::*;

    #[track_caller]
    fn check_misfit<T: ToSchema>(document: &str, expected: &str) {
        let found = misfit::<T>(&json::parse(document).unwrap());
        assert_eq!(found.as_ref().map_or("", ApiProblem::detail), expected, "{document}");
    }

    #[test]
    fn a_misfit_is_said_with_its_place_and_what_would_fit() {
        check_misfit::<Acceptance>(r#"{"agent":null,"leaseSeconds":9}"#, "");
        check_misfit::<Acceptance>("[]", "the body has to be an object");
        check_misfit::<Acceptance>(r#"{"agent":7}"#, "`agent` has to be a text");
        let seconds = "`leaseSeconds` has to be a whole number from 1 to 3600";
        check_misfit::<Acceptance>(r#"{"leaseSeconds":1.5}"#, seconds);
        check_misfit::<Acceptance>(r#"{"leaseSeconds":99999999999}"#, seconds);
        check_misfit::<StoryText>(r#"{}"#, "`title` is missing");
        check_misfit::<StoryText>(
            r#"{"title":"t","acceptance":["a",7]}"#,
            "`acceptance[1]` has to be a text",
        );
        let whole = r#""fromAgent":"a","toAgent":"b""#;
        check_misfit::<NewHandoff>(
            &format!(r#"{{{whole},"token":{{"handoff":"1","fence":-1}}}}"#),
            "`token.fence` has to be a whole number from 0 to 4294967295",
        );
        check_misfit::<NewHandoff>(
            &format!(r#"{{{whole},"token":{{"handoff":"1","fence":1,"x":2}}}}"#),
            "unknown: `token.x`; known here: handoff, fence",
        );
        check_misfit::<NewHandoff>(
            &format!(r#"{{{whole},"profile":"severe"}}"#),
            "`profile` has to be one of strict, lenient",
        );
    }
}

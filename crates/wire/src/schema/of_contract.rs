//! A contract as JSON Schema, as far as possible: for tools that check a document before it is
//! sent. JSON Schema cannot count one field by another; Baton checks that itself.

use baton_core::contract::{Check, Contract, ContractRule, ValueKind, When, WhenTest};
use baton_core::document::{Node, Number};

/// The schema of the fields of a document: what `must` asks for, and what the rest is about.
pub(super) fn of_contract(contract: &Contract) -> Node {
    let rules = || contract.must.iter().chain(&contract.should);
    let mut properties: Vec<(String, Node)> = Vec::new();
    for rule in rules() {
        let key = rule.field.split('.').next().unwrap_or_default().to_owned();
        let is_new = properties.iter().all(|(it, _)| *it != key);
        if is_new && key == rule.field {
            properties.push((key, Node::map([("description", Node::text(&rule.about))])));
        }
    }
    let must: Vec<Node> = contract.must.iter().filter_map(of_rule).collect();
    let mut members = vec![("type", Node::text("object")), ("properties", Node::Map(properties))];
    if !must.is_empty() {
        members.push(("allOf", Node::List(must)));
    }
    Node::map(members)
}

/// What every schema here refers to.
pub(super) fn definitions() -> Vec<(String, Node)> {
    let one = |name: &str, node: Node| (name.to_owned(), node);
    let kind = |name: &str| ("type", Node::text(name));
    let with = |key: &'static str, n: i64| (key, Node::Number(Number::from(n)));
    let text = Node::map([kind("string"), ("pattern", Node::text("\\S"))]);
    let number =
        Node::map([kind("string"), ("pattern", Node::text("^\\s*-?[0-9]+([.][0-9]+)?\\s*$"))]);
    let list = Node::map([kind("object"), with("minProperties", 1), with("maxProperties", 1)]);
    vec![
        one(
            "something",
            any_of(vec![
                text.clone(),
                Node::map([("type", texts(&["number", "boolean"]))]),
                Node::map([kind("array"), with("minItems", 1)]),
                Node::map([kind("object"), with("minProperties", 1)]),
            ]),
        ),
        one("text", text),
        one("number", any_of(vec![Node::map([kind("number")]), number])),
        one("bool", any_of(vec![Node::map([kind("boolean")]), enumeration(&["true", "false"])])),
        // XML writes a list as one key that stands several times.
        one("list", any_of(vec![Node::map([kind("array")]), list])),
    ]
}

fn of_rule(rule: &ContractRule) -> Option<Node> {
    let spellings = || std::iter::once(&rule.field).chain(&rule.others);
    let required = |schema: Node| {
        let mut ways: Vec<Node> = spellings().map(|it| present(it, schema.clone())).collect();
        if ways.len() == 1 { ways.remove(0) } else { any_of(ways) }
    };
    let everywhere = |schema: Node| {
        let mut ways: Vec<Node> = spellings().map(|it| below(it, schema.clone())).collect();
        if ways.len() == 1 { ways.remove(0) } else { Node::map([("allOf", Node::List(ways))]) }
    };
    let schema = match &rule.check {
        Check::Present => required(reference("something")),
        Check::Kind(kind) => required(of_kind(*kind)),
        Check::OneOf(words) => required(enumeration_of(words)),
        Check::NoneOf(words) => everywhere(Node::map([("not", enumeration_of(words))])),
        Check::AtLeast(least) => {
            let n = Node::Number(Number::from(i64::try_from(*least).unwrap_or(1)));
            let array = Node::map([("type", Node::text("array")), ("minItems", n)]);
            let object = Node::map([
                ("type", Node::text("object")),
                ("minProperties", Node::Number(Number::from(1))),
            ]);
            required(any_of(vec![array, object]))
        }
        Check::AtMost(most) => {
            let bound = Node::Number(Number::from(i64::from(*most)));
            let words: Vec<String> = (0..=(*most).min(20)).map(|it| it.to_string()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            everywhere(any_of(vec![
                Node::map([("type", Node::text("number")), ("maximum", bound)]),
                enumeration(&words),
            ]))
        }
        Check::Absent => {
            let nothing = vec![Node::Null, Node::text(""), Node::List(vec![]), Node::Map(vec![])];
            everywhere(Node::map([("enum", Node::List(nothing))]))
        }
        Check::SameAs(_) | Check::CountedBy(_) => return None,
    };
    let cases: Vec<Node> = rule.when.iter().map(of_case).collect();
    if cases.is_empty() {
        return Some(schema);
    }
    Some(Node::map([("if", Node::map([("allOf", Node::List(cases))])), ("then", schema)]))
}

fn of_case(when: &When) -> Node {
    let any = |schema: Node| {
        let fields = std::iter::once(&when.field).chain(&when.others);
        let mut ways: Vec<Node> = fields.map(|it| present(it, schema.clone())).collect();
        if ways.len() == 1 { ways.remove(0) } else { any_of(ways) }
    };
    let there = || any(reference("something"));
    let not = |schema: Node| Node::map([("not", schema)]);
    match &when.test {
        WhenTest::Is(words) => any(enumeration_of(words)),
        WhenTest::IsNot(words) => not(any(enumeration_of(words))),
        WhenTest::Present => there(),
        WhenTest::Absent => not(there()),
    }
}

fn of_kind(kind: ValueKind) -> Node {
    match kind {
        ValueKind::Text => reference("text"),
        ValueKind::Number => reference("number"),
        ValueKind::Bool => reference("bool"),
        ValueKind::List => reference("list"),
        ValueKind::Map => Node::map([("type", Node::text("object"))]),
    }
}

/// Required, and valid by the schema: every map on the path is required too.
pub(super) fn present(path: &str, schema: Node) -> Node {
    nested(path, schema, |key, inner| {
        Node::map([
            ("type", Node::text("object")),
            ("required", texts(&[key])),
            ("properties", Node::Map(vec![(key.to_owned(), inner)])),
        ])
    })
}

/// Valid by the schema, if present.
fn below(path: &str, schema: Node) -> Node {
    nested(path, schema, |key, inner| {
        Node::map([("properties", Node::Map(vec![(key.to_owned(), inner)]))])
    })
}

fn nested(path: &str, schema: Node, wrap: impl Fn(&str, Node) -> Node) -> Node {
    path.rsplit('.').fold(schema, |inner, key| wrap(key, inner))
}

pub(super) fn reference(name: &str) -> Node {
    Node::map([("$ref", Node::text(format!("#/$defs/{name}")))])
}

fn enumeration_of(words: &[String]) -> Node {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    enumeration(&words)
}

/// The words as strings, and as JSON numbers and booleans where they read as such.
pub(super) fn enumeration(words: &[&str]) -> Node {
    let mut values: Vec<Node> = words.iter().map(|it| Node::text(*it)).collect();
    for word in words {
        match *word {
            "true" => values.push(Node::Bool(true)),
            "false" => values.push(Node::Bool(false)),
            word => values.extend(Number::parse(word).map(Node::Number)),
        }
    }
    Node::map([("enum", Node::List(values))])
}

fn any_of(schemas: Vec<Node>) -> Node {
    Node::map([("anyOf", Node::List(schemas))])
}

pub(super) fn texts(words: &[&str]) -> Node {
    Node::List(words.iter().map(|it| Node::text(*it)).collect())
}

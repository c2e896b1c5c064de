//! Findings as SARIF 2.1.0, which editors and code hosts show beside the lines.

use std::collections::BTreeSet;

use baton_api::error_page;
use baton_core::document::Node;
use baton_core::lint::{LintRule, Severity};
use baton_wire::position::TextPosition;

use super::{Looked, Unread};
use crate::show;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn answer(looked: &[Looked]) {
    let results: Vec<SarifResult<'_>> = looked.iter().flat_map(found).collect();
    let ids: BTreeSet<&str> = results.iter().map(|it| it.rule).collect();
    let unread: BTreeSet<&str> =
        looked.iter().filter_map(|it| it.report.as_ref().err()).map(Unread::code).collect();
    let rules = ids.iter().map(|id| rule(id, unread.contains(id)));
    let driver = Node::map([
        ("name", Node::text("baton")),
        ("version", Node::text(env!("CARGO_PKG_VERSION"))),
        ("rules", Node::List(rules.collect())),
    ]);
    let run = Node::map([
        ("tool", Node::map([("driver", driver)])),
        ("results", Node::List(results.iter().map(SarifResult::to_node).collect())),
    ]);
    show::answer_json(&Node::map([
        ("$schema", Node::text(SCHEMA)),
        ("version", Node::text("2.1.0")),
        ("runs", Node::List(vec![run])),
    ]));
}

/// A rule: what it is about, and how to mend what breaks it. There is no `helpUri`: the pages are in
/// the project's `docs`, which have no address of their own.
fn rule(id: &str, is_unread: bool) -> Node {
    let (about, help) = match LintRule::parse(id) {
        Some(rule) => (rule.about(), format!("{}; its page is docs/lint/{id}.md", rule.fix())),
        None if is_unread => {
            let help =
                error_page(id).map_or_else(|| format!("`baton explain {id}`"), str::to_owned);
            ("the file cannot be read, or is no document of its format", help)
        }
        None => {
            let help = "`baton handoff template` shows what the edge asks for".to_owned();
            ("what the contract of the edge asks for", help)
        }
    };
    Node::map([("id", Node::text(id)), ("shortDescription", text(about)), ("help", text(&help))])
}

struct SarifResult<'a> {
    rule: &'a str,
    level: &'static str,
    message: String,
    file: &'a str,
    /// Within the document.
    path: &'a str,
    line: usize,
    column: usize,
}

fn found(looked: &Looked) -> Vec<SarifResult<'_>> {
    let file = looked.file.as_str();
    match &looked.report {
        Ok(report) => report
            .findings
            .iter()
            .map(|it| (it, looked.places.as_ref().map(|places| places.place_of(&it.path))))
            .map(|(it, at)| (it, at.unwrap_or(TextPosition::START)))
            .map(|(it, at)| SarifResult {
                rule: it.code.as_ref(),
                level: match it.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "note",
                },
                message: it.to_problem().message,
                file,
                path: &it.path,
                line: at.line,
                column: at.column,
            })
            .collect(),
        Err(Unread::File(failure)) => vec![SarifResult {
            rule: failure.code(),
            level: "error",
            message: failure.to_string(),
            file,
            path: "",
            line: 1,
            column: 1,
        }],
        Err(Unread::Document(error)) => vec![SarifResult {
            rule: error.code(),
            level: "error",
            message: error.sentence(),
            file,
            path: "",
            line: error.at.line,
            column: error.at.column,
        }],
    }
}

impl SarifResult<'_> {
    fn to_node(&self) -> Node {
        let number = |it: usize| Node::count(it as u64);
        let region =
            Node::map([("startLine", number(self.line)), ("startColumn", number(self.column))]);
        let place = Node::map([("artifactLocation", artifact(self.file)), ("region", region)]);
        let mut location = vec![("physicalLocation", place)];
        if !self.path.is_empty() {
            let within = Node::map([("fullyQualifiedName", Node::text(self.path))]);
            location.push(("logicalLocations", Node::List(vec![within])));
        }
        Node::map([
            ("ruleId", Node::text(self.rule)),
            ("level", Node::text(self.level)),
            ("message", text(&self.message)),
            ("locations", Node::List(vec![Node::map(location)])),
        ])
    }
}

/// The file as a URI: relative to where Baton was called, or with its scheme.
fn artifact(file: &str) -> Node {
    if file == "-" {
        let description = ("description", text("the standard input"));
        return Node::map([("uri", Node::text("stdin")), description]);
    }
    let scheme = if file.starts_with('/') { "file://" } else { "" };
    Node::map([("uri", Node::text(format!("{scheme}{}", percent_encoded(file))))])
}

/// A path with everything escaped that has a meaning in a URI.
fn percent_encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn text(text: &str) -> Node {
    Node::map([("text", Node::text(text))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri_whatever_it_holds() {
        for (path, expected) in [
            ("docs/handoff.yaml", "docs/handoff.yaml"),
            ("my file \u{FC}#1.yaml", "my%20file%20%C3%BC%231.yaml"),
            ("a:b?.xml", "a%3Ab%3F.xml"),
            ("/tmp/a b.md", "file:///tmp/a%20b.md"),
            ("-", "stdin"),
        ] {
            assert_eq!(artifact(path).member("uri"), Some(&Node::text(expected)));
        }
    }
}

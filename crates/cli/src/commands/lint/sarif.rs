//! Findings as SARIF 2.1.0, which editors and code hosts show beside the lines.

use std::collections::BTreeSet;

use baton_core::document::Node;
use baton_core::lint::{LintRule, Severity};

use super::{Looked, Unread};
use crate::show;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn answer(looked: &[Looked]) {
    let results: Vec<SarifResult<'_>> = looked.iter().flat_map(found).collect();
    let ids: BTreeSet<&str> = results.iter().map(|it| it.rule).collect();
    let rules = ids.iter().map(|id| {
        let about =
            LintRule::parse(id).map_or("what the contract of the edge asks for", LintRule::about);
        Node::map([("id", Node::text(*id)), ("shortDescription", text(about))])
    });
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
            .map(|it| SarifResult {
                rule: it.code.as_ref(),
                level: match it.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "note",
                },
                message: it.to_problem().message,
                file,
                path: &it.path,
                line: 1,
                column: 1,
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
        let place = Node::map([
            ("artifactLocation", Node::map([("uri", Node::text(self.file))])),
            ("region", region),
        ]);
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

fn text(text: &str) -> Node {
    Node::map([("text", Node::text(text))])
}

//! Words from a closed list, and what each item of a list has to have, as the source documents
//! print them.

use super::blanks::is_placeholder;
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;
use crate::document::kind::DocumentKind;
use crate::gate::GateKind;
use crate::view::read::{field, text};

/// A field and the words that it may hold; `-` and `_` are the same.
type WordList = (&'static str, &'static [&'static str]);

const XML_FIELDS: &[WordList] = &[
    ("type", &["feature", "bug", "enhancement", "refactor", "docs", "chore"]),
    ("priority", &["critical", "high", "medium", "low"]),
    ("workspace_type", &["worktree", "in-place", "cloud"]),
    ("merge_strategy", &["squash", "merge", "rebase"]),
];

/// A list, a member of its items, and the words that the member may hold.
const XML_ITEMS: &[(&str, &str, &[&str])] = &[
    // A suggestion blocks nothing.
    ("blocking_issues", "severity", &["critical", "important"]),
    (
        "failures",
        "type",
        &[
            "test",
            "tests",
            "unit",
            "integration",
            "e2e",
            "lint",
            "format",
            "type_check",
            "types",
            "build",
            "security",
            "coverage",
            "ci",
        ],
    ),
];
const YAML_ITEMS: &[(&str, &str, &[&str])] =
    &[("context.artifacts", "type", &["spec", "code", "doc", "config"])];

/// A list, and what each of its items says.
const XML_NEEDS: &[(&str, &[&str])] = &[
    ("blocking_issues", &["location", "severity"]),
    ("fixes_applied", &["location"]),
    ("failures", &["type"]),
    ("commits", &["sha"]),
];
const YAML_NEEDS: &[(&str, &[&str])] = &[("context.open_questions", &["question"])];
const METADATA_NEEDS: &[(&str, &[&str])] = &[("handoff.blockers", &["description"])];

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, sink: &mut Sink) {
    match kind {
        DocumentKind::XmlHandoff => {
            for (field, words) in XML_FIELDS {
                let word = body.fields().member(field).and_then(text);
                unknown(word, words, || body.path(field), sink);
            }
            item_words(body, XML_ITEMS, sink);
            needs(body, XML_NEEDS, sink);
        }
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => {
            item_words(body, YAML_ITEMS, sink);
            needs(body, YAML_NEEDS, sink);
            decision_ids(body, sink);
            gate_type(body, sink);
        }
        DocumentKind::MetadataBlock(_) => needs(body, METADATA_NEEDS, sink),
        DocumentKind::WorkflowComplete
        | DocumentKind::Acknowledgement(_)
        | DocumentKind::Payload => {}
    }
}

fn item_words(body: &Body<'_>, table: &[(&'static str, &str, &[&str])], sink: &mut Sink) {
    for (list, key, words) in table {
        for (index, item) in items_of(body, list).iter().enumerate() {
            let path = || format!("{}[{index}].{key}", body.path(list));
            unknown(field(item, key), words, path, sink);
        }
    }
}

fn unknown(word: Option<&str>, words: &[&str], path: impl Fn() -> String, sink: &mut Sink) {
    let Some(word) = word.map(str::trim).filter(|it| !it.is_empty()) else { return };
    // Longer than any of them, so it need not be compared.
    let plain = |it: &str| it.to_ascii_lowercase().replace('-', "_");
    let is_known = word.len() <= 40 && words.iter().any(|it| plain(it) == plain(word));
    if !is_known && !is_placeholder(word) {
        let message = format!("is none of {}", words.join(", "));
        sink.say_once(LintRule::UnknownWord, path(), message);
    }
}

fn needs(body: &Body<'_>, table: &[(&'static str, &[&str])], sink: &mut Sink) {
    for (list, keys) in table {
        for (index, item) in items_of(body, list).iter().enumerate() {
            // Blank items have a rule of their own; a text may be a whole question or blocker.
            let is_text = item.as_text().is_some();
            let is_whole = is_text && matches!(*keys, ["question" | "description"]);
            if item.is_blank() || is_whole {
                continue;
            }
            let absent: Vec<&str> =
                keys.iter().copied().filter(|it| field(item, it).is_none()).collect();
            if !absent.is_empty() {
                let path = format!("{}[{index}]", body.path(list));
                let message = format!("has no {}", absent.join(" and no "));
                sink.say(LintRule::IncompleteItem, path, message);
            }
        }
    }
}

fn decision_ids(body: &Body<'_>, sink: &mut Sink) {
    const LIST: &str = "context.decisions";
    for (index, item) in items_of(body, LIST).iter().enumerate() {
        if matches!(item, Node::Map(_)) && field(item, "id").is_none() {
            let path = format!("{}[{index}]", body.path(LIST));
            sink.say(LintRule::DecisionWithoutId, path, "has no id");
        }
    }
}

fn gate_type(body: &Body<'_>, sink: &mut Sink) {
    const FIELD: &str = "gate.type";
    let word = body.fields().at(FIELD).and_then(text).map(str::trim);
    let Some(word) = word.filter(|it| !it.is_empty() && !is_placeholder(it)) else { return };
    if GateKind::parse(word).is_none() {
        let message = "is none of blocking, advisory, automatic";
        sink.say_once(LintRule::UnknownWord, body.path(FIELD), message);
    }
}

fn items_of<'a>(body: &Body<'a>, path: &str) -> &'a [Node] {
    body.fields().at(path).and_then(items).unwrap_or_default()
}

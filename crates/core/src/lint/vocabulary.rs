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

const METADATA_ITEMS: &[(&str, &str, &[&str])] =
    &[("questions", "category", &["requirement", "dependency", "architecture", "scope"])];

/// The field of a gate's type, and its words.
const GATE: WordList = ("gate.type", &["blocking", "advisory", "automatic"]);

/// The words that the field at a path may hold, counted from the fields of a document.
pub(crate) fn words_of_field(path: &str) -> Option<&'static [&'static str]> {
    let mut fields = XML_FIELDS.iter().chain([&GATE]);
    fields.find(|(field, _)| *field == path).map(|(_, words)| *words)
}

/// The words that a member of the items of a list may hold.
pub(crate) fn words_of_member(list: &str, member: &str) -> Option<&'static [&'static str]> {
    let mut items = XML_ITEMS.iter().chain(YAML_ITEMS).chain(METADATA_ITEMS);
    items.find(|(of, key, _)| *of == list && *key == member).map(|(.., words)| *words)
}

/// What each item of a list has to say.
pub(crate) fn needs_of_items(list: &str) -> &'static [&'static str] {
    let mut needs = XML_NEEDS.iter().chain(YAML_NEEDS).chain(METADATA_NEEDS);
    needs.find(|(of, _)| *of == list).map_or(&[], |(_, keys)| *keys)
}

/// A list, and what each of its items says.
const XML_NEEDS: &[(&str, &[&str])] = &[
    ("blocking_issues", &["location", "severity"]),
    ("fixes_applied", &["location"]),
    ("failures", &["type"]),
    ("commits", &["sha"]),
];
const YAML_NEEDS: &[(&str, &[&str])] = &[("context.open_questions", &["question"])];
const METADATA_NEEDS: &[(&str, &[&str])] =
    &[("handoff.blockers", &["description"]), ("questions", &["question"])];

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, sink: &mut Sink) {
    match kind {
        DocumentKind::XmlHandoff => {
            for (field, words) in XML_FIELDS {
                let word = body.fields().member(field).and_then(text);
                unknown(word, words, || body.field_path(field), sink);
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
        DocumentKind::MetadataBlock(_) => {
            item_words(body, METADATA_ITEMS, sink);
            needs(body, METADATA_NEEDS, sink);
        }
        DocumentKind::WorkflowComplete
        | DocumentKind::Acknowledgement(_)
        | DocumentKind::Other(_)
        | DocumentKind::Payload => {}
    }
}

fn item_words(body: &Body<'_>, table: &[(&'static str, &str, &[&str])], sink: &mut Sink) {
    for (list, key, words) in table {
        for (index, item) in items_of(body, list).iter().enumerate() {
            let path = || format!("{}[{index}].{key}", body.field_path(list));
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
                let path = format!("{}[{index}]", body.field_path(list));
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
            let path = format!("{}[{index}]", body.field_path(LIST));
            sink.say(LintRule::DecisionWithoutId, path, "has no id");
        }
    }
}

fn gate_type(body: &Body<'_>, sink: &mut Sink) {
    let (field, words) = GATE;
    let word = body.fields().at(field).and_then(text).map(str::trim);
    let Some(word) = word.filter(|it| !it.is_empty() && !is_placeholder(it)) else { return };
    if GateKind::parse(word).is_none() {
        let message = format!("is none of {}", words.join(", "));
        sink.say_once(LintRule::UnknownWord, body.field_path(field), message);
    }
}

fn items_of<'a>(body: &Body<'a>, path: &str) -> &'a [Node] {
    body.fields().at(path).and_then(items).unwrap_or_default()
}

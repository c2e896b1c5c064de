//! One walk over every text of a document, for the rules that apply anywhere in it.

use std::fmt;

use super::marks::CharMarks;
use super::rule::LintRule;
use super::sink::Sink;
use super::{blanks, instructions, invisible, persons, secrets};
use crate::document::Node;

/// The path to a node. It is written out only where something is found.
#[derive(Clone, Copy)]
pub(super) enum Trail<'a> {
    Top,
    Key(&'a Trail<'a>, &'a str),
    Item(&'a Trail<'a>, usize),
}

/// The key under which a Markdown document keeps the text outside its block.
const PROSE: &str = "#markdown";

pub(super) fn check(document: &Node, sink: &mut Sink) {
    walk(document, &Trail::Top, sink);
}

fn walk(node: &Node, trail: &Trail<'_>, sink: &mut Sink) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => {}
        Node::Text(text) => look_at(text, trail, sink),
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &Trail::Item(trail, index), sink);
            }
        }
        Node::Map(members) => {
            for (key, member) in members {
                let trail = Trail::Key(trail, key);
                look_at_key(key, &trail, sink);
                walk(member, &trail, sink);
            }
        }
    }
}

fn look_at(text: &str, trail: &Trail<'_>, sink: &mut Sink) {
    let marks = CharMarks::of(text);
    // Prose around a metadata block is not checked.
    if trail.key() != PROSE {
        blanks::check(text, marks, trail, sink);
    }
    if marks.has(CharMarks::STRANGE) {
        invisible::check(text, trail, sink);
    }
    secrets::check(text, marks, trail, sink);
    instructions::check(text, marks, trail, sink);
    if persons::REASONS.contains(&trail.key()) {
        persons::check(text, trail, sink);
    }
}

fn look_at_key(key: &str, trail: &Trail<'_>, sink: &mut Sink) {
    invisible::check(key, trail, sink);
    secrets::check_key(key, trail, sink);
}

/// The rules that a text breaks under a key, wherever it stands.
pub(crate) fn rules_of_text(key: &str, text: &str) -> Vec<LintRule> {
    let mut sink = Sink::default();
    look_at(text, &Trail::Key(&Trail::Top, key), &mut sink);
    sink.findings.iter().filter_map(|it| it.rule).collect()
}

/// The rules that a key breaks by itself.
pub(crate) fn rules_of_key(key: &str) -> Vec<LintRule> {
    let mut sink = Sink::default();
    look_at_key(key, &Trail::Key(&Trail::Top, key), &mut sink);
    sink.findings.iter().filter_map(|it| it.rule).collect()
}

/// A key that is safe in a record and in a prompt: the document's author chose it, so it is shown
/// only if it is a plain name.
fn name(key: &str) -> &str {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '@' | '#');
    let is_short = !key.is_empty() && key.len() <= 40;
    if is_short && key.chars().all(is_plain) && secrets::in_key(key).is_none() {
        return key;
    }
    "?"
}

impl<'a> Trail<'a> {
    /// The nearest key above.
    pub(super) fn key(&self) -> &'a str {
        match self {
            Trail::Top => "",
            Trail::Key(_, key) => key,
            Trail::Item(trail, _) => trail.key(),
        }
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trail::Top => Ok(()),
            Trail::Key(Trail::Top, key) => f.write_str(name(key)),
            Trail::Key(trail, key) => write!(f, "{trail}.{}", name(key)),
            Trail::Item(trail, index) => write!(f, "{trail}[{index}]"),
        }
    }
}

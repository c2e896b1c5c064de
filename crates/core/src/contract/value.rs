//! The kind of a field's value, parsed leniently because XML has nothing but text.

use super::body::items;
use crate::document::{Node, NodeKind, Number};

/// Contracts read numbers and booleans from text too, since XML has nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Text,
    Number,
    Bool,
    List,
    Map,
}

/// A scalar, or the one beside attributes: XML keeps it as `#text` there.
pub(super) fn scalar(node: &Node) -> Option<&str> {
    node.scalar_text().or_else(|| node.member("#text")?.scalar_text())
}

/// Whether a field says one of these words. How something ended (`status`, `validation_status` and the like) is
/// compared by its meaning, as the source documents spell it in several ways: without regard to case and
/// hyphens, and `complete`, `completed`, `passed` and `success` are one word, as are `failed` and `failure`.
pub(super) fn is_among(path: &str, said: &str, words: &[String]) -> bool {
    let is_status = || path.rsplit('.').next().is_some_and(|it| it.ends_with("status"));
    words.iter().any(|it| it == said)
        || (is_status() && words.iter().any(|it| status_word(it) == status_word(said)))
}

fn status_word(word: &str) -> String {
    let word = word.trim().to_ascii_lowercase().replace('-', "_");
    match word.as_str() {
        "complete" | "completed" | "passed" => "success".to_owned(),
        "failed" => "failure".to_owned(),
        _ => word,
    }
}

impl ValueKind {
    pub(super) fn holds(self, node: &Node) -> bool {
        match self {
            ValueKind::Text => node.as_text().is_some_and(|it| !it.trim().is_empty()),
            // XML has no other way to write an empty list.
            ValueKind::List => items(node).is_some() || node.as_text() == Some(""),
            ValueKind::Map => node.kind() == NodeKind::Map,
            ValueKind::Bool => matches!(scalar(node), Some("true" | "false")),
            ValueKind::Number => scalar(node).is_some_and(|it| Number::parse(it.trim()).is_some()),
        }
    }

    pub(super) fn node_kind(self) -> NodeKind {
        match self {
            ValueKind::Text => NodeKind::Text,
            ValueKind::Number => NodeKind::Number,
            ValueKind::Bool => NodeKind::Bool,
            ValueKind::List => NodeKind::List,
            ValueKind::Map => NodeKind::Map,
        }
    }
}

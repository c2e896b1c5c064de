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

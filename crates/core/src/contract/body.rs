//! Where the fields of a document are: at its top, or under a single root key.

use crate::document::{Node, NodeKind, kind};

/// The root keys of the source documents.
const ROOTS: &[&str] =
    &["handoff", "workflow-complete", "workflow_complete", "acknowledgment", "acknowledgement"];

/// A document, and its body where it has a root key.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a> {
    pub document: &'a Node,
    /// The root's key and the node under it.
    pub inside: Option<(&'a str, &'a Node)>,
}

impl<'a> Body<'a> {
    pub fn of(document: &'a Node) -> Self {
        let root = kind::root(document)
            .filter(|(key, inside)| ROOTS.contains(key) && inside.kind() == NodeKind::Map);
        Self { document, inside: root }
    }

    /// The fields themselves, without the root.
    pub fn fields(&self) -> &'a Node {
        self.inside.map_or(self.document, |(_, inside)| inside)
    }

    /// The node at a dotted path, relative to the top or to the root's body.
    pub fn at(&self, path: &str) -> Option<&'a Node> {
        self.document.at(path).or_else(|| self.inside.and_then(|(_, inside)| inside.at(path)))
    }

    /// A path relative to the top of the document.
    pub fn path(&self, path: &str) -> String {
        match self.inside {
            // A member of the root may be called as the root is.
            Some((root, inside))
                if self.document.at(path).is_none()
                    && (inside.at(path).is_some() || !begins_with(path, root)) =>
            {
                format!("{root}.{path}")
            }
            Some(_) | None => path.to_owned(),
        }
    }
}

impl Body<'_> {
    /// As [`Body::path`], for a path that is counted from [`Body::fields`].
    pub fn field_path(&self, path: &str) -> String {
        match self.inside {
            Some((root, _)) => format!("{root}.{path}"),
            None => path.to_owned(),
        }
    }
}

fn begins_with(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|it| it.starts_with('.'))
}

/// The items of a list. XML writes one as a map with a single key, repeated for each item:
/// `<commits><commit/><commit/></commits>`.
pub fn items(node: &Node) -> Option<&[Node]> {
    match node {
        Node::List(items) => Some(items),
        Node::Map(members) => match members.as_slice() {
            [(key, inner)] if !key.starts_with(['@', '#']) => match inner {
                Node::List(items) => Some(items),
                Node::Null => Some(&[]),
                Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Map(_) => {
                    Some(std::slice::from_ref(inner))
                }
            },
            [] | [_] | [_, _, ..] => None,
        },
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => None,
    }
}

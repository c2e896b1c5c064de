//! Examples as whole documents, for workflows whose agents hand off in XML or in Markdown.

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::package::Format;
use baton_core::workflow::Workflow;
use baton_wire::formats;

use super::asks;

/// The form in which the agents of a workflow hand off finished work; JSON where it has none of these.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentForm {
    Xml,
    Markdown,
}

impl DocumentForm {
    /// By the contracts of the edges: those of the source documents are named after their form.
    pub(super) fn of(workflow: &Workflow) -> Option<Self> {
        let names = || workflow.edges().filter_map(|(_, it)| it.contract.as_deref());
        if names().any(|it| it.starts_with("xml/")) {
            return Some(Self::Xml);
        }
        names().any(|it| it.starts_with("metadata/")).then_some(Self::Markdown)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Markdown => "markdown",
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Xml => Format::Xml.media_type(),
            Self::Markdown => Format::Markdown.media_type(),
        }
    }

    /// The example of a package as a document. In XML the marks are between square brackets.
    pub(super) fn print(self, from: &AgentId, to: &AgentId, example: &Node) -> String {
        match self {
            Self::Xml => xml(from, to, example),
            Self::Markdown => format!(
                "# [what you did, in a line]\n\n[what you did and found, for a reader who was not \
                 there]\n\n## Metadata\n\n```json\n{}\n```",
                asks::print(example)
            ),
        }
    }
}

fn xml(from: &AgentId, to: &AgentId, example: &Node) -> String {
    let own = match example {
        Node::Map(members) => members.clone(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => Vec::new(),
    };
    let own = own.into_iter().map(|(key, it)| (key, elements(&it)));
    // The document that ends the run names no sides.
    let is_end = to.is_orchestrator();
    let sides = [("from", from), ("to", to)];
    let sides = sides.into_iter().filter(|_| !is_end);
    let sides = sides.map(|(key, it)| (key.to_owned(), Node::text(it.as_str())));
    let root = if is_end { "workflow-complete" } else { "handoff" };
    let inside = Node::Map(sides.chain(own).collect());
    let document = Node::Map(vec![(root.to_owned(), inside)]);
    // A mark of the encoding that a list of one item comes back as a list. Contracts read it as one without.
    formats::encode(&document, Format::Xml).trim_end().replace(ONE_ITEM, "")
}

const ONE_ITEM: &str = " baton-list=\"one\"";

/// A list as an element around its items, and marks as text.
fn elements(node: &Node) -> Node {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => {
            Node::text(node.scalar_text().unwrap_or_default())
        }
        Node::Text(text) => Node::text(mark(text)),
        Node::List(items) => {
            let items = items.iter().map(elements).collect();
            Node::map([("item", Node::List(items))])
        }
        Node::Map(members) => {
            let inside = members.iter().map(|(key, it)| (key.clone(), elements(it)));
            Node::Map(inside.collect())
        }
    }
}

fn mark(text: &str) -> String {
    match text.strip_prefix('<').and_then(|it| it.strip_suffix('>')) {
        Some(inside) => format!("[{}]", inside.replacen(", without quotes", "", 1)),
        None => text.to_owned(),
    }
}

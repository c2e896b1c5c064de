//! `handoffs/HO-001.yaml`: one handoff as the YAML handoff's document, or as the XML handoff's where
//! its sender wrote that.
//!
//! The sender's members stay as written, in their order. Of `id`, `timestamp`, `from`, `to` and
//! `workflow_state`, Baton adds those that the sender left out. Only Baton writes the member
//! `baton`: readers that need verified facts, and not the sender's claims, read only that.

use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};
use baton_store::HandoffRow;
use baton_wire::formats::MOST_DEPTH;

use super::facts::{facts, party, words};
use super::workflow_state::WorkflowState;
use crate::Views;
use crate::history::History;
use baton_engine::{EngineError, stored};

const FACTS: &str = "baton";
const STATE: &str = "workflow_state";

/// The form in which a file includes a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageForm {
    /// Its members, in its order.
    Document,
    /// Its original text, as one string.
    Text,
    LeftOut,
}

/// What the sender handed over.
enum SentPackage {
    Nothing,
    /// The members of the YAML handoff's document.
    Members(Vec<(String, Node)>),
    /// Any other document, or null where it was lost in a recovery.
    Other(Node),
}

impl Views<'_> {
    /// A handoff as the YAML handoff's document: what the sender wrote, and Baton's own facts.
    pub async fn handoff_document(&self, row: &HandoffRow) -> Result<Node, EngineError> {
        Ok(handoff(&self.history(row.run).await?, row, PackageForm::Document))
    }
}

pub(super) fn handoff(history: &History, row: &HandoffRow, form: PackageForm) -> Node {
    let to = Node::map([
        ("agent", Node::text(row.to.agent.as_str())),
        ("reason", words(history, row.reason)),
    ]);
    let ours = [
        ("id", Node::Text(row.no.label())),
        ("timestamp", Node::Text(row.created_at.to_string())),
        ("from", party(&row.from)),
        ("to", to),
    ];
    let mut facts = facts(history, row);
    if form == PackageForm::LeftOut {
        facts.push(own(("package_left_out", Node::Bool(true))));
    }
    let mut sent = match sent(history, row, form) {
        SentPackage::Nothing => Vec::new(),
        SentPackage::Members(members) => members,
        SentPackage::Other(document) => vec![("package".to_owned(), document)],
    };
    // This member is Baton's own: a sender's member of that name moves to `sender_said`.
    if let Some(at) = sent.iter().position(|(key, _)| key == FACTS) {
        facts.push(("sender_said".to_owned(), sent.remove(at).1));
    }
    let has = |members: &[(String, Node)], key: &str| members.iter().any(|(it, _)| it == key);
    let mut members: Vec<(String, Node)> =
        ours.into_iter().filter(|(key, _)| !has(&sent, key)).map(own).collect();
    members.append(&mut sent);
    let state = WorkflowState::at(history, row);
    match members.iter().find(|(key, _)| key == STATE).map(|(_, it)| state.differences(it)) {
        None => members.push(own((STATE, state.document()))),
        Some(differences) if differences.is_empty() => {}
        Some(differences) => {
            let differences = differences.into_iter().map(Node::text).collect();
            facts.push(own((STATE, state.document())));
            facts.push(own(("workflow_state_differs_in", Node::List(differences))));
        }
    }
    members.push(own((FACTS, Node::Map(facts))));
    Node::map([("handoff", Node::Map(members))])
}

fn sent(history: &History, row: &HandoffRow, form: PackageForm) -> SentPackage {
    let Some(id) = row.package else { return SentPackage::Nothing };
    let Some(content) = history.content(id) else { return SentPackage::Other(Node::Null) };
    let document = match form {
        PackageForm::Document => stored::written(content),
        PackageForm::Text => None,
        PackageForm::LeftOut => return SentPackage::Other(Node::Null),
    };
    let document = document.filter(|it| depth(it) + 2 <= MOST_DEPTH);
    // Two levels more would exceed the readers' depth limit, so such a document is kept as text.
    let Some(document) = document else {
        return SentPackage::Other(Node::text(content.text.as_ref()));
    };
    match members(&document) {
        Some(members) => SentPackage::Members(members.to_vec()),
        None => SentPackage::Other(document),
    }
}

/// The members of a document in the YAML handoff's form, with or without its root, or of an XML
/// handoff, which has its own form.
fn members(document: &Node) -> Option<&[(String, Node)]> {
    let Node::Map(whole) = document else { return None };
    let Shape { kind, body } = Shape::of(document);
    let has_map = |key: &str| matches!(document.member(key), Some(Node::Map(_)));
    match (kind, body) {
        // Prose beside the root would be lost.
        (
            DocumentKind::YamlHandoff | DocumentKind::YamlGate | DocumentKind::XmlHandoff,
            Node::Map(members),
        ) => (whole.len() == 1).then_some(members.as_slice()),
        (DocumentKind::Payload, _) if has_map("context") || has_map("expectations") => Some(whole),
        (
            DocumentKind::XmlHandoff
            | DocumentKind::WorkflowComplete
            | DocumentKind::MetadataBlock(_)
            | DocumentKind::YamlHandoff
            | DocumentKind::YamlGate
            | DocumentKind::Acknowledgement(_)
            | DocumentKind::Other(_)
            | DocumentKind::Payload,
            _,
        ) => None,
    }
}

fn own((key, node): (&str, Node)) -> (String, Node) {
    (key.to_owned(), node)
}

/// The nesting depth of lists and maps.
fn depth(node: &Node) -> usize {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => 0,
        Node::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Node::Map(members) => 1 + members.iter().map(|(_, it)| depth(it)).max().unwrap_or(0),
    }
}

//! `handoffs/HO-001.yaml`: seed 004's document of one handoff.
//!
//! What the sender wrote stays as it was written, in its order. Of `id`, `timestamp`, `from`, `to`
//! and `workflow_state`, Baton adds what the sender left out. The member `baton` is Baton's alone:
//! whoever wants to know what is true, and not what was said, reads only that.

use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};
use baton_store::HandoffRow;
use baton_wire::formats::MOST_DEPTH;

use super::facts::{facts, party, words};
use super::workflow_state::WorkflowState;
use crate::history::History;
use crate::{Engine, EngineError, stored};

const FACTS: &str = "baton";
const STATE: &str = "workflow_state";

/// How much of a package stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageForm {
    /// Its members, in its order.
    Document,
    /// As it was written, as one text.
    Text,
    LeftOut,
}

/// What the sender handed over.
enum SentPackage {
    Nothing,
    /// The members of seed 004's document.
    Members(Vec<(String, Node)>),
    /// Anything else, or what was lost in a recovery.
    Other(Node),
}

impl Engine {
    /// A handoff as seed 004's document: what was said, and what Baton knows of it.
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
    // Nobody but Baton speaks there: what a sender put there is told as its word.
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
        PackageForm::Document => stored::document(content),
        PackageForm::Text => None,
        PackageForm::LeftOut => return SentPackage::Other(Node::Null),
    };
    let document = document.filter(|it| depth(it) + 2 <= MOST_DEPTH);
    // What no reader would take with two levels more around it is told as it was written.
    let Some(document) = document else {
        return SentPackage::Other(Node::text(content.text.as_ref()));
    };
    match members(&document) {
        Some(members) => SentPackage::Members(members.to_vec()),
        None => SentPackage::Other(document),
    }
}

/// The members of a document of seed 004's shape, with or without its root.
fn members(document: &Node) -> Option<&[(String, Node)]> {
    let Node::Map(whole) = document else { return None };
    let Shape { kind, body } = Shape::of(document);
    let has_map = |key: &str| matches!(document.member(key), Some(Node::Map(_)));
    match (kind, body) {
        // Prose beside the root would be lost.
        (DocumentKind::Handoff004 | DocumentKind::Gate004, Node::Map(members)) => {
            (whole.len() == 1).then_some(members.as_slice())
        }
        (DocumentKind::Payload, _) if has_map("context") || has_map("expectations") => Some(whole),
        (
            DocumentKind::Handoff001
            | DocumentKind::WorkflowComplete
            | DocumentKind::Metadata002(_)
            | DocumentKind::Handoff004
            | DocumentKind::Gate004
            | DocumentKind::Acknowledgement(_)
            | DocumentKind::Payload,
            _,
        ) => None,
    }
}

fn own((key, node): (&str, Node)) -> (String, Node) {
    (key.to_owned(), node)
}

/// How many lists and maps are open at once.
fn depth(node: &Node) -> usize {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => 0,
        Node::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Node::Map(members) => 1 + members.iter().map(|(_, it)| depth(it)).max().unwrap_or(0),
    }
}

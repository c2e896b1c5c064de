//! Which of the source documents a tree is, detected by its shape alone.

use super::Node;

/// The documents that Baton recognizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// The XML handoff's `<handoff>`.
    Handoff001,
    /// The XML handoff's `<workflow-complete>`.
    WorkflowComplete,
    /// The metadata block.
    Metadata002(Profile002),
    /// The YAML handoff's `handoff:`.
    Handoff004,
    /// The YAML handoff's `handoff:` with a `gate:`.
    Gate004,
    /// The YAML handoff's `acknowledgment:`.
    Acknowledgement(Understanding),
    /// Anything else: a `payload` of the pipeline API.
    Payload,
}

/// The metadata block has two forms, which require different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile002 {
    /// With `phase`, `summary` and `verification`.
    Phase,
    /// With `agent`, `output_type` and `feature_directory`.
    Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Understanding {
    Full,
    Partial,
}

/// A document's kind, and the part of it that holds its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape<'a> {
    pub kind: DocumentKind,
    /// The node under the root's key; the whole document if it has no root.
    pub body: &'a Node,
}

impl DocumentKind {
    pub fn of(document: &Node) -> Self {
        Shape::of(document).kind
    }

    /// A stable name for tables and responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handoff001 => "001/handoff",
            Self::WorkflowComplete => "001/workflow-complete",
            Self::Metadata002(Profile002::Phase) => "002/phase",
            Self::Metadata002(Profile002::Metadata) => "002/metadata",
            Self::Handoff004 => "004/handoff",
            Self::Gate004 => "004/gate",
            Self::Acknowledgement(Understanding::Full) => "004/acknowledgment",
            Self::Acknowledgement(Understanding::Partial) => "004/acknowledgment-partial",
            Self::Payload => "payload",
        }
    }
}

impl<'a> Shape<'a> {
    pub fn of(document: &'a Node) -> Self {
        let shape = |kind, body| Self { kind, body };
        match root(document) {
            Some(("handoff", body)) => match handoff(body) {
                Some(kind) => shape(kind, body),
                None => shape(DocumentKind::Payload, document),
            },
            Some(("workflow-complete" | "workflow_complete", body)) => {
                shape(DocumentKind::WorkflowComplete, body)
            }
            Some(("acknowledgment" | "acknowledgement", body)) => {
                shape(DocumentKind::Acknowledgement(understanding(body)), body)
            }
            Some(_) | None => match metadata(document) {
                Some(profile) => shape(DocumentKind::Metadata002(profile), document),
                None => shape(DocumentKind::Payload, document),
            },
        }
    }
}

/// The single key of a document and the node under it. Markdown prose is ignored.
pub(crate) fn root(document: &Node) -> Option<(&str, &Node)> {
    let Node::Map(members) = document else { return None };
    let mut members = members.iter().filter(|(key, _)| key != "#markdown");
    match (members.next(), members.next()) {
        (Some((key, body)), None) => Some((key, body)),
        (Some(_), Some(_)) | (None, _) => None,
    }
}

/// Agents: maps in the YAML handoff, text in the XML one, none in the metadata block's `handoff`.
fn handoff(body: &Node) -> Option<DocumentKind> {
    let has = |key: &str| body.member(key).is_some();
    let is_map = |key: &str| matches!(body.member(key), Some(Node::Map(_)));
    if has("gate") && !matches!(body.member("from"), Some(Node::Text(_))) {
        return Some(DocumentKind::Gate004);
    }
    let sides = ["from", "to"];
    if sides.iter().any(|it| is_map(it)) {
        return Some(DocumentKind::Handoff004);
    }
    if sides.iter().any(|it| has(it)) {
        return Some(DocumentKind::Handoff001);
    }
    if is_map("context") || is_map("expectations") || is_map("workflow_state") {
        return Some(DocumentKind::Handoff004);
    }
    ["status", "issue_number", "pr_number", "issue_url", "pr_url", "error"]
        .iter()
        .any(|it| has(it))
        .then_some(DocumentKind::Handoff001)
}

fn understanding(body: &Node) -> Understanding {
    let is = |key: &str, word: &str| body.member(key).and_then(Node::scalar_text) == Some(word);
    if is("understood", "partial") || is("action", "request_clarification") {
        Understanding::Partial
    } else {
        Understanding::Full
    }
}

fn metadata(document: &Node) -> Option<Profile002> {
    let has = |key: &str| document.member(key).is_some();
    if has("output_type") || has("feature_directory") || has("skills_invoked") {
        return Some(Profile002::Metadata);
    }
    let names_next = |key: &str| document.member("handoff").and_then(|it| it.member(key)).is_some();
    let has_handoff =
        ["next_agent", "next_phase", "context", "blockers"].into_iter().any(names_next);
    (has("status") && (has("phase") || has_handoff)).then_some(Profile002::Phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(keys: &[&'static str]) -> Node {
        Node::map(keys.iter().map(|it| (*it, Node::text("x"))))
    }

    fn handoff_of(members: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
        Node::map([("handoff", Node::map(members))])
    }

    #[test]
    fn a_document_is_known_by_its_shape() {
        let agent = || map(&["agent"]);
        let partial = Node::map([("understood", Node::text("partial"))]);
        for (document, name) in [
            (handoff_of([("from", Node::text("a")), ("to", Node::text("b"))]), "001/handoff"),
            (handoff_of([("status", Node::text("failure"))]), "001/handoff"),
            (Node::map([("workflow-complete", map(&["status"]))]), "001/workflow-complete"),
            (map(&["status", "phase", "summary"]), "002/phase"),
            (
                Node::map([("status", Node::text("blocked")), ("handoff", map(&["context"]))]),
                "002/phase",
            ),
            (map(&["agent", "output_type", "status"]), "002/metadata"),
            (handoff_of([("from", agent()), ("to", agent())]), "004/handoff"),
            (handoff_of([("context", map(&["summary"]))]), "004/handoff"),
            (handoff_of([("from", agent()), ("gate", map(&["type"]))]), "004/gate"),
            (Node::map([("acknowledgment", map(&["received"]))]), "004/acknowledgment"),
            (Node::map([("acknowledgement", partial)]), "004/acknowledgment-partial"),
            (handoff_of([("blockers", Node::List(vec![]))]), "payload"),
            (map(&["status"]), "payload"),
            (map(&["plan"]), "payload"),
            (Node::map([]), "payload"),
            (Node::text("x"), "payload"),
        ] {
            assert_eq!(DocumentKind::of(&document).name(), name, "{document:?}");
        }
    }

    #[test]
    fn prose_around_a_document_does_not_change_what_it_is() {
        let body = Node::map([("from", Node::text("a"))]);
        let document = Node::map([("#markdown", map(&["before"])), ("handoff", body.clone())]);
        assert_eq!(Shape::of(&document), Shape { kind: DocumentKind::Handoff001, body: &body });
    }
}

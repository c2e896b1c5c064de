//! The kind of a document, detected by its shape alone.

use super::Node;
use super::foreign::OtherSystem;
use super::request::PipelineRequest;
use crate::names::AgentId;
use crate::view::{Meaning, OutcomeClaim};

/// The documents that Baton recognizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// The XML handoff's `<handoff>`.
    XmlHandoff,
    /// The XML handoff's `<workflow-complete>`.
    WorkflowComplete,
    /// The metadata block.
    MetadataBlock(MetadataProfile),
    /// The YAML handoff's `handoff:`.
    YamlHandoff,
    /// The YAML handoff's `handoff:` with a `gate:`.
    YamlGate,
    /// The YAML handoff's `acknowledgment:`.
    Acknowledgement(Understanding),
    /// A handoff as another system writes it.
    Other(OtherSystem),
    /// Anything else: a `payload` of the pipeline API.
    Payload,
}

/// The metadata block has two forms, which require different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataProfile {
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
    /// The node under the root's key; the whole document if it has no root. More fields may stand
    /// beside a `handoff`.
    pub body: &'a Node,
}

impl DocumentKind {
    pub fn of(document: &Node) -> Self {
        Shape::of(document).kind
    }

    /// A stable name for tables and responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::XmlHandoff => "xml/handoff",
            Self::WorkflowComplete => "xml/workflow-complete",
            Self::MetadataBlock(MetadataProfile::Phase) => "metadata/phase",
            Self::MetadataBlock(MetadataProfile::Metadata) => "metadata/agent",
            Self::YamlHandoff => "yaml/handoff",
            Self::YamlGate => "yaml/gate",
            Self::Acknowledgement(Understanding::Full) => "yaml/acknowledgment",
            Self::Acknowledgement(Understanding::Partial) => "yaml/acknowledgment-partial",
            Self::Other(system) => system.name(),
            Self::Payload => "payload",
        }
    }
}

impl<'a> Shape<'a> {
    pub fn of(document: &'a Node) -> Self {
        let shape = |kind, body| Self { kind, body };
        match root(document) {
            Some(("handoff", body)) if names_agents(body) => Self::of_others(document, body),
            Some(("handoff", body)) => match handoff(body) {
                Some(kind) => shape(kind, body),
                None => Self::of_others(document, document),
            },
            Some(("workflow-complete" | "workflow_complete", body)) => {
                shape(DocumentKind::WorkflowComplete, body)
            }
            Some(("acknowledgment" | "acknowledgement", body)) => {
                shape(DocumentKind::Acknowledgement(understanding(body)), body)
            }
            Some(_) | None => match metadata(document) {
                Some(profile) => shape(DocumentKind::MetadataBlock(profile), document),
                None if is_acknowledgement(document) => {
                    shape(DocumentKind::Acknowledgement(understanding(document)), document)
                }
                None => Self::of_others(document, document),
            },
        }
    }

    /// A document that none of the source documents describes.
    fn of_others(document: &'a Node, body: &'a Node) -> Self {
        match OtherSystem::of(body) {
            Some(system) => Self { kind: DocumentKind::Other(system), body },
            None => Self { kind: DocumentKind::Payload, body: document },
        }
    }
}

/// The key of a document and the node under it: its only one, or `handoff` with the two sides in it,
/// whatever stands beside that. Markdown prose is ignored.
pub(crate) fn root(document: &Node) -> Option<(&str, &Node)> {
    let Node::Map(members) = document else { return None };
    let mut others = members.iter().filter(|(key, _)| key != "#markdown");
    match (others.next(), others.next()) {
        (Some((key, body)), None) => Some((key, body)),
        (Some(_), Some(_)) => {
            let (key, body) = members.iter().find(|(key, _)| key == "handoff")?;
            (names_sides(body) && PipelineRequest::of(document).is_none()).then_some((key, body))
        }
        (None, _) => None,
    }
}

/// True for a `handoff` that says from whom or to whom it goes. That of a metadata block does not: it
/// names what is next.
fn names_sides(body: &Node) -> bool {
    let has = |key: &str| body.member(key).is_some();
    let is_side = |key: &str| match body.member(key) {
        Some(Node::Map(_)) => body.at(&format!("{key}.agent")).is_some(),
        Some(Node::Text(_)) => true,
        Some(Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_)) | None => false,
    };
    let is_of_metadata = has("next_agent") || has("next_phase");
    !is_of_metadata && (is_side("from") || is_side("to") || names_agents(body))
}

/// True for the body of another system's handoff, which names the two sides in its own way.
fn names_agents(body: &Node) -> bool {
    let has = |key: &str| body.member(key).is_some();
    let is_map = |key: &str| matches!(body.member(key), Some(Node::Map(_)));
    let is_own = ["from", "to", "gate"].iter().any(|it| has(it))
        || ["context", "expectations", "workflow_state"].iter().any(|it| is_map(it));
    !is_own && OtherSystem::of(body) == Some(OtherSystem::Flat)
}

/// Agents: maps in the YAML handoff, text in the XML one, none in the metadata block's `handoff`.
fn handoff(body: &Node) -> Option<DocumentKind> {
    let has = |key: &str| body.member(key).is_some();
    let is_map = |key: &str| matches!(body.member(key), Some(Node::Map(_)));
    if has("gate") && !matches!(body.member("from"), Some(Node::Text(_))) {
        return Some(DocumentKind::YamlGate);
    }
    let sides = ["from", "to"];
    if sides.iter().any(|it| is_map(it)) {
        return Some(DocumentKind::YamlHandoff);
    }
    if sides.iter().any(|it| has(it)) {
        return Some(DocumentKind::XmlHandoff);
    }
    if is_map("context") || is_map("expectations") || is_map("workflow_state") {
        return Some(DocumentKind::YamlHandoff);
    }
    ["status", "issue_number", "pr_number", "issue_url", "pr_url", "error"]
        .iter()
        .any(|it| has(it))
        .then_some(DocumentKind::XmlHandoff)
}

/// An acknowledgement without its root key. One of its members alone may be anything.
fn is_acknowledgement(document: &Node) -> bool {
    ["received", "understood"].iter().all(|it| document.member(it).is_some())
}

fn understanding(body: &Node) -> Understanding {
    let is = |key: &str, word: &str| body.member(key).and_then(Node::scalar_text) == Some(word);
    if is("understood", "partial") || is("action", "request_clarification") {
        Understanding::Partial
    } else {
        Understanding::Full
    }
}

/// A block may leave out one of its usual fields and is still one: what is missing is reported by its
/// contract, not hidden by taking the block for something else.
fn metadata(document: &Node) -> Option<MetadataProfile> {
    let has = |key: &str| document.member(key).is_some();
    let is_map = |key: &str| matches!(document.member(key), Some(Node::Map(_)));
    let names_next = |key: &str| document.member("handoff").and_then(|it| it.member(key)).is_some();
    let has_handoff =
        ["next_agent", "next_phase", "context", "blockers"].into_iter().any(names_next);
    let is_metadata = has("output_type") || has("feature_directory") || has("skills_invoked");
    if is_metadata {
        let is_phase = has("phase") && has_handoff && !has("agent");
        let profile = if is_phase { MetadataProfile::Phase } else { MetadataProfile::Metadata };
        return Some(profile);
    }
    let n_parts = [has("status"), has("phase"), has_handoff, is_map("verification")]
        .into_iter()
        .filter(|it| *it)
        .count();
    if n_parts >= 2 {
        return Some(MetadataProfile::Phase);
    }
    is_report(document).then_some(MetadataProfile::Metadata)
}

/// The least that a block says: who, how it ended, and what was done. In a payload such words may be
/// about something else, so each of them has to be one.
fn is_report(document: &Node) -> bool {
    let text = |key: &str| document.member(key).and_then(Node::as_text).map(str::trim);
    text("status").is_some_and(|it| OutcomeClaim::parse(it).meaning != Meaning::Unknown)
        && text("agent").is_some_and(|it| AgentId::parse(it).is_ok())
        && text("summary").is_some_and(|it| !it.is_empty())
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
            (handoff_of([("from", Node::text("a")), ("to", Node::text("b"))]), "xml/handoff"),
            (handoff_of([("status", Node::text("failure"))]), "xml/handoff"),
            (Node::map([("workflow-complete", map(&["status"]))]), "xml/workflow-complete"),
            (map(&["status", "phase", "summary"]), "metadata/phase"),
            (
                Node::map([("status", Node::text("blocked")), ("handoff", map(&["context"]))]),
                "metadata/phase",
            ),
            (map(&["phase", "verification"]), "payload"),
            (
                Node::map([("phase", Node::text("testing")), ("handoff", map(&["context"]))]),
                "metadata/phase",
            ),
            (map(&["agent", "output_type", "status"]), "metadata/agent"),
            (handoff_of([("from", agent()), ("to", agent())]), "yaml/handoff"),
            (handoff_of([("context", map(&["summary"]))]), "yaml/handoff"),
            (handoff_of([("from", agent()), ("gate", map(&["type"]))]), "yaml/gate"),
            (Node::map([("acknowledgment", map(&["received"]))]), "yaml/acknowledgment"),
            (Node::map([("acknowledgement", partial)]), "yaml/acknowledgment-partial"),
            (
                Node::map([
                    ("handoff", Node::map([("from", agent()), ("to", agent())])),
                    ("summary", Node::text("Added soup")),
                    ("status", Node::text("complete")),
                ]),
                "yaml/handoff",
            ),
            (
                Node::map([
                    ("summary", Node::text("Added soup")),
                    ("handoff", Node::map([("to", Node::text("b"))])),
                ]),
                "xml/handoff",
            ),
            (
                Node::map([
                    ("handoff", map(&["from_agent", "to_agent"])),
                    ("summary", Node::text("Added soup")),
                ]),
                "other/flat",
            ),
            (Node::map([("handoff", map(&["gate"])), ("plan", agent())]), "payload"),
            (handoff_of([("blockers", Node::List(vec![]))]), "payload"),
            (map(&["status"]), "payload"),
            (map(&["status", "agent", "summary"]), "payload"),
            (
                Node::map([
                    ("status", Node::text("complete")),
                    ("agent", Node::text("backend-developer")),
                    ("summary", Node::text("Added 3 routes")),
                ]),
                "metadata/agent",
            ),
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
        assert_eq!(Shape::of(&document), Shape { kind: DocumentKind::XmlHandoff, body: &body });
    }
}

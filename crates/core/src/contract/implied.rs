//! Ways that every workflow has without declaring them, and which contract they ask for. Sending and
//! linting choose by the same rule.

use crate::document::Node;
use crate::document::kind::{DocumentKind, Shape};
use crate::names::AgentId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImpliedWay {
    /// The step is blocked: a person is asked, or the agent that delegated gets it back.
    Blocked,
    /// An error, to the orchestrator.
    Error,
    /// The agent asks a person what it has to know.
    Clarification,
}

impl ImpliedWay {
    /// The name of the contract, by the kind of the document: the metadata block and the XML handoff
    /// have their own.
    pub fn contract_name(self, document: &Node) -> &'static str {
        let Shape { kind, body } = Shape::of(document);
        let says_blocked = body.member("status").and_then(Node::scalar_text) == Some("blocked");
        let to = body.member("to").and_then(Node::scalar_text).map(str::trim);
        let is_to_orchestrator = to == Some(AgentId::ORCHESTRATOR);
        match (self, kind) {
            (Self::Blocked, DocumentKind::MetadataBlock(_)) => "metadata/*→*",
            (Self::Error, DocumentKind::MetadataBlock(_)) if says_blocked => "metadata/*→*",
            (Self::Error, DocumentKind::XmlHandoff) => "xml/*→orchestrator",
            (Self::Blocked, DocumentKind::XmlHandoff) if is_to_orchestrator => "xml/*→orchestrator",
            (Self::Blocked, _) => "implied/blocked",
            (Self::Error, _) => "implied/error",
            (Self::Clarification, _) => "implied/clarification",
        }
    }
}

//! The XML handoff's base structure puts the sender's payload into an element of its own, `<data>`. Its
//! members are read as the handoff's own.

use super::Node;
use super::kind::{DocumentKind, Shape};

const DATA: &str = "data";

/// The document as it is read: the members of `data` also stand beside it, where the handoff has none of
/// that name. `None` where that changes nothing. What was written is stored and returned unchanged.
pub fn unfolded(document: &Node) -> Option<Node> {
    let Shape { kind, body } = Shape::of(document);
    match kind {
        DocumentKind::XmlHandoff | DocumentKind::WorkflowComplete => {}
        DocumentKind::MetadataBlock(_)
        | DocumentKind::YamlHandoff
        | DocumentKind::YamlGate
        | DocumentKind::Acknowledgement(_)
        | DocumentKind::Other(_)
        | DocumentKind::Payload => return None,
    }
    let (Node::Map(members), Some(Node::Map(data))) = (body, body.member(DATA)) else {
        return None;
    };
    let is_new = |(key, _): &&(String, Node)| {
        !key.starts_with(['@', '#']) && body.member(key).is_none_or(Node::is_blank)
    };
    let lifted: Vec<(String, Node)> = data.iter().filter(is_new).cloned().collect();
    if lifted.is_empty() {
        return None;
    }
    let is_replaced = |key: &String| lifted.iter().any(|(it, _)| it == key);
    let kept = members.iter().filter(|(key, _)| !is_replaced(key)).cloned();
    let whole = Node::Map(kept.chain(lifted.clone()).collect());
    let Node::Map(roots) = document else { return None };
    let at_root = |(key, node): &(String, Node)| {
        let node = if std::ptr::eq(node, body) { whole.clone() } else { node.clone() };
        (key.clone(), node)
    };
    Some(Node::Map(roots.iter().map(at_root).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(it: &str) -> Node {
        Node::text(it)
    }

    fn handoff(data: Node) -> Node {
        let members =
            [("from", text("a")), ("to", text("b")), ("branch", text("own")), ("data", data)];
        Node::map([("handoff", Node::map(members))])
    }

    #[test]
    fn the_members_of_data_are_read_as_the_handoffs_own() {
        let data =
            Node::map([("branch", text("other")), ("port", text("3100")), ("@id", text("1"))]);
        let read = unfolded(&handoff(data)).unwrap();
        let at = |path: &str| read.at(path).and_then(Node::scalar_text);
        assert_eq!(at("handoff.port"), Some("3100"));
        assert_eq!(at("handoff.branch"), Some("own"), "what stands outside counts");
        assert_eq!(at("handoff.data.branch"), Some("other"), "what was written is there as well");
        assert_eq!(at("handoff.@id"), None);
    }

    #[test]
    fn other_documents_are_read_as_they_are() {
        let data = || Node::map([("port", text("3100"))]);
        for document in [
            handoff(text("3100")),
            handoff(Node::map([])),
            handoff(Node::map([("branch", text("own"))])),
            Node::map([("data", data()), ("plan", text("p"))]),
            Node::map([("handoff", Node::map([("data", data())]))]),
            text("words"),
        ] {
            assert_eq!(unfolded(&document), None, "{document:?}");
        }
    }
}

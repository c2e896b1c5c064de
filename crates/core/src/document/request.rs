//! A request of the pipeline API as a document: the block that an agent prints where its prompt
//! asks for one, `{"action": "create", "storyId": …, "payload": {…}}`.

use super::Node;

/// The parts of a request that say what it is about. The package is in `payload`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineRequest<'a> {
    pub action: RequestAction,
    body: &'a Node,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestAction {
    Create,
    Accept,
    Reject,
    Clarify,
    Answer,
}

impl RequestAction {
    const ALL: [Self; 5] = [Self::Create, Self::Accept, Self::Reject, Self::Clarify, Self::Answer];

    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Clarify => "clarify",
            Self::Answer => "answer",
        }
    }

    /// The members that a request with this action may have.
    pub fn members(self) -> &'static [&'static str] {
        match self {
            Self::Create => &[
                "action",
                "storyId",
                "fromAgent",
                "toAgent",
                "payload",
                "outcome",
                "reason",
                "supersedes",
                "handoff",
                "kind",
                "workflow",
                "mode",
            ],
            Self::Accept => &["action", "handoffId", "agent", "payload", "leaseSeconds"],
            Self::Reject => &["action", "handoffId", "agent", "reason"],
            Self::Clarify => &["action", "handoffId", "agent", "question"],
            Self::Answer => &["action", "handoffId", "agent", "answer"],
        }
    }
}

impl<'a> PipelineRequest<'a> {
    /// `None` for every other document. `action` alone makes no request: payloads may have one.
    pub fn of(document: &'a Node) -> Option<Self> {
        let word = document.member("action")?.as_text()?;
        let action = RequestAction::ALL.into_iter().find(|it| it.name() == word)?;
        let has = |key: &str| document.member(key).is_some();
        let is_request = match action {
            RequestAction::Create => has("toAgent") && (has("fromAgent") || has("storyId")),
            RequestAction::Accept
            | RequestAction::Reject
            | RequestAction::Clarify
            | RequestAction::Answer => has("handoffId"),
        };
        is_request.then_some(Self { action, body: document })
    }

    /// The trimmed text of a member, where there is any.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        let text = self.body.member(key)?.scalar_text()?.trim();
        (!text.is_empty()).then_some(text)
    }

    pub fn payload(&self) -> Option<&'a Node> {
        self.body.member("payload").filter(|it| **it != Node::Null)
    }

    /// The first member that such a request does not have.
    pub fn unknown_member(&self) -> Option<&'a str> {
        let Node::Map(members) = self.body else { return None };
        let known = self.action.members();
        members.iter().map(|(key, _)| key.as_str()).find(|it| !known.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_from_a_payload_that_has_an_action() {
        let text = |it: &str| Node::text(it);
        let create = Node::map([
            ("action", text("create")),
            ("storyId", text("s1")),
            ("fromAgent", text("analyst")),
            ("toAgent", text("implementer")),
            ("payload", Node::map([("plan", text("p"))])),
        ]);
        let request = PipelineRequest::of(&create).unwrap();
        assert_eq!(request.action, RequestAction::Create);
        assert_eq!(request.text("toAgent"), Some("implementer"));
        assert_eq!(request.payload().and_then(|it| it.at("plan")), Some(&text("p")));
        assert_eq!(request.unknown_member(), None);
        for other in [
            Node::map([("action", text("create"))]),
            Node::map([("action", text("deploy")), ("handoffId", text("1"))]),
            Node::map([("action", text("request_clarification"))]),
            Node::text("create"),
        ] {
            assert_eq!(PipelineRequest::of(&other), None, "{other:?}");
        }
    }
}

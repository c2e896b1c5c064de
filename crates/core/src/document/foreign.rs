//! Handoffs as other systems write them, recognized where their meaning is clear.
//!
//! An object with `from` and `to` may be a span of dates, an e-mail or a merge: it counts only with
//! names that agents have, and beside other fields of a handoff.

use super::Node;
use super::request::PipelineRequest;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::view::read::{first_text, text_at};
use crate::view::{Meaning, OutcomeClaim};

/// The other systems' documents that Baton recognizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OtherSystem {
    /// Flat fields such as `from_agent` and `to_agent`.
    Flat,
    /// A task of the Agent2Agent protocol.
    A2aTask,
    /// A message of the Agent2Agent protocol.
    A2aMessage,
    /// An offer of the Multi-Agent Coordination Protocol.
    MacpOffer,
    /// A call of a tool `transfer_to_NAME`, as agent frameworks make them.
    TransferCall,
}

impl OtherSystem {
    /// A stable name for tables and responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flat => "other/flat",
            Self::A2aTask => "other/a2a-task",
            Self::A2aMessage => "other/a2a-message",
            Self::MacpOffer => "other/macp-offer",
            Self::TransferCall => "other/transfer-call",
        }
    }

    /// As a noun, for sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Flat => "a handoff with `from_agent` and `to_agent`",
            Self::A2aTask => "an A2A task",
            Self::A2aMessage => "an A2A message",
            Self::MacpOffer => "a MACP handoff offer",
            Self::TransferCall => "a `transfer_to_…` tool call",
        }
    }

    /// The system that a document is of, if any.
    pub(super) fn of(document: &Node) -> Option<Self> {
        let Node::Map(members) = document else { return None };
        // Every package is looked at several times, and most have none of these keys.
        if !members.iter().any(|(key, _)| is_telling(key)) {
            return None;
        }
        Self::recognized(document)
    }

    fn recognized(document: &Node) -> Option<Self> {
        // A command of the pipeline API is no document of its own.
        if PipelineRequest::of(document).is_some() {
            return None;
        }
        if transfer_name(document).is_some() {
            return Some(Self::TransferCall);
        }
        if is_macp_offer(document) {
            return Some(Self::MacpOffer);
        }
        if is_a2a_task(document) {
            return Some(Self::A2aTask);
        }
        if is_a2a_message(document) {
            return Some(Self::A2aMessage);
        }
        is_flat(document).then_some(Self::Flat)
    }

    pub(crate) fn sender(self, body: &Node) -> Option<String> {
        let name = match self {
            Self::Flat => {
                first_text(body, SENDERS).or_else(|| first_text(body, &["from.agent", "from"]))
            }
            Self::A2aTask | Self::A2aMessage => from_parts(body, SENDERS),
            Self::MacpOffer => first_text(body, &["sender", "payload.sender", "from_agent"]),
            Self::TransferCall => first_text(body, SENDERS),
        };
        name.map(agent_name)
    }

    pub(crate) fn receiver(self, body: &Node) -> Option<String> {
        let name = match self {
            Self::Flat => {
                first_text(body, RECEIVERS).or_else(|| first_text(body, &["to.agent", "to"]))
            }
            Self::A2aTask | Self::A2aMessage => from_parts(body, RECEIVERS),
            Self::MacpOffer => first_text(body, TARGETS),
            Self::TransferCall => transfer_name(body),
        };
        name.map(agent_name)
    }

    /// How the sender's step ended, where it says so. A document that names a receiver hands over,
    /// whatever it calls the state of that; without a receiver, work under way is a progress note.
    pub(crate) fn claim(self, body: &Node) -> Option<OutcomeClaim> {
        let word = match self {
            Self::Flat => text_at(body, "status"),
            Self::A2aTask => text_at(body, "status.state"),
            Self::A2aMessage | Self::MacpOffer | Self::TransferCall => None,
        }?;
        let meaning = meaning(word);
        let counts = match meaning {
            Meaning::Ended(_) => true,
            Meaning::UnderWay => self.receiver(body).is_none(),
            Meaning::Unknown => false,
        };
        counts.then(|| OutcomeClaim { word: word.to_owned(), meaning })
    }

    pub(crate) fn summary(self, body: &Node) -> Option<String> {
        let text = match self {
            Self::Flat => first_text(body, &["summary", "context.summary", "task", "message"]),
            Self::A2aTask => first_part(body.at("status.message"))
                .or_else(|| first_part(body.member("artifacts").and_then(first_item))),
            Self::A2aMessage => first_part(Some(body)),
            Self::MacpOffer => first_text(
                body,
                &["payload.scope", "payload.reason", "payload.context", "scope", "reason"],
            ),
            Self::TransferCall => None,
        };
        text.map(str::to_owned)
    }
}

/// True for the keys of which a document of another system has at least one.
fn is_telling(key: &str) -> bool {
    match key {
        "name" | "function" | "tool_calls" | "message" => true,
        "message_type" | "messageType" | "type" | "sender" => true,
        "kind" | "contextId" | "context_id" | "artifacts" | "messageId" | "message_id" => true,
        "from" => true,
        _ => SENDERS.contains(&key) || RECEIVERS.contains(&key),
    }
}

const SENDERS: &[&str] = &["from_agent", "fromAgent", "source_agent", "sourceAgent"];
const RECEIVERS: &[&str] = &["to_agent", "toAgent", "target_agent", "targetAgent"];
const TARGETS: &[&str] = &[
    "target_participant",
    "payload.target_participant",
    "targetParticipant",
    "payload.targetParticipant",
];

/// Fields that only a handoff has.
const STRONG: &[&str] = &[
    "handoff_id",
    "handoffId",
    "handoff_type",
    "next_steps",
    "deliverable",
    "deliverables",
    "expectations",
    "acceptance_criteria",
    "open_questions",
    "decisions",
    "artifacts",
];

/// Fields of an e-mail, a payment or a merge.
const OF_OTHERS: &[&str] =
    &["subject", "cc", "bcc", "body", "amount", "currency", "price", "branch", "commits"];

fn is_flat(document: &Node) -> bool {
    let is_agent = |it: &str| AgentId::parse(&agent_name(it)).is_ok();
    let has = |key: &&str| document.member(key).is_some_and(|it| !it.is_blank());
    if let Some(receiver) = first_text(document, RECEIVERS) {
        return is_agent(receiver);
    }
    if let Some(sender) = first_text(document, SENDERS) {
        return is_agent(sender) && ["status", "summary", "task", "context"].iter().any(&has);
    }
    let sides = text_at(document, "from").zip(text_at(document, "to"));
    let Some((from, to)) = sides else { return false };
    let is_name = |it: &str| is_agent(it) && it.contains(|it: char| it.is_ascii_alphabetic());
    if !is_name(from) || !is_name(to) || from == to || OF_OTHERS.iter().any(&has) {
        return false;
    }
    let is_called_handoff = first_text(document, &["type", "kind", "message_type"])
        .is_some_and(|it| it.to_ascii_lowercase().contains("handoff"));
    if is_called_handoff || STRONG.iter().any(&has) {
        return true;
    }
    let has_status = text_at(document, "status").is_some_and(|it| meaning(it) != Meaning::Unknown);
    let has_text = ["summary", "context", "task"].iter().any(&has);
    let is_in_prose = document.member("#markdown").is_some();
    [has_status, has_text, is_in_prose].iter().filter(|it| **it).count() >= 2
}

fn is_macp_offer(document: &Node) -> bool {
    let word = first_text(document, &["message_type", "messageType", "type"]);
    let is_offer = word.is_some_and(|it| it.ends_with("HandoffOffer"));
    is_offer || (first_text(document, TARGETS).is_some() && document.member("sender").is_some())
}

fn is_a2a_task(document: &Node) -> bool {
    let has = |key: &str| document.member(key).is_some();
    let is_task = text_at(document, "kind") == Some("task");
    let has_parts = |it: &Node| parts(Some(it)).next().is_some();
    let has_artifacts = || document.member("artifacts").and_then(first_item).is_some_and(has_parts);
    text_at(document, "status.state").is_some()
        && (is_task || has("contextId") || has("context_id") || has_artifacts())
}

fn is_a2a_message(document: &Node) -> bool {
    let is_message = text_at(document, "kind") == Some("message")
        || ["messageId", "message_id"].iter().any(|it| document.member(it).is_some());
    is_message && text_at(document, "role").is_some() && parts(Some(document)).next().is_some()
}

fn first_item(list: &Node) -> Option<&Node> {
    list.as_list()?.first()
}

/// More parts than that are not searched for names.
const MOST_PARTS: usize = 100;

/// The parts of an A2A message or artifact.
fn parts(of: Option<&Node>) -> impl Iterator<Item = &Node> {
    let parts = of.and_then(|it| it.member("parts")).and_then(Node::as_list).unwrap_or_default();
    parts.iter().take(MOST_PARTS).filter(|it| matches!(it, Node::Map(_)))
}

fn first_part(of: Option<&Node>) -> Option<&str> {
    parts(of).find_map(|it| text_at(it, "text"))
}

/// A name in the metadata of an A2A document, or in one of its data parts.
fn from_parts<'a>(body: &'a Node, keys: &[&str]) -> Option<&'a str> {
    let artifacts = body.member("artifacts").and_then(Node::as_list).unwrap_or_default();
    let all = [Some(body), body.at("status.message")].into_iter().flatten();
    let all = all.chain(artifacts.iter().take(MOST_PARTS)).collect::<Vec<_>>();
    let in_parts = |it: &'a Node| {
        parts(Some(it)).filter_map(|it| it.member("data")).find_map(|it| first_text(it, keys))
    };
    let in_metadata = || body.member("metadata").and_then(|it| first_text(it, keys));
    first_text(body, keys).or_else(in_metadata).or_else(|| all.into_iter().find_map(in_parts))
}

/// `refund_agent` out of `transfer_to_refund_agent`: of the call itself, or of the first such call of
/// a chat message.
fn transfer_name(document: &Node) -> Option<&str> {
    let calls = ["tool_calls", "message.tool_calls"].iter().find_map(|it| document.at(it));
    let calls = calls.and_then(Node::as_list).unwrap_or_default();
    std::iter::once(document).chain(calls.iter().take(MOST_PARTS)).find_map(|it| {
        let is_call = ["function", "arguments", "input"].iter().any(|key| it.member(key).is_some());
        let name = first_text(it, &["name", "function.name"])?.strip_prefix("transfer_to_")?;
        (is_call && !name.is_empty()).then_some(name)
    })
}

/// The name as agents are called here: `Refund Agent` and `refund_agent` are `refund-agent`.
fn agent_name(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// The words of other systems beside our own.
fn meaning(word: &str) -> Meaning {
    let plain = word.trim().to_lowercase().replace('-', "_");
    let plain = plain.strip_prefix("task_state_").unwrap_or(&plain);
    match plain {
        "done" | "finished" | "succeeded" => Meaning::Ended(Outcome::Success),
        "error" | "errored" | "rejected" | "canceled" | "cancelled" => {
            Meaning::Ended(Outcome::Failure)
        }
        "input_required" => Meaning::Ended(Outcome::NeedsClarification),
        "auth_required" => Meaning::Ended(Outcome::Blocked),
        "submitted" | "working" | "started" | "running" => Meaning::UnderWay,
        _ => OutcomeClaim::parse(plain).meaning,
    }
}

#[cfg(test)]
mod tests;

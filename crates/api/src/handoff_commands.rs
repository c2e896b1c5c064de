//! Requests that create a handoff or act on one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::receiver_names::ReceiverNames;
use crate::word::{ModeWord, OutcomeWord, ProfileWord, VerdictWord, WayWord};

/// How a handoff is accepted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"agent": "analyst", "acknowledgement": "Find out why logins fail.", "leaseSeconds": 300}))]
pub struct Acceptance {
    /// The agent that accepts; if omitted, the receiver.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The task in the receiver's own words, as text or as an `acknowledgment` document, which may
    /// also be a string of YAML, XML or Markdown.
    #[schema(value_type = Option<serde_json::Value>)]
    pub acknowledgement: Option<Box<RawValue>>,
    /// The lease: the receiver promises a heartbeat at least this often.
    #[schema(minimum = 1, maximum = 3600)]
    pub lease_seconds: Option<u32>,
}

/// Why a handoff is rejected.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "The tests fail on the second criterion.", "agent": "reviewer"}))]
pub struct Rejection {
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: String,
    /// The agent that rejects; if omitted, the receiver.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
}

/// How the work on a handoff ended, and what is handed on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"outcome": "success", "package": {"summary": "The cause is the session cookie."}, "fence": 1}))]
pub struct Completion {
    /// How the work ended. Words of other systems, such as `completed`, are read too.
    #[schema(value_type = OutcomeWord)]
    pub outcome: String,
    /// The package for the next handoff: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    /// The next receiver, or all receivers of a fan-out; if omitted, the workflow decides.
    pub to_agent: Option<ReceiverNames>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The agent that completes; if omitted, the receiver.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
    #[serde(default)]
    pub profile: ProfileWord,
}

/// Who cancels a handoff, and why.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "The story was split."}))]
pub struct Cancellation {
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The agent that cancels; if omitted, one that is allowed to.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
}

/// What the receiver asks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"question": "Which browsers have to work?"}))]
pub struct Clarification {
    #[schema(min_length = 1, max_length = 10_000)]
    pub question: String,
    /// The agent that asks; if omitted, the receiver.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
}

/// The answer to a question.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"answer": "The last two versions of each."}))]
pub struct QuestionAnswer {
    #[schema(min_length = 1, max_length = 10_000)]
    pub answer: String,
    /// The agent that answers; if omitted, the agent that was asked.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
}

/// Why work is released undone.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "Out of time.", "fence": 1}))]
pub struct GivenBack {
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The agent that releases; if omitted, the receiver.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
}

/// What was checked, and the result.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"check": "tests", "verdict": "passed", "detail": "214 of 214 passed"}))]
pub struct CheckResult {
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub check: String,
    pub verdict: VerdictWord,
    #[schema(min_length = 1, max_length = 10_000)]
    pub detail: Option<String>,
}

/// A part of the work, and the agent to delegate it to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"toAgent": "specialist", "package": {"summary": "Look at the migration."}, "fence": 1}))]
pub struct Delegation {
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to_agent: String,
    /// The package: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
    #[serde(default)]
    pub profile: ProfileWord,
}

/// How a delegated part of the work ended.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Return)]
#[schema(example = json!({"outcome": "success", "package": {"summary": "The migration is sound."}}))]
pub struct Returned {
    /// How the work ended. Words of other systems, such as `completed`, are read too.
    #[schema(value_type = OutcomeWord)]
    pub outcome: String,
    /// The package to return: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
    #[serde(default)]
    pub profile: ProfileWord,
}

/// What a person is asked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "The licence of the library is unclear.", "fence": 1}))]
pub struct Escalation {
    /// The package: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// The fencing token from `accept`.
    pub fence: Option<u32>,
    #[serde(default)]
    pub profile: ProfileWord,
}

/// The holder's sign of life.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"fence": 1}))]
pub struct Heartbeat {
    /// The fencing token from `accept`.
    pub fence: u32,
}

/// When the lease ends, unless it is renewed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseUntil {
    pub lease_until: Timestamp,
}

/// A handoff to create.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"story": "login", "fromAgent": "analyst", "toAgent": "implementer", "package": {"summary": "The cause is the session cookie."}}))]
pub struct NewHandoff {
    /// An existing run: its id, its number or its story's key. This or `story`.
    #[schema(min_length = 1, max_length = 200)]
    pub run: Option<String>,
    /// The key of a story: its open run, or a new one if it has none. This or `run`.
    #[schema(min_length = 1, max_length = 200)]
    pub story: Option<String>,
    /// Creates the story if there is none of that key; otherwise an unknown key is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_story: bool,
    /// For a new run; if omitted, the workflow that has a matching edge.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub workflow: Option<String>,
    /// For a new run; if omitted, the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeWord>,
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub from_agent: String,
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to_agent: String,
    /// The package: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
    /// How the sender's work ended; if omitted, the edge decides it.
    #[schema(value_type = Option<OutcomeWord>)]
    pub outcome: Option<String>,
    #[schema(min_length = 1, max_length = 65536)]
    pub reason: Option<String>,
    /// A pending handoff of the same sender that this one replaces: its number, id or label.
    pub supersedes: Option<String>,
    /// The handoff whose work is handed on: its number, id or label. Needed only if the sender has the work
    /// of several branches, and the receiver does not say which is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<String>,
    /// If omitted, the receiver decides it.
    pub kind: Option<WayWord>,
    /// The sender's fencing token, if it has one.
    pub token: Option<HeldToken>,
    #[serde(default)]
    pub profile: ProfileWord,
}

/// A fencing token, and the handoff that it belongs to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Token)]
pub struct HeldToken {
    /// The handoff's number, id or label.
    pub handoff: String,
    pub fence: u32,
}

/// A command on a handoff that a client may send without a handoff's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyedCommand {
    Accept,
    Complete,
}

impl KeyedCommand {
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Complete => "complete",
        }
    }
}

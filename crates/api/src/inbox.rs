//! What waits for a person, and the answer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::approvals::ApprovalsDocument;
use crate::handoffs::{EvidenceDocument, HandoffSummary};
use crate::runs::RunDocument;
use crate::word::{AnswerWord, GateKindWord};

/// Something that waits for a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InboxItem)]
pub struct InboxItemDocument {
    pub run: RunDocument,
    /// The label of the handoff that asks; null if the baton is loose.
    pub handoff: Option<String>,
    /// The id of that handoff.
    pub handoff_id: Option<Uuid>,
    /// Why a person is asked.
    pub why: String,
    /// Why, in one word: a gate's cause, else `question` or `loose`.
    pub cause: String,
    /// How much of the run a gate stops.
    pub kind: Option<GateKindWord>,
    /// The gate's name in the workflow; null if the workflow does not have the gate.
    pub name: Option<String>,
    /// The question, why the gate was opened, or why the last handoff before a loose baton ended.
    pub words: Option<String>,
    /// The agent whose words these are; omitted if they are Baton's own, or an operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_by: Option<String>,
    /// What the person should look at, as the workflow has it.
    pub items: Vec<String>,
    pub blockers: Vec<String>,
    /// What is missing because it is damaged: `words`, `blockers`, `evidence`, or the `package`,
    /// which contains the sender's words. Omitted if nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// The checks that have to pass at an automatic gate.
    pub checks: Vec<String>,
    pub evidence: Vec<EvidenceDocument>,
    /// Where the package claims that something passed, and no check of Baton's has confirmed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// The approvals of a gate that needs those of several people, or of another than the author;
    /// omitted at others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalsDocument>,
    /// The hash of the package that the gate is about: an answer with this `contentHash` is refused if
    /// it is about another. Omitted if there is no package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// When people were reminded of the gate; omitted if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminded_at: Option<Timestamp>,
    /// What the packages in question say, each in its sender's words. None of it decides anything:
    /// what a gate is called and what an answer does is in the other members.
    #[serde(default)]
    pub sender: Vec<SenderDocument>,
    pub choices: Vec<ChoiceDocument>,
    /// Where a limit was reached: the command that shows the history of the run, which changes nothing.
    /// Omitted elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
    /// Every handoff of the run, oldest first.
    pub trail: Vec<HandoffSummary>,
}

/// What one package says, in its sender's words and bounded.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SenderWords)]
pub struct SenderDocument {
    /// The agent that wrote it.
    pub agent: String,
    /// The label of the first handoff that carries the package; its `package` is all of it.
    pub handoff: Option<String>,
    pub parts: Vec<SaidPartDocument>,
    /// Whether something was shortened or left out.
    pub is_cut: bool,
}

/// One part of a package, such as its summary or its findings.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SaidPart)]
pub struct SaidPartDocument {
    #[schema(example = "findings")]
    pub name: String,
    pub texts: Vec<String>,
}

/// An answer that a person may give, and its consequence.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceDocument {
    pub choice: String,
    /// The command to type for this answer.
    pub command: String,
    /// Whether it needs a comment.
    pub needs_words: bool,
    /// What the rules do after this answer.
    pub then: String,
    /// The workflow's description of this choice.
    pub meaning: Option<String>,
}

/// A person's answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"answer": "approve", "comment": "Go on."}))]
pub struct PersonsWord {
    pub answer: AnswerWord,
    /// The agent to do the work instead, for `hand_to`.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to_agent: Option<String>,
    #[schema(min_length = 1, max_length = 10_000)]
    pub comment: Option<String>,
    /// The hash of the package that the person has seen, as the inbox shows it: the answer is refused
    /// with 409 if the handoff has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub content_hash: Option<String>,
    /// The package to hand on instead, for `modify`: any JSON, kept as it is written.
    #[schema(value_type = Option<serde_json::Value>)]
    pub package: Option<Box<RawValue>>,
}

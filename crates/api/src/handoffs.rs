//! A handoff: in a list, with its package, and with everything that belongs to it.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::approvals::{ApprovalDocument, ApprovalsDocument};
use crate::flat::{part, whole};
use crate::word::{KindWord, OutcomeWord, StateWord};

/// A handoff without its package.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HandoffRow)]
pub struct HandoffSummary {
    /// Numbered over all runs.
    pub number: u64,
    pub id: Uuid,
    /// Numbered within its run.
    #[schema(example = "HO-001")]
    pub label: String,
    /// The id of the run.
    #[serde(default)]
    #[schema(required = true)]
    pub run_id: Uuid,
    /// The same as `runId`.
    pub run: Uuid,
    /// The key of the story.
    pub story: String,
    pub kind: KindWord,
    pub from_agent: String,
    /// Null if the sender is at no step: the orchestrator, a person or a delegate.
    pub from_step: Option<String>,
    pub to_agent: String,
    /// Null if the receiver is at no step: the orchestrator, a person or a delegate.
    pub to_step: Option<String>,
    pub state: StateWord,
    pub outcome: Option<OutcomeWord>,
    /// It has waited for too long; the receiver may still answer it.
    pub is_stale: bool,
    /// 1, plus one for each retry of the same work.
    pub attempt: u32,
    /// The label of the handoff that it continues.
    pub follows: Option<String>,
    /// Null if it was lost in a recovery or is damaged. A list has at most 1,000 characters of it, and its end says so.
    pub reason: Option<String>,
    /// Only present if true: the handoff by itself (`/api/v1/handoffs/ID`) has the whole reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reason_truncated: bool,
    /// Why it was rejected, cancelled, superseded or timed out; for a question, the answer.
    /// A list has at most 1,000 characters of it, and its end says so.
    pub ended_reason: Option<String>,
    /// Only present if true: the handoff by itself (`/api/v1/handoffs/ID`) has the whole text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_reason_truncated: bool,
    /// The receiver's acknowledgement when it accepted the handoff.
    pub acknowledgement: Option<String>,
    pub approved_by: Option<String>,
    /// What the contract recommends and the package lacks.
    pub warnings: Vec<String>,
    /// How complete its package was when it was sent, from 0 to 100; null if the package was sent
    /// before, or by an older Baton.
    #[schema(minimum = 0, maximum = 100)]
    pub score: Option<u8>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["reason"]))]
    pub damaged: Vec<String>,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// A handoff with its package.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Handoff)]
pub struct HandoffDocument {
    #[serde(flatten)]
    pub row: HandoffSummary,
    /// The package: JSON as the sender wrote it, or the text of another format. Null if there is
    /// none, or if it was lost in a recovery or is damaged.
    #[schema(value_type = serde_json::Value)]
    pub package: Option<Box<RawValue>>,
}

impl<'de> Deserialize<'de> for HandoffDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Rest {
            package: Option<Box<RawValue>>,
        }
        let raw = whole(deserializer)?;
        let Rest { package } = part(&raw)?;
        Ok(Self { row: part(&raw)?, package })
    }
}

/// A handoff with everything that belongs to it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HandoffDetail)]
pub struct HandoffDetail {
    #[serde(flatten)]
    pub handoff: HandoffDocument,
    #[serde(flatten)]
    pub beside: HandoffExtras,
}

/// What belongs to a handoff besides its own members.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffExtras {
    /// The sender's name when the handoff was made.
    #[serde(default)]
    pub from_name: String,
    /// The receiver's name when the handoff was made.
    #[serde(default)]
    pub to_name: String,
    /// The gate's question to a person, or its answer.
    pub question: Option<GateDocument>,
    /// The receiver's questions, and their answers.
    pub questions: Vec<Question>,
    /// The fencing token: how often the handoff has been accepted; null if it is not open.
    pub fence: Option<u32>,
    /// The lease: for how long the holder may be silent.
    pub lease_seconds: Option<u32>,
    pub evidence: Vec<EvidenceDocument>,
    /// Where the package claims that something passed, and no check of Baton's has confirmed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// Which commands are allowed now, and why the others are not.
    pub can: Vec<Allowed>,
}

impl<'de> Deserialize<'de> for HandoffDetail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = whole(deserializer)?;
        Ok(Self { handoff: part(&raw)?, beside: part(&raw)? })
    }
}

/// An open gate's question to a person, or the answer of a closed one; `state` tells the two apart.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "state", mapping(
    ("open" = "#/components/schemas/OpenGate"),
    ("answered" = "#/components/schemas/AnsweredGate"))))]
pub enum GateDocument {
    Open(OpenGate),
    Answered(AnsweredGate),
}

/// `state` of an open gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenTag {
    #[default]
    Open,
}

/// `state` of a gate that a person has answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredTag {
    #[default]
    Answered,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OpenGate {
    #[serde(default)]
    #[schema(inline, required = true)]
    pub state: OpenTag,
    pub cause: String,
    /// The cause as a sentence.
    pub why: String,
    pub choices: Vec<String>,
    /// The command to type to answer it.
    pub command: String,
    /// The approvals of a gate that needs those of several people; omitted at others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalsDocument>,
    /// The hash of the package that the gate is about; omitted if there is none.
    #[serde(default, rename = "contentHash", skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// When people were reminded of it; omitted if they were not.
    #[serde(default, rename = "remindedAt", skip_serializing_if = "Option::is_none")]
    pub reminded_at: Option<Timestamp>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AnsweredGate {
    #[serde(default)]
    #[schema(inline, required = true)]
    pub state: AnsweredTag,
    pub answer: String,
    pub by: String,
    pub comment: Option<String>,
    pub at: Timestamp,
    /// Every approval, where the gate needed those of several people; omitted at others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalDocument>,
    /// The votes that people passed on; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegated: Vec<DelegatedVote>,
}

/// A vote that a person passed on to another one.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DelegatedVote {
    pub by: String,
    pub to: String,
    pub at: Timestamp,
    pub comment: Option<String>,
}

/// A question about a handoff, and the answer if there is one.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Question {
    pub id: Uuid,
    /// Numbered over all runs.
    pub number: u64,
    pub label: String,
    pub from: String,
    pub to: String,
    pub question: String,
    pub answer: Option<String>,
    /// Whether it still waits for an answer. A closed question without an answer was withdrawn.
    #[serde(rename = "isOpen")]
    pub is_open: bool,
}

/// The newest result of one check.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceDocument {
    pub check: String,
    #[schema(example = "passed")]
    pub verdict: String,
    /// What was recorded with it, such as `3 of 214 failed`; omitted if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Baton's own runner ran the check. Otherwise it is what a caller said, and decides nothing where
    /// the project has a command for the check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_observed: bool,
    /// The caller who posted it; omitted if Baton's own runner ran the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// It was posted, but only a runner decides this check: the project has a command for it. It opens
    /// no gate and stops no work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_claim: bool,
    /// Of a check that a runner ran: null if it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The tree of everything in the workspace, committed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// A command that is or is not allowed now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Allowed {
    /// The last part of the command's path.
    pub command: String,
    pub allowed: bool,
    /// Why it is not allowed.
    pub why: Option<String>,
}

impl From<&baton_core::evidence::Evidence> for EvidenceDocument {
    fn from(it: &baton_core::evidence::Evidence) -> Self {
        Self {
            check: it.check.to_string(),
            verdict: it.verdict.name().to_owned(),
            detail: None,
            is_observed: it.is_observed,
            by: None,
            is_claim: false,
            exit_code: None,
            millis: None,
            commit: None,
            tree: None,
        }
    }
}

//! The conversation of a run, and questions between agents.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::agents::AgentProfile;

/// A part of a conversation, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Conversation)]
pub struct ConversationDocument {
    pub items: Vec<ConversationItemDocument>,
    /// The cursor to pass as `before` for what comes earlier; null at the beginning.
    pub previous: Option<String>,
    /// The cursor to pass as `after` for what comes later, also if nothing has come yet.
    pub next: String,
}

/// One part of a conversation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConversationItem)]
pub struct ConversationItemDocument {
    /// The position of its event in the log of all runs.
    pub position: u64,
    pub at: Timestamp,
    /// `message`, `handoff`, `decision`, `answer`, `question`, `reply`, `unanswered`, `context` or
    /// `redaction`.
    pub kind: String,
    /// The agent as it was shown then; null if a person or a program speaks.
    pub agent: Option<AgentProfile>,
    /// Who sent it.
    pub by: String,
    /// The receiver of a handoff or a question; omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentProfile>,
    /// Baton's own line, such as `Handing off to Reviewer...` or `Decided by Architect at ...`;
    /// omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The author's words: a message, the reason of a handoff, a question or an answer.
    pub text: Option<String>,
    /// The use of tools, a line each, apart from the words; omitted if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The label of the handoff; omitted if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<String>,
    /// The decisions that were recorded; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ConversationDecision>,
    /// The number of a question between agents; omitted if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<u32>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// A decision as it was stated then, and where it stands now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationDecision {
    pub number: u32,
    pub decision: String,
    pub rationale: Option<String>,
    /// As in `Decided by Analyst at 2026-01-02T03:04:05Z`, or `Asked by` where it was left open.
    pub attribution: String,
    /// Where it stands now: `standing`, `open`, `answered`, `superseded` or `withdrawn`; omitted if that
    /// is not known any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The person that locked it; omitted if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_by: Option<String>,
    /// The number of the decision that replaced it; omitted if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u32>,
    /// The numbers of standing decisions on the same subject that say something else; omitted if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts_with: Vec<u32>,
}

/// A question of one agent to another.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentQuestion)]
pub struct AskDocument {
    /// Counted in the run, from 1.
    pub number: u32,
    /// Names the question and its answer in the logs of other systems.
    pub correlation_id: Uuid,
    /// `open`, `answered` or `unanswered`.
    pub status: String,
    pub from: AgentProfile,
    pub to: AgentProfile,
    /// Null if it was lost in a recovery or is damaged.
    pub question: Option<String>,
    pub asked_at: Timestamp,
    /// How often it was put: 2 after the retry.
    pub attempts: u32,
    /// Until when an answer is waited for, while it is open.
    pub due: Timestamp,
    /// Null as long as there is none.
    pub answer: Option<String>,
    pub answered_by: Option<AgentProfile>,
    pub ended_at: Option<Timestamp>,
}

/// A question for another agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewAgentQuestion, example = json!({"agent": "developer", "to": "architect", "question": "Which database?"}))]
pub struct NewAsk {
    /// The agent that asks; an attempt's token speaks for its own.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: String,
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub to: String,
    #[schema(min_length = 1, max_length = 10_000)]
    pub question: String,
}

/// The answer to a question between agents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentAnswer, example = json!({"answer": "SQLite", "agent": "architect"}))]
pub struct AskAnswer {
    #[schema(min_length = 1, max_length = 10_000)]
    pub answer: String,
    /// The agent that answers; if omitted, the caller does, as a person.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
}

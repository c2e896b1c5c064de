//! Decisions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::agents::AgentProfile;

/// A decision, and who made it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub struct DecisionDocument {
    /// The sender's own id for it.
    pub id: Option<String>,
    pub decision: String,
    /// The reasoning.
    pub rationale: Option<String>,
    pub decided_by: AgentProfile,
    /// The name of the person that decided; omitted if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// A person's answer at a gate, such as `approve`; omitted if a package states the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    pub decided_at: Timestamp,
    /// As in `Decided by Analyst at 2026-01-02T03:04:05Z`, or `Asked by` while it is open.
    pub attribution: String,
    /// The agent that left it open, where a person's answer has decided it; omitted at others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<AgentProfile>,
    /// Who recorded it in the agent's name; omitted if the agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_by: Option<String>,
    /// The label of the handoff whose package states it, or of the gate that was answered; null if
    /// it was recorded on its own.
    pub handoff: Option<String>,
    pub handoff_id: Option<Uuid>,
    /// The record of the decision; omitted for an answer at a gate, and for what an older Baton read
    /// in packages.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub record: Option<DecisionRecordDocument>,
}

/// What a run has recorded of a decision.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DecisionRecord)]
pub struct DecisionRecordDocument {
    /// Counted in the run, from 1.
    pub number: u32,
    /// `standing`, `open`, `answered` (a person's answer closed it), `superseded`, or `withdrawn`
    /// (its package was rejected).
    pub status: String,
    /// What it is about.
    pub subject: Option<String>,
    pub alternatives: Vec<String>,
    /// The person that locked it: no agent supersedes it.
    pub locked_by: Option<String>,
    /// Why it was locked.
    pub lock_reason: Option<String>,
    /// The number of the decision that it replaced.
    pub supersedes: Option<u32>,
    pub superseded_by: Option<u32>,
    pub depends_on: Vec<u32>,
    /// The numbers of the decisions that depend on it.
    pub dependents: Vec<u32>,
    /// The numbers of standing decisions on the same subject that say something else.
    pub conflicts_with: Vec<u32>,
}

/// A decision to record.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"decision": "Use SQLite", "rationale": "One file, no server", "subject": "storage", "alternatives": ["PostgreSQL"], "agent": "architect"}))]
pub struct NewDecision {
    #[schema(min_length = 1, max_length = 10_000)]
    pub decision: String,
    /// The reasoning.
    #[schema(min_length = 1, max_length = 10_000)]
    pub rationale: Option<String>,
    /// What it is about: two standing decisions on one subject are shown as a conflict. If omitted, that
    /// of the decision that it replaces.
    #[schema(min_length = 1, max_length = 200)]
    pub subject: Option<String>,
    /// What was considered and not chosen.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub alternatives: Vec<String>,
    /// The numbers of the decisions that it rests on.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub depends_on: Vec<u32>,
    /// The agent that decides; if omitted, the caller does, as a person.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
}

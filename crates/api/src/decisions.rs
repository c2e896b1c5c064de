//! Decisions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::agents::Attribution;

/// A decision, and who made it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub struct DecisionDocument {
    /// The sender's own id for it.
    pub id: Option<String>,
    pub decision: String,
    pub rationale: Option<String>,
    pub decided_by: Attribution,
    /// The name of the person that decided; omitted if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// A person's answer at a gate, such as `approve`; omitted if a package states the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    pub decided_at: Timestamp,
    /// As in `Decided by Analyst at 2026-01-02T03:04:05Z`.
    pub attribution: String,
    /// The label of the handoff whose package states it, or of the gate that was answered.
    pub handoff: String,
    pub handoff_id: Uuid,
}

//! How handing off fares.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The figures of one window of time. Each list is ordered by its key.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InsightsDocument {
    pub from: Timestamp,
    pub to: Timestamp,
    pub handoffs: u64,
    /// There were more than 20,000 handoffs: only the newest were looked at, from `from` on.
    pub is_cut: bool,
    /// What an agent received says how fast it is, what it sent how good: see each member.
    pub agents: Vec<AgentInsights>,
    pub edges: Vec<EdgeInsights>,
    pub workflows: Vec<WorkflowInsights>,
    pub weeks: Vec<WeekInsights>,
    /// Why work was sent back: the reasons of the newest 200 rejects, the most frequent first, at most
    /// 20.
    pub reject_reasons: Vec<RejectReasonDocument>,
}

/// One reason for which work was sent back along one edge.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RejectReasonDocument {
    pub workflow: String,
    /// A step, `orchestrator`, `human`, or `delegate:AGENT`.
    pub from: String,
    pub to: String,
    /// The first line of what was written; at most 200 characters.
    pub reason: String,
    /// The whole reason is longer: `GET /api/v1/handoffs/{lastHandoff}` has it.
    pub reason_truncated: bool,
    pub times: u64,
    /// The number of the newest handoff that was rejected for it.
    pub last_handoff: u64,
    pub last_at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AgentInsights {
    pub agent: String,
    #[serde(flatten)]
    pub figures: InsightFigures,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EdgeInsights {
    pub workflow: String,
    /// A step, `orchestrator`, `human`, or `delegate:AGENT`.
    pub from: String,
    pub to: String,
    #[serde(flatten)]
    pub figures: InsightFigures,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkflowInsights {
    pub workflow: String,
    #[serde(flatten)]
    pub figures: InsightFigures,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WeekInsights {
    /// The Monday that the week begins with, in UTC.
    #[schema(value_type = String, format = Date)]
    pub week: Date,
    #[serde(flatten)]
    pub figures: InsightFigures,
}

/// The figures of one group of handoffs. Questions are not counted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InsightFigures {
    /// Received.
    pub handoffs: u64,
    pub open: u64,
    pub completed: u64,
    pub timed_out: u64,
    /// Milliseconds from the offer to the acceptance; null without one.
    pub accept_p50_ms: Option<u64>,
    pub accept_p95_ms: Option<u64>,
    /// Milliseconds from the acceptance to the completion; null without one.
    pub complete_p50_ms: Option<u64>,
    pub complete_p95_ms: Option<u64>,
    /// Of the first handoffs of each run along an edge that have ended, the share that was not sent
    /// back (of an agent: that it sent); null without one.
    #[schema(minimum = 0, maximum = 1)]
    pub first_pass_yield: Option<f64>,
    /// How often work was sent back (of an agent: work that it sent).
    pub rework_rounds: u64,
    pub rejected_by: RejectedBy,
    /// Handoffs to a person: gates and escalations.
    pub escalations: u64,
    /// How long people were waited for, an open wait up to now.
    pub waited_for_people_ms: u64,
    /// Handoffs that were taken with warnings (of an agent: that it sent).
    pub with_warnings: u64,
    /// The mean completeness of the packages, from 0 to 100 (of an agent: that it sent); null without
    /// a scored one.
    #[schema(minimum = 0, maximum = 100)]
    pub completeness_score: Option<f64>,
    pub cost: InsightCost,
}

/// What the agents used for the work that they received.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InsightCost {
    /// Handoffs whose agents said what they used.
    pub measured: u64,
    /// In US dollars; null if no program said what it cost. Programs that do not say are not in it.
    pub usd: Option<f64>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// How long the programs were at work.
    pub work_ms: u64,
}

/// Who sent work back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RejectedBy {
    pub agent: u64,
    /// Its checks have failed.
    pub checks: u64,
    pub person: u64,
}

//! What agents used, and what they may use.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the program of an agent used since the last report of the same attempt.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"fence": 1, "executor": "claude", "inputTokens": 5210, "cachedTokens": 4000,
    "outputTokens": 840, "microUsd": 41700, "workMs": 61000}))]
pub struct UsageReport {
    /// The fencing token of the claim.
    pub fence: u32,
    /// The executor, as `baton.toml` names it.
    #[schema(pattern = "^[A-Za-z0-9_-]+$", max_length = 64)]
    pub executor: Option<String>,
    /// With the cached ones.
    #[serde(default)]
    pub input_tokens: u64,
    /// Of the input, what the provider had in its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    #[serde(default)]
    pub output_tokens: u64,
    /// What it cost, in millionths of a US dollar; null if the program does not say.
    pub micro_usd: Option<u64>,
    /// How long the program was at work, in milliseconds.
    #[serde(default)]
    pub work_ms: u64,
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub struct UsageDocument {
    /// With the cached ones.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of a US dollar; null if no program said what it cost.
    pub micro_usd: Option<u64>,
    /// How long programs were at work, in milliseconds. Waiting is no work.
    pub work_ms: u64,
}

/// How much may be used; null where it is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Budget)]
pub struct BudgetDocument {
    pub tokens: Option<u64>,
    pub micro_usd: Option<u64>,
    pub work_ms: Option<u64>,
}

/// What a run has used so far.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunUsage {
    pub total: UsageDocument,
    /// Of the whole run, with what people have granted; omitted if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetDocument>,
    /// By agent and step, in the order of the first report.
    pub agents: Vec<AgentUsageDocument>,
}

/// What an agent used at a step, over all of its attempts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentUsage)]
pub struct AgentUsageDocument {
    pub agent: String,
    /// Null for a delegate.
    pub step: Option<String>,
    /// How often it was reported.
    pub n_reports: u32,
    #[serde(flatten)]
    pub usage: UsageDocument,
}

/// What the program of an attempt used.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AttemptUsage)]
pub struct AttemptUsageDocument {
    /// The position of its event in the log of all runs.
    pub position: u64,
    pub at: Timestamp,
    /// The label of the handoff.
    #[schema(example = "HO-002")]
    pub handoff: String,
    /// The fencing token of the attempt.
    pub fence: u32,
    pub agent: String,
    pub executor: Option<String>,
    #[serde(flatten)]
    pub usage: UsageDocument,
}

//! Claims: a runner takes work for its agents.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::handoffs::HandoffSummary;
use crate::runs::RunDocument;
use crate::usage::BudgetDocument;

/// What a runner asks for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"agents": ["analyst", "reviewer"], "leaseSeconds": 20, "waitSeconds": 20}))]
pub struct ClaimRequest {
    /// The agents that the runner can start; all that have one of `capabilities` where there are none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 200)]
    pub agents: Vec<String>,
    /// Of these agents, only those whose files list one of these capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub capabilities: Vec<String>,
    /// The lease: the runner promises a heartbeat at least this often; if omitted, 20.
    #[schema(minimum = 1, maximum = 3600)]
    pub lease_seconds: Option<u32>,
    /// How long to wait for work if there is none; if omitted, the answer comes at once.
    #[schema(minimum = 0, maximum = 50)]
    pub wait_seconds: Option<u32>,
}

/// Work that a runner has accepted for one of its agents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The handoff or the question that is held now, without its package.
    pub handoff: HandoffSummary,
    pub run: RunDocument,
    pub agent: String,
    /// The fencing token of this holding.
    pub fence: u32,
    pub lease_seconds: u32,
    /// The attempt token, for the agent: `Authorization: Bearer TOKEN`. It opens this handoff and no
    /// other, while the lease lives.
    pub token: String,
    /// What the agent may still use; its program is ended when it goes beyond. Omitted if nothing is
    /// limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetDocument>,
}

/// Why an attempt ended without a result.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"fence": 1, "reason": "failure: exited without handing off (exit code 0)"}))]
pub struct LostAttempt {
    /// The fencing token of the claim.
    pub fence: u32,
    #[schema(min_length = 1, max_length = 1000)]
    pub reason: String,
    /// The SHA-256 hash of what the agent printed: the very same twice in a row is no progress, and a
    /// person is asked.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub output: Option<String>,
    /// The agent can work again then: its rate limit ends. At most 8 days ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Asks a person now, instead of trying again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask: bool,
}

/// What the program of a holder wants to do, and waits for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"fence": 1, "question": "`implementer` asks for permission (execute): npm publish"}))]
pub struct PermissionRequest {
    /// The fencing token of the claim.
    pub fence: u32,
    #[schema(min_length = 1, max_length = 10_000)]
    pub question: String,
}

/// No program waits for the permission any more.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct WithdrawnPermission {}

/// A message to post.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "The tests pass; the documentation is next.", "agent": "implementer"}))]
pub struct NewMessage {
    #[schema(min_length = 1, max_length = 10_000)]
    pub text: String,
    /// The agent that says it; if omitted, only the caller is recorded.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub agent: Option<String>,
}

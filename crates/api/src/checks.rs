//! Checks: a runner takes the checks that parked work waits for, and says what came of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::handoffs::HandoffDocument;
use crate::runs::RunDocument;
use crate::word::VerdictWord;

/// Which checks a runner can run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"checks": ["tests", "build"], "leaseSeconds": 20, "waitSeconds": 20}))]
pub struct CheckClaimRequest {
    /// The checks of its project, by name.
    #[schema(max_items = 64)]
    pub checks: Vec<String>,
    /// The lease: the runner promises a heartbeat at least this often; if omitted, 20.
    #[schema(minimum = 1, maximum = 3600)]
    pub lease_seconds: Option<u32>,
    /// How long to wait for work if there is none; if omitted, the answer comes at once.
    #[schema(minimum = 0, maximum = 50)]
    pub wait_seconds: Option<u32>,
}

/// Parked work whose checks a runner has taken.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckClaim {
    /// The handoff that stands for the work, with its package.
    pub handoff: HandoffDocument,
    pub run: RunDocument,
    /// The checks to run.
    pub checks: Vec<String>,
    /// The agent that gets the work once they have passed.
    pub for_agent: String,
    /// The fencing token of this claim.
    pub fence: u32,
    pub lease_seconds: u32,
}

/// What came of the checks, all of them at once.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"fence": 1, "results": [{"check": "tests", "verdict": "failed",
    "detail": "$ cargo test\n3 of 214 failed", "exitCode": 101, "millis": 5210}]}))]
pub struct CheckReport {
    /// The fencing token of the claim.
    pub fence: u32,
    #[schema(min_items = 1, max_items = 65)]
    pub results: Vec<ObservedResult>,
}

/// What a runner saw of one check.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservedResult {
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub check: String,
    pub verdict: VerdictWord,
    /// The command and the end of what it printed.
    #[schema(min_length = 1, max_length = 10_000)]
    pub detail: String,
    /// Null if it was ended, or is not a program.
    pub exit_code: Option<i32>,
    pub millis: u64,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The tree of everything in the workspace, committed or not.
    pub tree: Option<String>,
}

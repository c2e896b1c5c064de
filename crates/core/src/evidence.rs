//! What was checked, and how that came out: not what an agent claims, but what somebody saw.

use serde::{Deserialize, Serialize};

use crate::names::CheckName;

/// The newest result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub check: CheckName,
    pub verdict: Verdict,
    /// Of the holding that it was recorded in, where it is about what a holder makes. Unknown for
    /// what was recorded before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Passed,
    Failed,
}

/// More checks than anybody runs for one handoff.
pub const MOST_CHECKS: usize = 64;

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
        }
    }
}

/// What keeps `checks` from having passed, as words; `None` where they all have.
pub fn missing(checks: &[CheckName], evidence: &[Evidence]) -> Option<String> {
    let problem = |check: &CheckName| {
        let verdict = evidence.iter().find(|it| it.check == *check).map(|it| it.verdict);
        match verdict {
            Some(Verdict::Passed) => None,
            Some(Verdict::Failed) => Some(format!("`{check}` failed")),
            None => Some(format!("`{check}` has no result")),
        }
    };
    let problems: Vec<String> = checks.iter().filter_map(problem).collect();
    if problems.is_empty() { None } else { Some(problems.join(", ")) }
}

/// Puts the newest result of a check in the place of the one before it.
pub fn record(evidence: &mut Vec<Evidence>, newest: Evidence) {
    match evidence.iter_mut().find(|it| it.check == newest.check) {
        Some(before) => *before = newest,
        None => evidence.push(newest),
    }
}

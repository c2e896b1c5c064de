//! Checks and their results: observed evidence, not an agent's claim.

use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::names::{CheckName, CommitId};
use crate::run::is_false;

/// The newest result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub check: CheckName,
    pub verdict: Verdict,
    /// Fencing token of the holder that recorded it, where the check is about a holder's work.
    /// Unknown for results recorded before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u32>,
    /// Baton's own runner ran the check. Else it is what a caller says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_observed: bool,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        Passed = "passed",
        Failed = "failed",
    }
}

/// How a runner ran a check. What the check printed is kept as a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// `None` where the check was ended, or is one that Baton does itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub millis: u64,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The tree of everything in the workspace, committed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<CommitId>,
}

/// The check that Baton does itself: the files, ranges and commits that a package names are there, and
/// no check contradicts what the package claims.
pub const PACKAGE_CHECK: &str = "package";

/// Upper bound on the checks of one handoff; no real handoff has so many.
pub const MOST_CHECKS: usize = 64;

/// Describes which of `checks` have not passed; `None` where they all have.
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

/// Replaces the previous result of the same check with the newest.
pub fn record(evidence: &mut Vec<Evidence>, newest: Evidence) {
    match evidence.iter_mut().find(|it| it.check == newest.check) {
        Some(before) => *before = newest,
        None => evidence.push(newest),
    }
}

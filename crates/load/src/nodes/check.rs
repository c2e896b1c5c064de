//! Judges what clients of several nodes recorded. Each rule is a function of the history; a rule that
//! cannot fail proves nothing, so each has a history in `check/tests.rs` that breaks it.

mod effects;
mod holders;
mod order;
mod readers;
#[cfg(test)]
mod tests;
mod times;

use std::collections::BTreeMap;
use std::fmt;

use super::operation::{ClusterHistory, OperationOutcome};

/// What was promised, and not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeRule {
    /// What was acknowledged is in the log.
    NothingIsLost,
    /// No command takes effect twice.
    NothingHappensTwice,
    /// What was refused is not in the log.
    RefusalsChangeNothing,
    /// Answers under one key are about the same run and the same holding.
    EqualKeysGetEqualAnswers,
    /// The versions of a run count its events, and an answer has that of its command or a later one.
    VersionsCountEvents,
    /// Operations on a run can be put in an order that agrees with time and with every answer.
    RunsAreLinearizable,
    /// No other client holds a handoff under the same fencing token, and only its holder ends it.
    OneHolderPerFence,
    /// A lease lasts as long as it was granted for.
    LeasesLast,
    /// Every time is that of one clock.
    OneClock,
    /// Every subscriber receives every event once, in order.
    ReadersHearEverythingOnce,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeViolation {
    pub(crate) rule: NodeRule,
    pub(crate) what: String,
}

impl fmt::Display for NodeViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// Everything in the history that breaks a rule.
pub(crate) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut found = effects::violations(history);
    found.extend(order::violations(history));
    found.extend(holders::violations(history));
    found.extend(times::violations(history));
    found.extend(readers::violations(history));
    found
}

/// How much a history says: one in which everything failed keeps every rule.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HistoryCounts {
    pub(crate) n_acknowledged: u64,
    pub(crate) n_refused: u64,
    pub(crate) n_unknown: u64,
    pub(crate) by_node: BTreeMap<usize, u64>,
    pub(crate) by_kind: BTreeMap<&'static str, u64>,
    /// Why operations were not acknowledged.
    pub(crate) reasons: BTreeMap<String, u64>,
}

pub(crate) fn count(history: &ClusterHistory) -> HistoryCounts {
    let mut counts = HistoryCounts::default();
    for operation in &history.operations {
        match &operation.outcome {
            OperationOutcome::Acknowledged(_) => {
                counts.n_acknowledged += 1;
                *counts.by_node.entry(operation.node).or_default() += 1;
                let kind = operation.kind.event().unwrap_or("read");
                *counts.by_kind.entry(kind).or_default() += 1;
            }
            OperationOutcome::Refused { status, code } => {
                counts.n_refused += 1;
                *counts.reasons.entry(format!("refused: {status} {code}")).or_default() += 1;
            }
            OperationOutcome::Unknown(why) => {
                counts.n_unknown += 1;
                *counts.reasons.entry(format!("unknown: {why}")).or_default() += 1;
            }
        }
    }
    counts
}

//! What each command left in the log: once if it was acknowledged, at most once if its answer was lost, not at
//! all if it was refused.

use std::collections::HashMap;

use super::{NodeRule, NodeViolation};
use crate::nodes::operation::{
    ClientOperation, ClusterHistory, LoggedFact, OperationOutcome, ShownVersion,
};

pub(super) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut by_tag: HashMap<&str, Vec<&LoggedFact>> = HashMap::new();
    for event in &history.log {
        by_tag.entry(&event.by).or_default().push(event);
    }
    let mut found = gaps(history);
    for operation in &history.operations {
        let events = by_tag.get(operation.tag.as_str()).map_or(&[][..], Vec::as_slice);
        found.extend(judge(operation, events));
    }
    found
}

fn judge(operation: &ClientOperation, events: &[&LoggedFact]) -> Option<NodeViolation> {
    let name = operation.kind.event()?;
    let tag = &operation.tag;
    // The end of a run completes the handoff back to the orchestrator too: each counts for itself.
    let mut effects: HashMap<Option<u64>, usize> = HashMap::new();
    for event in events.iter().filter(|it| it.name == name) {
        *effects.entry(event.handoff).or_default() += 1;
    }
    let n_effects = effects.into_values().max().unwrap_or(0);
    let violation = |rule, what| Some(NodeViolation { rule, what });
    if n_effects > 1 {
        let what = format!("`{tag}` made {n_effects} events `{name}`");
        return violation(NodeRule::NothingHappensTwice, what);
    }
    match &operation.outcome {
        OperationOutcome::Unknown(_) => None,
        OperationOutcome::Refused { status, code } if n_effects > 0 => {
            let what = format!("`{tag}` was refused ({status} {code}), and is in the log");
            violation(NodeRule::RefusalsChangeNothing, what)
        }
        OperationOutcome::Refused { .. } => None,
        OperationOutcome::Acknowledged(answers) => {
            let first = answers.first()?;
            let is_other = |it: &&ShownVersion| (&it.run, it.fence) != (&first.run, first.fence);
            if let Some(other) = answers.iter().find(is_other) {
                let what = format!("`{tag}` got {first:?} and {other:?}");
                return violation(NodeRule::EqualKeysGetEqualAnswers, what);
            }
            let Some(last) = events.iter().max_by_key(|it| it.version) else {
                let what = format!("`{tag}` was acknowledged as {first:?}, and is not in the log");
                return violation(NodeRule::NothingIsLost, what);
            };
            if n_effects == 0 {
                let what = format!("`{tag}` was acknowledged, and made no event `{name}`");
                return violation(NodeRule::NothingIsLost, what);
            }
            let is_there = last.run == first.run && last.version <= first.version;
            let what = || {
                let (run, version) = (&last.run, last.version);
                format!("`{tag}` was acknowledged as {first:?}, and is version {version} of {run}")
            };
            if is_there { None } else { violation(NodeRule::VersionsCountEvents, what()) }
        }
    }
}

/// Each run has the versions from 1 on, in the order of the log, and positions only grow.
fn gaps(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut versions: HashMap<&str, u64> = HashMap::new();
    let mut last = 0;
    let mut found = Vec::new();
    let rule = NodeRule::VersionsCountEvents;
    for event in &history.log {
        let LoggedFact { position, run, version, .. } = event;
        if *position <= last {
            found.push(NodeViolation { rule, what: format!("position {position} after {last}") });
        }
        last = *position;
        let before = versions.entry(run).or_default();
        if *version != *before + 1 {
            let what = format!("version {version} of {run} after {before}");
            found.push(NodeViolation { rule, what });
        }
        *before = *version;
    }
    found
}

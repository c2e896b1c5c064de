//! Who holds a handoff: one client per fencing token, and no client ends what another holds.

use std::collections::HashMap;

use super::{NodeRule, NodeViolation};
use crate::nodes::operation::{ClusterHistory, OperationKind};

pub(super) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut found = two_holders(history);
    found.extend(lost_holders(history));
    found
}

/// Two clients were answered that they hold the same.
fn two_holders(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut holders: HashMap<(&str, &str, u64), &str> = HashMap::new();
    let mut found = Vec::new();
    for operation in &history.operations {
        let OperationKind::Accept { handoff, .. } = &operation.kind else { continue };
        let Some(answer) = operation.acknowledgement() else { continue };
        let Some(fence) = answer.fence else { continue };
        let (tag, held) = (operation.tag.as_str(), (answer.run.as_str(), handoff.as_str(), fence));
        if let Some(other) = holders.insert(held, tag) {
            let what = format!("`{other}` and `{tag}` both hold {handoff} under {fence}");
            found.push(NodeViolation { rule: NodeRule::OneHolderPerFence, what });
        }
    }
    found
}

/// The log: fencing tokens of a handoff only grow, and who completes or releases has the newest, which
/// was not lost.
fn lost_holders(history: &ClusterHistory) -> Vec<NodeViolation> {
    let rule = NodeRule::OneHolderPerFence;
    let used: HashMap<&str, u64> = history
        .operations
        .iter()
        .filter_map(|it| match it.kind {
            OperationKind::Complete { fence, .. } | OperationKind::Release { fence, .. } => {
                Some((it.tag.as_str(), fence))
            }
            OperationKind::Start
            | OperationKind::Accept { .. }
            | OperationKind::Post
            | OperationKind::Read => None,
        })
        .collect();
    let mut newest: HashMap<(&str, u64), u64> = HashMap::new();
    let mut lost: HashMap<(&str, u64), u64> = HashMap::new();
    let mut found = Vec::new();
    for event in &history.log {
        let Some(no) = event.handoff else { continue };
        let handoff = (event.run.as_str(), no);
        match (event.name.as_str(), event.fence) {
            ("lease.granted", Some(fence)) => {
                let before = newest.insert(handoff, fence);
                if let Some(before) = before.filter(|it| *it >= fence) {
                    let what = format!("handoff {no} of {} has {fence} after {before}", event.run);
                    found.push(NodeViolation { rule, what });
                }
            }
            ("lease.lost", Some(fence)) => {
                lost.insert(handoff, fence);
            }
            ("handoff.completed" | "handoff.released", _) => {
                let (Some(used), Some(newest)) =
                    (used.get(event.by.as_str()), newest.get(&handoff))
                else {
                    continue;
                };
                if used != newest || lost.get(&handoff) == Some(used) {
                    let what = format!(
                        "`{}` made `{}` of handoff {no} of {} with {used}, which is not its holder's",
                        event.by, event.name, event.run
                    );
                    found.push(NodeViolation { rule, what });
                }
            }
            _ => {}
        }
    }
    found
}

//! Time: everything that happened is dated by one clock, whatever the nodes' own clocks say, and by that
//! clock no lease ends early.

use std::collections::HashMap;
use std::time::Duration;

use jiff::SignedDuration;

use super::{NodeRule, NodeViolation};
use crate::nodes::operation::{ClusterHistory, OperationKind};

/// How far a node's measurement of the database's clock may be off, on a machine that is busy.
const TOLERANCE: SignedDuration = SignedDuration::from_millis(1_500);

pub(super) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let mut found = wrong_clocks(history);
    found.extend(early_ends(history));
    found
}

/// An event is dated between its request and the end of the operation.
fn wrong_clocks(history: &ClusterHistory) -> Vec<NodeViolation> {
    let operations: HashMap<&str, _> = history
        .operations
        .iter()
        .filter(|it| it.acknowledgement().is_some())
        .map(|it| (it.tag.as_str(), (it.invoked, it.ended)))
        .collect();
    let mut found = Vec::new();
    for event in &history.log {
        let Some((invoked, ended)) = operations.get(event.by.as_str()) else { continue };
        let since = event.at.duration_since(history.began);
        let is_early = since < signed(*invoked) - TOLERANCE;
        if is_early || since > signed(*ended) + TOLERANCE {
            let what = format!(
                "`{}` of `{}` is dated {:.3} s, though it was asked for at {:.3} s and done at {:.3} s",
                event.name,
                event.by,
                since.as_secs_f64(),
                invoked.as_secs_f64(),
                ended.as_secs_f64()
            );
            found.push(NodeViolation { rule: NodeRule::OneClock, what });
        }
    }
    found
}

/// A lease that was granted lasts at least that long, heartbeats or not.
fn early_ends(history: &ClusterHistory) -> Vec<NodeViolation> {
    let granted: HashMap<&str, (Duration, Duration)> = history
        .operations
        .iter()
        .filter_map(|it| match it.kind {
            OperationKind::Accept { lease, .. } => Some((it.tag.as_str(), (it.invoked, lease))),
            OperationKind::Start
            | OperationKind::Complete { .. }
            | OperationKind::Release { .. }
            | OperationKind::Post
            | OperationKind::Read => None,
        })
        .collect();
    let mut holders: HashMap<(&str, u64, u64), &str> = HashMap::new();
    let mut found = Vec::new();
    for event in &history.log {
        let (Some(no), Some(fence)) = (event.handoff, event.fence) else { continue };
        let held = (event.run.as_str(), no, fence);
        match event.name.as_str() {
            "lease.granted" => {
                holders.insert(held, &event.by);
            }
            "lease.lost" => {
                let holder = holders.get(&held).copied().unwrap_or_default();
                let Some((invoked, lease)) = granted.get(holder) else { continue };
                let until = signed(*invoked) + signed(*lease) - TOLERANCE;
                let lost = event.at.duration_since(history.began);
                if lost < until {
                    let what = format!(
                        "`{holder}` lost handoff {no} of {} after {:.3} s of {:.3} s",
                        event.run,
                        (lost - signed(*invoked)).as_secs_f64(),
                        lease.as_secs_f64()
                    );
                    found.push(NodeViolation { rule: NodeRule::LeasesLast, what });
                }
            }
            _ => {}
        }
    }
    found
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

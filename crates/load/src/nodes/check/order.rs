//! Linearizability of each run. A run's state is its version, every answer has one, and the log is the
//! order of the writes: so it is enough to compare versions along time.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;

use super::{NodeRule, NodeViolation};
use crate::nodes::operation::{ClientOperation, ClusterHistory, OperationKind};

/// An operation that was acknowledged.
struct HistoryPoint<'a> {
    operation: &'a ClientOperation,
    /// What its answer shows.
    shown: u64,
    /// What it made, by the log; of a read, what it shows.
    version: u64,
}

pub(super) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let writers = Writers::of(history);
    let mut runs: HashMap<&str, Vec<HistoryPoint<'_>>> = HashMap::new();
    for operation in &history.operations {
        if let Some(answer) = operation.acknowledgement() {
            let shown = answer.version;
            let made = writers.made.get(operation.tag.as_str()).copied();
            let point = HistoryPoint { operation, shown, version: made.unwrap_or(shown) };
            runs.entry(&answer.run).or_default().push(point);
        }
    }
    let mut found = Vec::new();
    for (run, mut points) in runs {
        points.sort_by_key(|it| it.operation.invoked);
        found.extend(too_old(run, &points));
        found.extend(points.iter().filter_map(|it| writers.too_new(run, it)));
    }
    found
}

/// An operation that began when another had ended comes after it.
fn too_old(run: &str, points: &[HistoryPoint<'_>]) -> Vec<NodeViolation> {
    let mut ended: Vec<&HistoryPoint<'_>> = points.iter().collect();
    ended.sort_by_key(|it| it.operation.ended);
    let mut ended = ended.into_iter().peekable();
    let mut newest: Option<&HistoryPoint<'_>> = None;
    let mut found = Vec::new();
    for point in points {
        while let Some(before) = ended.next_if(|it| it.operation.ended < point.operation.invoked) {
            if newest.is_none_or(|it| it.shown < before.shown) {
                newest = Some(before);
            }
        }
        let Some(newest) = newest else { continue };
        let is_read = point.operation.kind == OperationKind::Read;
        let is_behind = point.version > newest.shown || is_read && point.version == newest.shown;
        if !is_behind {
            let (tag, version) = (&point.operation.tag, point.version);
            let what = format!(
                "`{tag}` has version {version} of {run}, though `{}` had {} before it began",
                newest.operation.tag, newest.shown
            );
            found.push(NodeViolation { rule: NodeRule::RunsAreLinearizable, what });
        }
    }
    found
}

/// Who made which version, and when that can have been at the earliest.
struct Writers<'a> {
    /// Who made the last event of each command and when, by run and version.
    ends: HashMap<(&'a str, u64), (&'a str, Timestamp)>,
    /// The last version of each operation.
    made: HashMap<&'a str, u64>,
    invoked: HashMap<&'a str, Duration>,
    runs: HashSet<&'a str>,
}

impl<'a> Writers<'a> {
    fn of(history: &'a ClusterHistory) -> Self {
        let mut ends: HashMap<(&str, u64), (&str, Timestamp)> = HashMap::new();
        let mut made = HashMap::new();
        let mut runs = HashSet::new();
        for event in &history.log {
            let run = event.run.as_str();
            runs.insert(run);
            // A command's events follow each other at one time: the one before was not its last.
            let command = (event.by.as_str(), event.at);
            let before = (run, event.version.saturating_sub(1));
            if ends.get(&before) == Some(&command) {
                ends.remove(&before);
            }
            ends.insert((run, event.version), command);
            made.insert(event.by.as_str(), event.version);
        }
        let invoked = history.operations.iter().map(|it| (it.tag.as_str(), it.invoked)).collect();
        Self { ends, made, invoked, runs }
    }

    /// What an operation saw had been asked for before it ended, and was whole.
    fn too_new(&self, run: &str, point: &HistoryPoint<'_>) -> Option<NodeViolation> {
        // Of a run that is not in the log at all, the acknowledgements are lost.
        self.runs.get(run)?;
        let (tag, version) = (&point.operation.tag, point.shown);
        let violation = |what| Some(NodeViolation { rule: NodeRule::RunsAreLinearizable, what });
        let Some((writer, _)) = self.ends.get(&(run, version)) else {
            return violation(format!(
                "`{tag}` has version {version} of {run}, which no command left"
            ));
        };
        let began = self.invoked.get(writer)?;
        if *began <= point.operation.ended {
            return None;
        }
        violation(format!(
            "`{tag}` has version {version} of {run} before `{writer}` began to make it"
        ))
    }
}

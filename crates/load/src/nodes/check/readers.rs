//! Subscribers: each receives every event behind its beginning once, in the order of the log, whichever
//! nodes it was connected to; and all receive the same messages of an event.

use std::collections::{BTreeMap, BTreeSet};

use super::{NodeRule, NodeViolation};
use crate::nodes::operation::{ClusterHistory, ReaderRecord};

/// More of one reader say nothing new.
const MOST: usize = 3;

pub(super) fn violations(history: &ClusterHistory) -> Vec<NodeViolation> {
    let logged: BTreeSet<u64> = history.log.iter().map(|it| it.position).collect();
    let mut n_messages: BTreeMap<u64, u64> = BTreeMap::new();
    for (position, part) in history.readers.iter().flat_map(|it| &it.heard) {
        let most = n_messages.entry(*position).or_default();
        *most = (*most).max(part + 1);
    }
    let found = history.readers.iter().flat_map(|it| of_reader(it, &logged, &n_messages));
    found.map(|what| NodeViolation { rule: NodeRule::ReadersHearEverythingOnce, what }).collect()
}

fn of_reader(
    reader: &ReaderRecord,
    logged: &BTreeSet<u64>,
    n_messages: &BTreeMap<u64, u64>,
) -> Vec<String> {
    let ReaderRecord { name, after, heard, n_resets, .. } = reader;
    let mut found = Vec::new();
    if *n_resets > 0 {
        found.push(format!("{name} was reset {n_resets} times"));
    }
    let backward = heard.windows(2).filter(|it| it[0] >= it[1]);
    found.extend(
        backward.take(MOST).map(|it| format!("{name} heard {:?} after {:?}", it[1], it[0])),
    );
    let received: BTreeSet<(u64, u64)> = heard.iter().copied().collect();
    let invented = received.iter().filter(|(position, _)| !logged.contains(position));
    found.extend(
        invented.take(MOST).map(|it| format!("{name} heard {it:?}, which is not in the log")),
    );
    let missed = logged.range(after + 1..).flat_map(|position| {
        // Every event has a message, also one that no reader has heard.
        let n_messages = n_messages.get(position).copied().unwrap_or(1);
        (0..n_messages).map(|part| (*position, part))
    });
    let missed: Vec<_> = missed.filter(|it| !received.contains(it)).collect();
    if let (Some(first), Some(last)) = (missed.first(), missed.last()) {
        let n_missed = missed.len();
        found.push(format!("{name} missed {n_missed} messages, from {first:?} to {last:?}"));
    }
    found
}

//! Rebuilds a run by replaying its events: everything that a store keeps of it follows from them,
//! except the numbers that the store assigned.

use baton_core::event::{Event, HandoffEvent, replay};
use baton_core::hash::Hash;
use baton_core::run::{Run, RunId};
use baton_store::{HandoffRow, RunRow, TimerRow, Version};
use jiff::Timestamp;

use crate::handoff_rows;
use crate::timers::timer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltRun {
    pub row: RunRow,
    /// In order; the store assigns their numbers, which are 0 here.
    pub handoffs: Vec<HandoffRow>,
    /// Leases get their full period again: heartbeats could not arrive meanwhile.
    pub timers: Vec<TimerRow>,
}

/// The run that `events` describe; `head` is the hash of the last one. None where they do not begin
/// with the start of a run.
pub fn rebuild_run(
    id: RunId,
    number: u64,
    head: Hash,
    events: &[(Event, Timestamp)],
    now: Timestamp,
) -> Option<RebuiltRun> {
    let run = replay(id, events.iter().cloned())?;
    let row = RunRow { number, version: Version(events.len() as u64), head, run };
    let handoffs = handoff_rows(&row.run, events.iter().map(|(event, at)| (event, *at)));
    let timers = row.run.handoffs.iter().filter_map(|it| {
        let timer = timer(it)?;
        Some(TimerRow { run: id, no: it.no, what: timer.kind(), due: timer.due(now) })
    });
    let timers = timers.collect();
    Some(RebuiltRun { row, handoffs, timers })
}

/// The handoff rows that follow from the events. The store assigns their numbers.
pub(crate) fn handoff_rows<'a>(
    run: &Run,
    events: impl IntoIterator<Item = (&'a Event, Timestamp)>,
) -> Vec<HandoffRow> {
    let mut rows: Vec<HandoffRow> = Vec::new();
    for (event, at) in events {
        if let Event::Handoff(HandoffEvent::Created(created)) = event {
            rows.push(HandoffRow::opened(run, created, at));
        }
        // From the end: an event is nearly always about one of the newest handoffs.
        let handoff = event.handoff().and_then(|no| rows.iter_mut().rev().find(|it| it.no == no));
        if let Some(handoff) = handoff {
            handoff_rows::apply(handoff, event, at);
        }
    }
    rows
}

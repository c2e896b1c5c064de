//! A run made again from its events: all that a store keeps of it follows from them, but for the
//! numbers that it was given.

use baton_core::content::ContentId;
use baton_core::event::{Event, replay};
use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_store::{HandoffChange, HandoffRow, RunRow, TimerRow, Version};
use jiff::Timestamp;

use crate::append::needs_notification;
use crate::history::named::{NamedAs, named};
use crate::timers::timer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltRun {
    pub row: RunRow,
    /// In their order; their numbers are the store's to give, and 0 here.
    pub handoffs: Vec<HandoffRow>,
    /// Leases have their full time again: who has one could not be heard of meanwhile.
    pub timers: Vec<TimerRow>,
}

/// The run that `events` tell of, `head` being the hash of the last. None where they do not begin
/// with its start.
pub fn rebuild_run(
    id: RunId,
    number: u64,
    head: Hash,
    events: &[(Event, Timestamp)],
    now: Timestamp,
) -> Option<RebuiltRun> {
    let run = replay(id, events.iter().cloned())?;
    let row = RunRow { number, version: Version(events.len() as u64), head, run };
    let handoffs = handoff_rows(&row, events);
    let timers = row.run.handoffs.iter().filter_map(|it| {
        let timer = timer(it)?;
        Some(TimerRow { run: id, no: it.no, what: timer.kind(), due: timer.due(now) })
    });
    let timers = timers.collect();
    Some(RebuiltRun { row, handoffs, timers })
}

/// The rows of the handoffs that follow from the events. Numbers are the store's to give.
fn handoff_rows(row: &RunRow, events: &[(Event, Timestamp)]) -> Vec<HandoffRow> {
    let mut rows: Vec<HandoffRow> = Vec::new();
    for (event, at) in events {
        if let Event::HandoffCreated(created) = event {
            rows.push(HandoffRow::opened(0, &row.run, created, *at));
        }
        // From the end: nearly always it is about one of the last.
        let handoff = event.handoff().and_then(|no| rows.iter_mut().rev().find(|it| it.no == no));
        if let Some(handoff) = handoff {
            follow(handoff, event, row, *at);
        }
    }
    rows
}

/// Changes the row of a handoff as an event about it does.
pub(crate) fn follow(handoff: &mut HandoffRow, event: &Event, row: &RunRow, at: Timestamp) {
    if let Event::HandoffStale { .. } = event {
        // A mark on the state of that moment, which is not the state of today.
        handoff.is_stale = true;
    } else if let Some(HandoffChange::Moved(moved)) = crate::append::change(event, &row.run) {
        handoff.make_move(&moved, at);
    }
}

/// Whether the world outside is to be told of an event.
pub fn is_promised(event: &Event) -> bool {
    needs_notification(event)
}

/// The texts that an event names, and what it takes each for.
pub fn texts_named_by(event: &Event) -> Vec<(ContentId, NamedAs)> {
    named(event)
}

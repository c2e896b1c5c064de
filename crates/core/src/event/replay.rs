//! A run from its log.

use jiff::Timestamp;

use super::evolve::evolve;
use super::{Event, RunEvent};
use crate::run::{Run, RunId};

/// The run that results from `events`, or `None` where they do not begin with its start.
pub fn replay(id: RunId, events: impl IntoIterator<Item = (Event, Timestamp)>) -> Option<Run> {
    let mut events = events.into_iter();
    let (first, at) = events.next()?;
    let Event::Run(RunEvent::Started {
        story,
        workflow,
        pin,
        owner,
        start,
        has_gates,
        has_checks,
        mode,
        budget,
    }) = first
    else {
        return None;
    };
    let run = Run::new(id, story, workflow, pin, owner, start, at);
    let mut run = Run { mode, budget, ..run };
    run.record_gates(has_gates, has_checks);
    for (event, at) in events {
        evolve(&mut run, &event, at);
    }
    Some(run)
}

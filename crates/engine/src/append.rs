//! Turns a decision into what the store appends: encoded and hash-chained events, and the changed
//! rows.

use baton_core::decide::{Decision, due_at};
use baton_core::event::{Event, HandoffEvent};
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{HandoffNo, HandoffState, Run, State};
use baton_core::workflow::Workflow;
use baton_store::{
    Append, DueChange, EventRecord, HandoffChange, HandoffMove, HandoffRow, Version,
};
use baton_wire::event;
use jiff::Timestamp;

use crate::timers;

/// Fills in everything except what only the caller knows: number, story, definition and answer.
/// `before` is the run that the decision was made on, if there was one.
pub(crate) fn append(
    decision: Decision,
    before: Option<&Run>,
    workflow: &Workflow,
    expected: Version,
    head: Hash,
    by: &Principal,
    at: Timestamp,
) -> Append {
    let Decision { run, events, contents, .. } = decision;
    let mut head = head;
    let mut records = Vec::with_capacity(events.len());
    for (index, it) in events.iter().enumerate() {
        let body = event::encode(it);
        let version = expected.0 + index as u64 + 1;
        head = event::link(&head, run.id, version, at, by, &body);
        records.push(EventRecord { name: it.name(), by: by.clone(), body, hash: head });
    }
    Append {
        expected,
        number: None,
        handoffs: events.iter().filter_map(|it| change(it, &run)).collect(),
        timers: timers::changes(before.map_or(&[], |it| &it.handoffs), &run.handoffs, at),
        waiting: Append::change_of_waiting(before, &run),
        blocked: Append::change_of_blocked(before, &run),
        due: DueChange::between(
            before.and_then(|it| due_at(workflow, it)),
            due_at(workflow, &run),
            run.is_finished(),
        ),
        story_status: Append::change_of_status(before, &run),
        run,
        outbox: events
            .iter()
            .filter(|it| it.needs_notification())
            .map(|it| it.name().to_owned())
            .collect(),
        events: records,
        contents,
        story: None,
        definition: None,
        answered: None,
        at,
    }
}

/// The state after `events` of every handoff that they touch.
pub(crate) fn touched(changes: &[HandoffChange]) -> Vec<(HandoffNo, HandoffState)> {
    let mut touched: Vec<(HandoffNo, HandoffState)> = Vec::new();
    for change in changes {
        let (no, state) = match change {
            HandoffChange::Opened(created) => (created.handoff, HandoffState::Open(State::Pending)),
            HandoffChange::Moved(moved) => (moved.no, moved.state),
        };
        match touched.iter_mut().find(|(it, _)| *it == no) {
            Some((_, it)) => *it = state,
            None => touched.push((no, state)),
        }
    }
    touched
}

/// The known rows of a run after `changes`, and those that were touched.
pub(crate) fn changed_rows(
    before: &[HandoffRow],
    run: &Run,
    changes: &[HandoffChange],
    numbers: &[(HandoffNo, u64)],
    at: Timestamp,
) -> (Vec<HandoffRow>, Vec<HandoffRow>) {
    let mut rows = before.to_vec();
    let mut touched: Vec<HandoffNo> = Vec::new();
    for change in changes {
        match change {
            HandoffChange::Opened(created) => {
                let number = numbers.iter().find(|(no, _)| *no == created.handoff);
                let Some((no, number)) = number else { continue };
                rows.push(HandoffRow::opened(*number, run, created, at));
                touched.push(*no);
            }
            HandoffChange::Moved(moved) => {
                if let Some(row) = rows.iter_mut().find(|it| it.no == moved.no) {
                    row.make_move(moved, at);
                    touched.push(moved.no);
                }
            }
        }
    }
    let touched = rows.iter().filter(|it| touched.contains(&it.no)).cloned().collect();
    (rows, touched)
}

pub(crate) fn change(event: &Event, run: &Run) -> Option<HandoffChange> {
    let moved = |no: HandoffNo, state| HandoffMove {
        no,
        state,
        is_stale: false,
        outcome: None,
        ended_reason: None,
        acknowledgement: None,
    };
    if let Event::Handoff(HandoffEvent::Created(created)) = event {
        return Some(HandoffChange::Opened(created.clone()));
    }
    if let Event::Handoff(HandoffEvent::Stale { handoff }) = event {
        let state = HandoffState::Open(run.handoff(*handoff)?.state);
        return Some(HandoffChange::Moved(HandoffMove {
            is_stale: true,
            ..moved(*handoff, state)
        }));
    }
    // It was pending already.
    if let Event::Handoff(HandoffEvent::Woken { .. }) = event {
        return None;
    }
    let moved = moved(event.handoff()?, event.state_after()?);
    let texts = event.texts();
    let mut outcome = None;
    if let Event::Handoff(HandoffEvent::Completed { outcome: how, .. }) = event {
        outcome = Some(*how);
    }
    let ended_reason = if moved.state.is_open() { None } else { texts.words };
    let acknowledgement = texts.acknowledgement;
    Some(HandoffChange::Moved(HandoffMove { outcome, ended_reason, acknowledgement, ..moved }))
}

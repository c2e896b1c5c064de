//! Turns a decision into what the store appends: encoded and hash-chained events, and the changed
//! rows.

use baton_core::decide::{Decision, due_at};
use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{Ended, HandoffNo, HandoffState, Kind, Run, State};
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
            .filter(|it| needs_notification(it))
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
    let ended = |no, how| moved(no, HandoffState::Ended(how));
    Some(HandoffChange::Moved(match event {
        Event::HandoffCreated(created) => return Some(HandoffChange::Opened(created.clone())),
        Event::HandoffAccepted { handoff, acknowledgement, .. } => HandoffMove {
            acknowledgement: *acknowledgement,
            ..moved(*handoff, HandoffState::Open(State::Accepted))
        },
        Event::HandoffRejected { handoff, reason, .. } => {
            HandoffMove { ended_reason: Some(*reason), ..ended(*handoff, Ended::Rejected) }
        }
        Event::HandoffCompleted { handoff, outcome, answer, .. } => HandoffMove {
            outcome: Some(*outcome),
            ended_reason: *answer,
            ..ended(*handoff, Ended::Completed)
        },
        Event::HandoffClarified { handoff, .. } => {
            moved(*handoff, HandoffState::Open(State::Clarification))
        }
        Event::HandoffAnswered { handoff, .. } | Event::HandoffReleased { handoff, .. } => {
            moved(*handoff, HandoffState::Open(State::Pending))
        }
        Event::FrameOpened { caller } => moved(*caller, HandoffState::Open(State::Parked)),
        Event::FrameClosed { caller, .. } => moved(*caller, HandoffState::Open(State::Accepted)),
        Event::HandoffTimedOut { handoff, reason } => {
            HandoffMove { ended_reason: *reason, ..ended(*handoff, Ended::TimedOut) }
        }
        Event::HandoffCancelled { handoff, reason } => {
            HandoffMove { ended_reason: *reason, ..ended(*handoff, Ended::Cancelled) }
        }
        Event::HandoffSuperseded { handoff, reason } => {
            HandoffMove { ended_reason: *reason, ..ended(*handoff, Ended::Superseded) }
        }
        Event::HandoffStale { handoff } => {
            let state = run.handoff(*handoff)?.state;
            HandoffMove { is_stale: true, ..moved(*handoff, HandoffState::Open(state)) }
        }
        Event::RoundCounted { .. }
        | Event::RunStarted { .. }
        | Event::RunAdopted { .. }
        | Event::RunPaused { .. }
        | Event::RunResumed
        | Event::RunCancelled { .. }
        | Event::RunCompleted
        | Event::StepStarted { .. }
        | Event::StepCompleted { .. }
        | Event::StepSkipped { .. }
        | Event::GateOpened { .. }
        | Event::GateAnswered { .. }
        | Event::HandoffWoken { .. }
        | Event::LeaseGranted { .. }
        | Event::LeaseLost { .. }
        | Event::LeaseReleased { .. }
        | Event::GatePassed { .. }
        | Event::GateWaived { .. }
        | Event::GateLost { .. }
        | Event::GateCarried { .. }
        | Event::EvidenceRecorded { .. }
        | Event::SignalPassed
        | Event::SignalMerged { .. }
        | Event::MessagePosted { .. }
        | Event::BlockerRaised { .. }
        | Event::BlockerResolved { .. }
        | Event::BlockerWaived { .. }
        | Event::BatonLoose { .. } => return None,
    }))
}

/// Events that a person or another system may want to be notified of: someone has to act, or
/// something has ended.
pub(crate) fn needs_notification(event: &Event) -> bool {
    match event {
        Event::GateOpened { .. }
        | Event::BatonLoose { .. }
        | Event::LeaseLost { .. }
        | Event::RunCompleted
        | Event::RunCancelled { .. } => true,
        Event::HandoffCreated(created) => {
            created.kind == Kind::Question && created.to.agent.is_human()
        }
        Event::RunStarted { .. }
        | Event::RunAdopted { .. }
        | Event::RunPaused { .. }
        | Event::RunResumed
        | Event::HandoffAccepted { .. }
        | Event::HandoffRejected { .. }
        | Event::RoundCounted { .. }
        | Event::HandoffCompleted { .. }
        | Event::HandoffTimedOut { .. }
        | Event::HandoffCancelled { .. }
        | Event::HandoffSuperseded { .. }
        | Event::HandoffStale { .. }
        | Event::StepStarted { .. }
        | Event::StepCompleted { .. }
        | Event::StepSkipped { .. }
        | Event::HandoffClarified { .. }
        | Event::HandoffAnswered { .. }
        | Event::HandoffReleased { .. }
        | Event::FrameOpened { .. }
        | Event::FrameClosed { .. }
        | Event::HandoffWoken { .. }
        | Event::LeaseGranted { .. }
        | Event::LeaseReleased { .. }
        | Event::GatePassed { .. }
        | Event::GateWaived { .. }
        | Event::GateLost { .. }
        | Event::GateCarried { .. }
        | Event::EvidenceRecorded { .. }
        | Event::SignalPassed
        | Event::SignalMerged { .. }
        | Event::MessagePosted { .. }
        | Event::BlockerRaised { .. }
        | Event::BlockerResolved { .. }
        | Event::BlockerWaived { .. }
        | Event::GateAnswered { .. } => false,
    }
}

//! Turns a decision into what the store appends: encoded and hash-chained events, and the changed
//! rows.

use baton_core::decide::{Decision, due_at};
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::Run;
use baton_core::workflow::Workflow;
use baton_store::{Append, DueChange, EventRecord, Version};
use baton_wire::event;
use jiff::Timestamp;

use crate::timers;

/// Fills in everything except what only the caller knows: number, rows, story,
/// definition and answer.
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
    let Decision { run, events, contents, dropped, .. } = decision;
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
        opened: Vec::new(),
        changed: Vec::new(),
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
        dropped,
        contents,
        story: None,
        definition: None,
        answered: None,
        at,
    }
}

//! One append as rows, with as few statements as possible.

use std::sync::Arc;

use baton_core::hash::Hash;
use baton_store::{Append, AppendError, Appended, StoreError, Version};
use baton_wire::event::encode_run;
use jiff::Timestamp;

use crate::columns::nanoseconds;
use crate::error::{damaged, to_append};
use crate::run_lists::RunList;
use crate::statements::Statements;
use crate::stories::PreparedStory;
use crate::{
    contents, definitions, due, events, handoffs, idempotency, outbox, run_lists, runs, stories,
    timers,
};

/// An append with everything precomputed that the writer thread need not do.
pub(crate) struct Prepared {
    pub(crate) append: Arc<Append>,
    pub(crate) version: Version,
    /// Hash of the last event.
    pub(crate) head: Hash,
    /// The run, encoded.
    pub(crate) state: String,
    pub(crate) story: Option<PreparedStory>,
    pub(crate) at: i64,
    pub(crate) started_at: i64,
    pub(crate) moved_at: i64,
    pub(crate) answered_at: i64,
}

pub(crate) fn prepare(append: Arc<Append>) -> Result<Prepared, StoreError> {
    let Some(last) = append.events.last() else {
        return Err(damaged("an append without events"));
    };
    let answered_at: Option<Timestamp> = append.answered.as_ref().map(|it| it.at);
    let at = nanoseconds(append.at)?;
    Ok(Prepared {
        version: Version(append.expected.0 + append.events.len() as u64),
        head: last.hash,
        state: encode_run(&append.run),
        story: append.story.as_ref().map(|it| PreparedStory::new(it, at)),
        at,
        started_at: nanoseconds(append.run.started_at)?,
        moved_at: nanoseconds(append.run.moved_at)?,
        answered_at: nanoseconds(answered_at.unwrap_or(append.at))?,
        append,
    })
}

/// Writes all of it, or fails; the caller rolls back a partial write.
pub(crate) fn append(
    statements: &impl Statements,
    prepared: &Prepared,
) -> Result<Appended, AppendError> {
    let Prepared { append, at, .. } = prepared;
    if let Some(answered) = &append.answered {
        idempotency::refuse_repeated(statements, answered)?;
    }
    // The first write, and the one that may well fail: after it, only damage makes a write fail.
    let run_number = match append.expected {
        Version::NONE => runs::add(statements, prepared)?,
        Version(_) => runs::change(statements, prepared)?,
    };
    if let Some(answered) = &append.answered {
        idempotency::add(statements, answered, prepared.answered_at).map_err(to_append)?;
    }
    contents::drop_texts(statements, run_number, &append.dropped).map_err(to_append)?;
    for content in &append.contents {
        contents::add(statements, run_number, content).map_err(to_append)?;
    }
    let is_new_story = match &prepared.story {
        Some(story) => stories::add(statements, story, *at).map_err(to_append)?,
        None => false,
    };
    if let Some(definition) = &append.definition {
        definitions::add(statements, definition).map_err(to_append)?;
    }
    for about in &append.outbox {
        outbox::add(statements, run_number, about, *at).map_err(to_append)?;
    }
    let position = events::add(statements, run_number, append.expected, *at, &append.events)
        .map_err(to_append)?;
    let mut numbers = Vec::with_capacity(append.opened.len());
    for row in &append.opened {
        numbers.push((row.no, handoffs::add(statements, run_number, row)?));
    }
    for row in &append.changed {
        handoffs::change(statements, run_number, row)?;
    }
    for change in &append.timers {
        timers::change(statements, append.run.id, run_number, change)?;
    }
    if let Some(is_waiting) = append.waiting {
        run_lists::change(statements, RunList::Waiting, run_number, is_waiting)
            .map_err(to_append)?;
    }
    if let Some(is_blocked) = append.blocked {
        run_lists::change(statements, RunList::Blocked, run_number, is_blocked)
            .map_err(to_append)?;
    }
    due::change(statements, append.run.id, run_number, append.due)?;
    // A story that was added after the run has its status already.
    if let Some(status) = append.story_status
        && !is_new_story
    {
        stories::run_is(statements, &append.run.story, status).map_err(to_append)?;
    }
    let run_number = run_number.unsigned_abs();
    Ok(Appended { version: prepared.version, run_number, position, numbers })
}

//! One append as one statement: its parts are common table expressions that all hang on the row of
//! the run, which is changed only at the version that the decision was based on. So an append is one
//! round trip, and all of it or nothing.

use std::sync::Arc;

use baton_core::hash::Hash;
use baton_store::{Append, AppendError, Appended, Position, StoreError, Version};
use baton_wire::event::encode_run;
use tokio_postgres::Row;

use crate::columns::{Columns, nanoseconds};
use crate::error::{damaged, is_deadlock, violated_index};
use crate::query::{Connections, SqlQuery};
use crate::run_lists::ListedRuns;
use crate::{
    contents, definitions, due, events, handoffs, idempotency, outbox, run_lists, runs, stories,
    timers,
};

/// How often a statement is sent again that the database gave up because of a deadlock.
const MOST_TRIES: u32 = 5;

/// An append with what is derived from it.
pub(crate) struct PreparedAppend<'a> {
    pub(crate) append: &'a Append,
    pub(crate) version: Version,
    /// Hash of the last event.
    pub(crate) head: Hash,
    /// The run, encoded.
    pub(crate) state: String,
    pub(crate) at: i64,
}

pub(crate) async fn append(
    connections: &Connections,
    append: Arc<Append>,
) -> Result<Appended, AppendError> {
    let Some(last) = append.events.last() else {
        return Err(damaged("an append without events").into());
    };
    if append.events.len() >= events::MOST_EVENTS {
        return Err(damaged("an append with too many events for one transaction").into());
    }
    let prepared = PreparedAppend {
        append: &append,
        version: Version(append.expected.0 + append.events.len() as u64),
        head: last.hash,
        state: encode_run(&append.run),
        at: nanoseconds(append.at)?,
    };
    let query = statement(&prepared)?;
    for _ in 1..MOST_TRIES {
        match connections.try_rows(&query).await? {
            Err(error) if is_deadlock(&error) => {}
            result => return answer(connections, &prepared, result).await,
        }
    }
    let result = connections.try_rows(&query).await?;
    answer(connections, &prepared, result).await
}

/// The statement, with the parts that this append has: most have few.
fn statement<'a>(prepared: &'a PreparedAppend<'a>) -> Result<SqlQuery<'a>, StoreError> {
    let PreparedAppend { append, at, .. } = prepared;
    let mut query = SqlQuery::new("with ");
    match append.expected {
        Version::NONE => runs::add(&mut query, prepared)?,
        Version(_) => runs::change(&mut query, prepared)?,
    }
    if let Some(answered) = &append.answered {
        idempotency::add(&mut query, answered)?;
    }
    contents::drop_texts(&mut query, &append.dropped);
    contents::add(&mut query, &append.contents);
    if let Some(story) = &append.story {
        stories::add_with_run(&mut query, story, append.run.status, *at);
    }
    if let Some(status) = append.story_status {
        stories::run_is(&mut query, &append.run.story, status);
    }
    if let Some(definition) = &append.definition {
        definitions::add(&mut query, definition);
    }
    outbox::add(&mut query, &append.outbox, *at);
    events::add(&mut query, append.expected, *at, &append.events);
    handoffs::add(&mut query, &append.opened)?;
    handoffs::change(&mut query, &append.changed)?;
    timers::change(&mut query, append.run.id, &append.timers)?;
    if let Some(is_waiting) = append.waiting {
        run_lists::change(&mut query, ListedRuns::Waiting, is_waiting);
    }
    if let Some(is_blocked) = append.blocked {
        run_lists::change(&mut query, ListedRuns::Blocked, is_blocked);
    }
    due::change(&mut query, append.run.id, append.due)?;
    let opened = match append.opened.is_empty() {
        true => "null::integer[] as nos, null::bigint[] as numbers",
        false => {
            "(select array_agg(no order by number) from opened) as nos,
             (select array_agg(number order by number) from opened) as numbers"
        }
    };
    query.sql.push_str(&format!(
        " select moved.number, coalesce(
             (select max(position) from added_events),
             refuse_append('the table `identity` has no row')
         ) as position, {opened}{}
         from moved",
        handoffs::demand_changed(append.changed.len()),
    ));
    Ok(query)
}

async fn answer(
    connections: &Connections,
    prepared: &PreparedAppend<'_>,
    result: Result<Vec<Row>, tokio_postgres::Error>,
) -> Result<Appended, AppendError> {
    let append = prepared.append;
    let refusal = match result {
        Ok(rows) => match rows.first() {
            Some(row) => return appended(prepared, row).map_err(AppendError::Store),
            None => match append.expected {
                // No run to compare with: only its number can be missing.
                Version::NONE => damaged("the last number given to a run is not there").into(),
                // The run is not at that version.
                Version(_) => AppendError::Conflict,
            },
        },
        Err(error) => match violated_index(&error) {
            Some("runs_by_id") => AppendError::Conflict,
            Some("runs_open_by_story") => AppendError::OpenRunExists(append.run.story.clone()),
            // Answered below.
            Some("answered_pkey") => AppendError::Conflict,
            Some(_) | None => return Err(connections.failed(error).into()),
        },
    };
    // The answer to a repeated key goes before every other refusal.
    if let Some(answered) = &append.answered
        && let Some(first) = idempotency::find(connections, &answered.scope, &answered.key).await?
    {
        return Err(AppendError::Repeated(Box::new(first)));
    }
    Err(refusal)
}

fn appended(prepared: &PreparedAppend<'_>, row: &Row) -> Result<Appended, StoreError> {
    let row = Columns::of(row, "runs", "number");
    let nos: Vec<i32> = row.get::<Option<_>>("nos")?.unwrap_or_default();
    let numbers: Vec<i64> = row.get::<Option<_>>("numbers")?.unwrap_or_default();
    let number_of = |no| {
        let index = nos.iter().position(|it| it.unsigned_abs() == no)?;
        numbers.get(index).map(|it| it.unsigned_abs())
    };
    let opened = prepared.append.opened.iter();
    Ok(Appended {
        version: prepared.version,
        run_number: row.number("number")?,
        position: Position(row.number("position")?),
        numbers: opened.filter_map(|it| Some((it.no, number_of(it.no.0)?))).collect(),
    })
}

//! The log of all runs, in commit order.

use baton_core::event::replay;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{Run, RunId};
use baton_store::{
    EventFilter, EventRecord, Position, SharedEvents, StoreResult, StoredEvent, Version,
};
use baton_wire::checkpoint::LogLink;
use baton_wire::event::decode;
use rusqlite::{Connection, Row, params};

use crate::columns::{execute, hash, integer, limit, nanoseconds, number, parsed, run_id, time};
use crate::error::{in_row, to_store, unreadable};
use crate::statements::Statements;

/// Inserts the events of a command, which follow `version`; returns the position of the last.
pub(crate) fn add(
    statements: &impl Statements,
    run_number: i64,
    version: Version,
    at: i64,
    events: &[EventRecord],
) -> rusqlite::Result<Position> {
    // One at a time: for a statement that inserts several rows, SQLite first copies every page that
    // it changes, so that it can undo a part of it.
    let sql = "insert into events (run_number, version, happened_at, name, done_by, hash, body)
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    for (version, event) in (version.0 + 1..).zip(events) {
        let EventRecord { name, by, body, hash } = event;
        let params = params![run_number, integer(version), at, name, by.as_str(), hash.0, body];
        execute(statements, sql, params)?;
    }
    Ok(Position(statements.connection().last_insert_rowid().unsigned_abs()))
}

/// Inserts a recovered event at its position.
pub(crate) fn put(
    connection: &Connection,
    run_number: i64,
    event: &StoredEvent,
) -> StoreResult<()> {
    let sql = "insert into events (
                   position, run_number, version, happened_at, name, done_by, hash, body
               ) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let params = params![
        integer(event.position.0),
        run_number,
        integer(event.version.0),
        nanoseconds(event.at)?,
        event.name,
        event.by.as_str(),
        event.hash.0,
        event.body,
    ];
    execute(connection, sql, params).map_err(to_store)
}

pub(crate) fn list(
    connection: &Connection,
    filter: &EventFilter,
) -> rusqlite::Result<Vec<StoredEvent>> {
    let params = params![
        integer(filter.after.0),
        limit(filter.limit),
        filter.run.as_ref().map(|it| it.0.as_bytes()),
    ];
    connection.prepare_cached(&list_sql(filter))?.query_map(params, read)?.collect()
}

pub(crate) fn list_sql(filter: &EventFilter) -> String {
    let of_run = match filter.run {
        Some(_) => "events.run_number = (select number from runs where id = ?3)",
        None => "?3 is null",
    };
    format!(
        "select events.position, runs.id as run_id, events.version, events.happened_at,
             events.name, events.done_by, events.hash, events.body
         from events join runs on runs.number = events.run_number
         where events.position > ?1 and {of_run}
         order by events.position limit ?2"
    )
}

/// The events of a run before a position, newest first.
pub(crate) fn before(
    connection: &Connection,
    run: RunId,
    before: Position,
    most: u32,
) -> rusqlite::Result<Vec<StoredEvent>> {
    let params = params![integer(before.0), limit(most), run.0.as_bytes()];
    connection.prepare_cached(BEFORE)?.query_map(params, read)?.collect()
}

pub(crate) const BEFORE: &str =
    "select events.position, runs.id as run_id, events.version, events.happened_at,
         events.name, events.done_by, events.hash, events.body
     from events join runs on runs.number = events.run_number
     where events.position < ?1 and events.run_number = (select number from runs where id = ?3)
     order by events.position desc limit ?2";

pub(crate) fn shared(
    connection: &Connection,
    run: RunId,
    of: SharedEvents,
) -> rusqlite::Result<Vec<StoredEvent>> {
    let params = params![run.0.as_bytes()];
    connection.prepare_cached(&shared_sql(of))?.query_map(params, read)?.collect()
}

/// The events of a run with one of these names, by position.
pub(crate) fn named(
    connection: &Connection,
    run: RunId,
    names: &[&str],
) -> rusqlite::Result<Vec<StoredEvent>> {
    let names: Vec<String> = names.iter().map(|it| format!("'{it}'")).collect();
    let sql = format!(
        "select events.position, runs.id as run_id, events.version, events.happened_at,
             events.name, events.done_by, events.hash, events.body
         from events join runs on runs.number = events.run_number
         where events.run_number = (select number from runs where id = ?1)
             and events.name in ({})
         order by events.position",
        names.join(", ")
    );
    connection.prepare_cached(&sql)?.query_map(params![run.0.as_bytes()], read)?.collect()
}

/// Repeats the condition of the index, without which SQLite does not use it, and then names the
/// events that are meant.
pub(crate) fn shared_sql(of: SharedEvents) -> String {
    let names: Vec<String> = of.names().iter().map(|it| format!("'{it}'")).collect();
    format!(
        "select events.position, runs.id as run_id, events.version, events.happened_at,
             events.name, events.done_by, events.hash, events.body
         from events indexed by events_shared_votes join runs on runs.number = events.run_number
         where events.run_number = (select number from runs where id = ?1)
             and ((
                 events.name < 'handoff'
                 and (
                     events.name = 'decision.recorded' or events.name = 'decision.superseded'
                     or events.name = 'decision.locked' or events.name = 'context.changed'
                     or events.name = 'gate.opened' or events.name = 'gate.answered'
                     or events.name = 'gate.approved' or events.name = 'gate.delegated'
                 )
             ) or (
                 events.name > 'message' and events.name < 'n'
                 and (
                     events.name = 'message.asked' or events.name = 'message.replied'
                     or events.name = 'message.repeated' or events.name = 'message.unanswered'
                 )
             ))
             and events.name in ({})
         order by events.position",
        names.join(", ")
    )
}

/// The events of all runs after a position, as a checkpoint covers them.
pub(crate) fn links(
    connection: &Connection,
    after: Position,
    most: u32,
) -> rusqlite::Result<Vec<LogLink>> {
    let sql = "select events.position, runs.id as run_id, events.version, events.name, events.hash
               from events join runs on runs.number = events.run_number
               where events.position > ?1 order by events.position limit ?2";
    let read = |row: &Row<'_>| {
        in_row(row, "events", "position", |row| {
            Ok(LogLink {
                position: number(row, "position")?,
                run: run_id(row, "run_id")?,
                version: number(row, "version")?,
                name: row.get("name")?,
                hash: hash(row, "hash")?,
            })
        })
    };
    let params = params![integer(after.0), limit(most)];
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

/// Replays the events of a run; `None` where some are missing or cannot be read.
pub(crate) fn replayed(
    connection: &Connection,
    run: RunId,
    run_number: u64,
    version: Version,
    head: Hash,
) -> rusqlite::Result<Option<Run>> {
    let sql = "select happened_at, hash, body from events where run_number = ?1 order by position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([integer(run_number)])?;
    let mut events = Vec::new();
    let mut last = None;
    while let Some(row) = rows.next()? {
        let body = row.get_ref("body")?.as_str().map_err(|_| unreadable("body"))?;
        let Ok(event) = decode(body) else { return Ok(None) };
        events.push((event, time(row, "happened_at")?));
        last = Some(hash(row, "hash")?);
    }
    let is_whole = events.len() as u64 == version.0 && last == Some(head);
    Ok(if is_whole { replay(run, events) } else { None })
}

pub(crate) const LAST_POSITION: &str = "select coalesce(max(position), 0) as position from events";

pub(crate) fn last_position(connection: &Connection) -> rusqlite::Result<Position> {
    connection
        .prepare_cached(LAST_POSITION)?
        .query_row([], |row| Ok(Position(number(row, "position")?)))
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    in_row(row, "events", "position", |row| {
        Ok(StoredEvent {
            position: Position(number(row, "position")?),
            run: run_id(row, "run_id")?,
            version: Version(number(row, "version")?),
            at: time(row, "happened_at")?,
            name: row.get("name")?,
            by: parsed(row, "done_by", |it| Principal::parse(it).ok())?,
            body: row.get("body")?,
            hash: hash(row, "hash")?,
        })
    })
}

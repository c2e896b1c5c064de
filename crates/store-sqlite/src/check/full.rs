//! Every problem of the file: one check per table, and none stops the others.
//!
//! Events are not replayed here: `baton_engine::verify_all` does that for every backend. A
//! projection is checked against its source; a new table gets a function beside this file and a line
//! in [`CHECKS`].

use baton_store::StoreCheck;
use rusqlite::Connection;

use super::found::FoundProblems;
use super::{
    definitions, events, numbers, outbox, outlines, readable, runs, schema, sealed, stories, timers,
};
use crate::error::{damage, is_passing};

type Check = fn(&Connection, &mut FoundProblems) -> rusqlite::Result<()>;

/// In report order: checks that explain others come first.
const CHECKS: [(&str, Check); 18] = [
    ("sqlite_schema", schema::check),
    ("schema_migrations", schema::check_migrations),
    ("identity", sealed::identity),
    ("sqlite_sequence", numbers::check),
    ("runs", runs::check),
    ("events", events::check),
    ("handoffs", readable::handoffs),
    ("contents", readable::contents),
    ("shared_texts", readable::shared_texts),
    ("definitions", definitions::check),
    ("stories", stories::check),
    ("derivations", outlines::check),
    ("answered", sealed::answered),
    ("outbox", outbox::check),
    ("cursors", sealed::cursors),
    ("timers", timers::check),
    ("due", sealed::due),
    ("the file", in_references),
];

/// Every problem of the file, read completely in one snapshot.
pub(crate) fn in_full(connection: &Connection) -> rusqlite::Result<StoreCheck> {
    // The tables are compared with each other, and a server may be writing.
    connection.execute_batch("begin")?;
    let problems = at_one_moment(connection);
    connection.execute_batch("rollback")?;
    problems
}

/// Whether SQLite can read all of the file, in one statement: for a file that another process has
/// open. Its contents can be verified in a copy.
pub(crate) fn in_file(connection: &Connection) -> rusqlite::Result<StoreCheck> {
    run("the file", in_pages, connection)
}

/// Problems of the idempotency records.
pub(crate) fn in_answered(connection: &Connection) -> rusqlite::Result<StoreCheck> {
    run("answered", sealed::answered, connection)
}

/// Problems of the stories themselves.
pub(crate) fn in_stories(connection: &Connection) -> rusqlite::Result<StoreCheck> {
    run("stories", stories::check_alone, connection)
}

fn at_one_moment(connection: &Connection) -> rusqlite::Result<StoreCheck> {
    let mut problems = in_file(connection)?;
    for (table, check) in CHECKS {
        problems.extend(run(table, check, connection)?);
    }
    Ok(problems)
}

fn run(table: &'static str, check: Check, connection: &Connection) -> rusqlite::Result<StoreCheck> {
    let mut found = FoundProblems::of(table);
    match check(connection, &mut found) {
        Ok(()) => {}
        Err(error) if is_passing(&error) => return Err(error),
        Err(error) => found.add(format!("`{table}` cannot be checked: {}", damage(&error))),
    }
    Ok(found.into_check())
}

/// Pages, trees, indexes, types and column constraints, by SQLite's own check.
fn in_pages(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("pragma integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            found.add(format!("the file is damaged: {line}"));
        }
    }
    Ok(())
}

fn in_references(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("pragma foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, number): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let number = number.unwrap_or_default();
        found.add(format!("row {number} of `{table}` refers to what is not there"));
    }
    Ok(())
}

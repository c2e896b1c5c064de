//! Runs, handoffs and events are numbered without a gap, and SQLite remembers the last number
//! assigned: so the removal of a row is noticed. Removing the newest rows *and* resetting the last
//! number cannot be detected from inside the file.

use rusqlite::{Connection, OptionalExtension as _};

use super::found::FoundProblems;
use super::scan;
use crate::lost_numbers::{self, Gap};

/// Table, number, and what a row is called.
const COUNTED: [(&str, &str, &str); 5] = [
    ("runs", "number", "run"),
    ("handoffs", "number", "handoff"),
    ("events", "position", "event"),
    ("story_log", "number", "link of the story log"),
    ("checkpoints", "number", "checkpoint"),
];

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    for (table, column, what) in COUNTED {
        let mut known = lost_numbers::of_table(connection, table)?;
        let last = last_seen(connection, table, column, what, &mut known, found)?;
        let given = last_given(connection, table)?;
        if given > last {
            tell_gap(what, (last.saturating_add(1), given), &mut known, found);
        } else if given < last {
            found.add(format!(
                "the last number given to a {what} is {given}, and {what} {last} is there"
            ));
        }
        for (first, last) in known {
            found.add(format!("{what} {first} to {last} are said to be lost, and are not a gap"));
        }
    }
    in_losses(connection, found)?;
    // Delivered rows are removed from the outbox, so its numbers may have gaps.
    let sql = "select coalesce(max(id), 0) from outbox";
    let last: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let given = last_given(connection, "outbox")?;
    if given < last {
        found.add(format!("the last number given in `outbox` is {given}, and {last} is there"));
    }
    // Each of its rows was for an event.
    let n_events = last_given(connection, "events")?;
    if given > n_events {
        found.add(format!(
            "the last number given in `outbox` is {given}, and there were {n_events} events"
        ));
    }
    in_list(connection, found)
}

/// Reports every gap; returns the last number.
fn last_seen(
    connection: &Connection,
    table: &'static str,
    column: &str,
    what: &str,
    known: &mut Vec<Gap>,
    found: &mut FoundProblems,
) -> rusqlite::Result<i64> {
    let mut last = 0_i64;
    // Not from an index: rows are read from the table's own tree.
    let from = format!("{column} from {table} not indexed");
    scan::rows(connection, table, &from, found, |_, number, found| {
        if number > last.saturating_add(1) {
            tell_gap(what, (last + 1, number - 1), known, found);
        } else if number <= 0 {
            found.add(format!("{what} {number} has a number that Baton does not give"));
        }
        last = number.max(last);
        Ok(())
    })?;
    Ok(last)
}

/// Gaps that were recorded during a recovery are not reported.
fn tell_gap(what: &str, gap: Gap, known: &mut Vec<Gap>, found: &mut FoundProblems) {
    match known.iter().position(|it| *it == gap) {
        Some(n) => {
            known.remove(n);
        }
        None => found.add(missing(what, gap.0, gap.1)),
    }
}

/// Only for tables with consecutive numbers.
fn in_losses(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let sql = "select distinct counted from lost_numbers";
    let mut statement = connection.prepare(sql)?;
    for table in statement.query_map([], |row| row.get::<_, String>(0))? {
        let table = table?;
        if !COUNTED.iter().any(|(counted, ..)| *counted == table) {
            found.add(format!("`lost_numbers` has a line for `{table}`, which is not counted"));
        }
    }
    Ok(())
}

fn missing(what: &str, first: i64, last: i64) -> String {
    if first == last {
        format!("{what} {first} is missing")
    } else {
        format!("{what} {first} and those after it up to {last} are missing")
    }
}

fn last_given(connection: &Connection, table: &str) -> rusqlite::Result<i64> {
    let sql = "select seq from sqlite_sequence where name = ?1";
    Ok(connection.query_row(sql, [table], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// SQLite's own list has a line for each autoincrement table, and no other.
fn in_list(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut seen: Vec<String> = Vec::new();
    scan::rows(
        connection,
        "sqlite_sequence",
        "name from sqlite_sequence",
        found,
        |row, _, found| {
            let name: String = row.get(1)?;
            let is_known = name == "outbox" || COUNTED.iter().any(|(table, ..)| *table == name);
            if !is_known || seen.contains(&name) {
                found.add(format!("`sqlite_sequence` has a line for `{name}` that is not Baton's"));
            }
            seen.push(name);
            Ok(())
        },
    )
}

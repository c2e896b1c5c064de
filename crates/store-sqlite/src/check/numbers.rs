//! Runs, handoffs and events are counted without a gap, and SQLite remembers the last number that
//! was given: so a row that was removed is missed. That the newest rows were removed *and* the last
//! number was set back cannot be seen from inside the file.

use rusqlite::{Connection, OptionalExtension as _};

use super::found::Found;
use super::scan;

/// Table, number, and what a row is called.
const COUNTED: [(&str, &str, &str); 4] = [
    ("runs", "number", "run"),
    ("handoffs", "number", "handoff"),
    ("events", "position", "event"),
    ("story_log", "number", "link of the story log"),
];

pub(super) fn check(connection: &Connection, found: &mut Found) -> rusqlite::Result<()> {
    for (table, column, what) in COUNTED {
        let last = last_seen(connection, table, column, what, found)?;
        let given = last_given(connection, table)?;
        if given > last {
            found.add(missing(what, last.saturating_add(1), given));
        } else if given < last {
            found.add(format!(
                "the last number given to a {what} is {given}, and {what} {last} is there"
            ));
        }
    }
    // What was sent is taken out of the outbox, so its numbers may have gaps.
    let sql = "select coalesce(max(id), 0) from outbox";
    let last: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let given = last_given(connection, "outbox")?;
    if given < last {
        found.add(format!("the last number given in `outbox` is {given}, and {last} is there"));
    }
    in_list(connection, found)
}

/// Tells of every gap; gives the last number.
fn last_seen(
    connection: &Connection,
    table: &'static str,
    column: &str,
    what: &str,
    found: &mut Found,
) -> rusqlite::Result<i64> {
    let mut last = 0_i64;
    // Not from an index: the tree of the table is what the rows are read from.
    let from = format!("{column} from {table} not indexed");
    scan::rows(connection, table, &from, found, |_, number, found| {
        if number > last.saturating_add(1) {
            found.add(missing(what, last + 1, number - 1));
        } else if number <= 0 {
            found.add(format!("{what} {number} has a number that Baton does not give"));
        }
        last = number.max(last);
        Ok(())
    })?;
    Ok(last)
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

/// SQLite's own list has a line for each table that counts, and no other.
fn in_list(connection: &Connection, found: &mut Found) -> rusqlite::Result<()> {
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

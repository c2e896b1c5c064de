//! Scans a table completely, and continues after unreadable parts.

use rusqlite::{Connection, Row};

use super::found::FoundProblems;
use crate::error::{damage, is_passing};

/// How often to try to skip an unreadable part of a table. Each try skips twice as many rows as the
/// one before, so this is enough for any table.
const MOST_TRIES: u32 = 60;

/// Calls `look` with every row of `table`, by its number, which is the first column. An error from
/// `look` is a problem of that row. `from` is the SQL between `select rowid, ` and `where`.
pub(super) fn rows(
    connection: &Connection,
    table: &'static str,
    from: &str,
    found: &mut FoundProblems,
    mut look: impl FnMut(&Row<'_>, i64, &mut FoundProblems) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let sql =
        format!("select {table}.rowid, {from} where {table}.rowid > ?1 order by {table}.rowid");
    let mut after = None;
    for n_tries in 0..MOST_TRIES {
        match scan(connection, table, &sql, &mut after, found, &mut look) {
            Ok(()) => return Ok(()),
            Err(error) if is_passing(&error) => return Err(error),
            Err(error) => found.add(unreadable_after(table, after, &error)),
        }
        after = Some(after.unwrap_or(0).saturating_add(1 << n_tries));
    }
    Ok(())
}

fn unreadable_after(table: &str, after: Option<i64>, error: &rusqlite::Error) -> String {
    let error = damage(error);
    match after {
        Some(row) => format!("`{table}` cannot be read after row {row}: {error}"),
        None => format!("`{table}` cannot be read: {error}"),
    }
}

fn scan(
    connection: &Connection,
    table: &str,
    sql: &str,
    after: &mut Option<i64>,
    found: &mut FoundProblems,
    look: &mut impl FnMut(&Row<'_>, i64, &mut FoundProblems) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([after.unwrap_or(i64::MIN)])?;
    while let Some(row) = rows.next()? {
        let number = row.get(0)?;
        *after = Some(number);
        if let Err(error) = look(row, number, found) {
            if is_passing(&error) {
                return Err(error);
            }
            let what = damage(&error);
            // Our own readers have named the row already.
            if what.starts_with("row ") {
                found.add(what);
            } else {
                found.add(format!("row {number} of `{table}`: {what}"));
            }
        }
    }
    Ok(())
}

//! Known gaps in numbers, recorded when the data was recovered from damage.

use baton_store::RecordedLosses;
use rusqlite::{Connection, params};

use crate::contents;

/// The tables whose rows are counted without a gap, by their column.
const COUNTED: [(&str, &str); 3] =
    [("runs", "number"), ("handoffs", "number"), ("events", "position")];

/// The first and the last number of a gap.
pub(crate) type Gap = (i64, i64);

/// Records every gap up to the last number ever assigned.
pub(crate) fn record(connection: &Connection) -> rusqlite::Result<()> {
    for (table, column) in COUNTED {
        let sql = format!(
            "insert into lost_numbers (counted, first, last)
             select ?1, before + 1, number - 1
             from (select {column} as number, lag({column}, 1, 0) over (order by {column}) as before
                   from {table})
             where number > before + 1"
        );
        connection.execute(&sql, [table])?;
        let sql = format!(
            "insert into lost_numbers (counted, first, last)
             select ?1, last + 1, seq
             from (select coalesce(max({column}), 0) as last from {table}), sqlite_sequence
             where name = ?1 and seq > last"
        );
        connection.execute(&sql, params![table])?;
    }
    Ok(())
}

/// All that is recorded as lost: texts and numbers.
pub(crate) fn losses(connection: &Connection) -> rusqlite::Result<RecordedLosses> {
    let (texts, n_numbers) = (contents::all_lost(connection)?, count(connection)?);
    Ok(RecordedLosses { texts, n_numbers })
}

/// How many numbers are in all gaps.
fn count(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "select coalesce(sum(last - first + 1), 0) from lost_numbers";
    let n: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(u64::try_from(n).unwrap_or(0))
}

pub(crate) fn of_table(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Gap>> {
    let sql = "select first, last from lost_numbers where counted = ?1 order by first";
    let mut statement = connection.prepare(sql)?;
    statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

//! Known gaps in numbers, recorded when the data was recovered from damage.

use rusqlite::{Connection, params};

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

pub(crate) fn of_table(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Gap>> {
    let sql = "select first, last from lost_numbers where counted = ?1 order by first";
    let mut statement = connection.prepare(sql)?;
    statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

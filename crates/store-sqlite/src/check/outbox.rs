//! Every outbox row was put there by an event: the rows are a subset of the log, in its order. A
//! deleted row looks like a delivered one.

use rusqlite::{Connection, Row};

use super::found::FoundProblems;
use super::scan;
use crate::outbox;

const FROM: &str =
    "id, run_number, about, added_at, zeroblob(16) as run_id from outbox not indexed";

/// How often the log is read again after a row that no event has put there.
const MOST_READ_AGAIN: u32 = 20;

type Entry = (i64, String, i64);

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut log = LogReader { connection, after: 0, n_read_again: 0 };
    scan::rows(connection, "outbox", FROM, found, |row, number, found| {
        outbox::read(row)?;
        let entry: Entry = (row.get("run_number")?, row.get("about")?, row.get("added_at")?);
        if log.n_read_again < MOST_READ_AGAIN && !log.reaches(&entry)? {
            found.in_row(number, "no event has put it there");
        }
        Ok(())
    })
}

/// Reads the log onwards from the event of the last row.
struct LogReader<'a> {
    connection: &'a Connection,
    after: i64,
    n_read_again: u32,
}

impl LogReader<'_> {
    /// Reads on to the event that put the row there.
    fn reaches(&mut self, entry: &Entry) -> rusqlite::Result<bool> {
        let sql = "select position, run_number, name, happened_at from events not indexed
                   where position > ?1 order by position";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([self.after])?;
        while let Some(row) = rows.next()? {
            if is(row, entry)? {
                self.after = row.get(0)?;
                return Ok(true);
            }
        }
        self.n_read_again += 1;
        Ok(false)
    }
}

fn is(row: &Row<'_>, (run_number, about, at): &Entry) -> rusqlite::Result<bool> {
    Ok(row.get::<_, i64>(1)? == *run_number
        && row.get::<_, i64>(3)? == *at
        && row.get_ref(2)?.as_str().ok() == Some(about.as_str()))
}

//! When a run has to be checked: only open runs have a time, and it is unchanged since written.
//! `baton_engine::verify_all` compares it with the workflow.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::due;

const FROM: &str = "due.run_number, due.due_at, due.checksum, runs.id as run_id, runs.status
    from due not indexed join runs on runs.number = due.run_number";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "due", FROM, found, |row, number, found| {
        let run = due::read(row)?.run;
        let expected = due::checksum(run, row.get("due_at")?);
        if row.get::<_, Option<i64>>("checksum")? != Some(expected) {
            found.in_row(number, "it is not as it was written");
        }
        let status: String = row.get("status")?;
        if !["open", "paused"].contains(&status.as_str()) {
            found.in_row(number, "it belongs to a finished run");
        }
        Ok(())
    })
}

//! Rows that no event repeats, so each has a checksum: they are unchanged since they were written.

use baton_store::checksum::{of_answered, of_cursor, of_due};
use rusqlite::{Connection, Row};

use super::found::FoundProblems;
use super::scan;
use crate::{due, events, idempotency, identity};

const NOT_AS_WRITTEN: &str = "it is not as it was written";

const ANSWERED: &str = "rowid as row_number, scope, key, request, answered_at, answer, checksum
    from answered not indexed";
const CURSORS: &str = "projector, position, checksum from cursors not indexed";
const DUE: &str = "due.run_number, due.due_at, due.checksum, runs.id as run_id, runs.status
    from due not indexed join runs on runs.number = due.run_number";
const IDENTITY: &str = "id, project, epoch, mark, checksum from identity not indexed";

/// Idempotency records. A deleted one looks like one that expired after a day.
pub(super) fn answered(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "answered", ANSWERED, found, |row, number, found| {
        let it = idempotency::read(row)?;
        let at = row.get("answered_at")?;
        let expected = of_answered(&it.scope, &it.key, &it.request.0, at, &it.answer);
        if !has_checksum(row, expected)? {
            found.in_row(number, NOT_AS_WRITTEN);
        }
        Ok(())
    })
}

/// Projector cursors, which are also not beyond the end of the log.
pub(super) fn cursors(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let last = events::last_position(connection)?;
    scan::rows(connection, "cursors", CURSORS, found, |row, number, found| {
        let (projector, position): (String, i64) = (row.get("projector")?, row.get("position")?);
        if !has_checksum(row, of_cursor(&projector, position))? {
            let what = "it is not as it was written; `baton archive rebuild` begins it anew";
            found.in_row(number, what);
        } else if u64::try_from(position).is_ok_and(|it| it > last.0) {
            found.in_row(number, &format!("it is at event {position}, and the last is {}", last.0));
        }
        Ok(())
    })
}

/// When a run has to be checked: only open runs have a time. `baton_engine::verify_all` compares it
/// with the workflow.
pub(super) fn due(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "due", DUE, found, |row, number, found| {
        let run = due::read(row)?.run;
        if !has_checksum(row, of_due(run, row.get("due_at")?))? {
            found.in_row(number, NOT_AS_WRITTEN);
        }
        let status: String = row.get("status")?;
        if !["open", "paused"].contains(&status.as_str()) {
            found.in_row(number, "it belongs to a finished run");
        }
        Ok(())
    })
}

/// There is one identity.
pub(super) fn identity(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut n_rows = 0;
    scan::rows(connection, "identity", IDENTITY, found, |row, number, found| {
        n_rows += 1;
        let (project, epoch): ([u8; 16], String) = (row.get("project")?, row.get("epoch")?);
        let expected = identity::checksum(&project, &epoch, row.get("mark")?);
        if row.get::<_, i64>("id")? != 1 || !has_checksum(row, expected)? {
            found.in_row(number, NOT_AS_WRITTEN);
        }
        Ok(())
    })?;
    if n_rows != 1 {
        found.add(format!("`identity` has {n_rows} rows instead of one"));
    }
    Ok(())
}

fn has_checksum(row: &Row<'_>, expected: i64) -> rusqlite::Result<bool> {
    Ok(row.get::<_, Option<i64>>("checksum")? == Some(expected))
}

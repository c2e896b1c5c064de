//! Adds the checksums of rows that no event covers to a database that was made before there were any.

use baton_core::run::{HandoffNo, RunId};
use baton_store::checksum::{of_answered, of_cursor, of_timer};
use rusqlite::{Connection, Row, Statement, params};

use crate::{identity, story_log};

/// Adds checksums to the rows of an older Baton, and starts the log of its stories.
pub(crate) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    fill_answered(connection)?;
    fill_cursors(connection)?;
    fill_timers(connection)?;
    identity::seal(connection)?;
    story_log::fill(connection)
}

fn fill_answered(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select rowid, scope, key, request, answered_at, answer from answered";
    let update = "update answered set checksum = ?2 where rowid = ?1";
    fill_rows(connection, rows, update, |row, update| {
        let (scope, key): (String, String) = (row.get(1)?, row.get(2)?);
        let (request, answer): ([u8; 32], String) = (row.get(3)?, row.get(5)?);
        let sum = of_answered(&scope, &key, &request, row.get(4)?, &answer);
        update.execute([row.get(0)?, sum])
    })
}

fn fill_cursors(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select rowid, projector, position from cursors";
    let update = "update cursors set checksum = ?2 where rowid = ?1";
    fill_rows(connection, rows, update, |row, update| {
        let sum = of_cursor(&row.get::<_, String>(1)?, row.get(2)?);
        update.execute([row.get(0)?, sum])
    })
}

fn fill_timers(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select timers.run_number, timers.no, timers.fence, timers.due_at, runs.id
                from timers join runs on runs.number = timers.run_number";
    let update = "update timers set checksum = ?3 where run_number = ?1 and no = ?2";
    fill_rows(connection, rows, update, |row, update| {
        let (run_number, no): (i64, u32) = (row.get(0)?, row.get(1)?);
        let run = RunId(uuid::Uuid::from_bytes(row.get(4)?));
        let sum = of_timer(run, HandoffNo(no), row.get(2)?, row.get(3)?);
        update.execute(params![run_number, no, sum])
    })
}

/// Calls `fill` with each of `rows` and the statement that writes its checksum.
pub(crate) fn fill_rows(
    connection: &Connection,
    rows: &str,
    update: &str,
    mut fill: impl FnMut(&Row<'_>, &mut Statement<'_>) -> rusqlite::Result<usize>,
) -> rusqlite::Result<()> {
    let mut update = connection.prepare(update)?;
    let mut statement = connection.prepare(rows)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        fill(row, &mut update)?;
    }
    Ok(())
}

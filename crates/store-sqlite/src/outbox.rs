//! The outbox: events that wait for delivery to outside systems.

use baton_store::OutboxRow;
use rusqlite::{Connection, Row, params};

use crate::columns::{execute, integer, limit, number, run_id, time};
use crate::error::in_row;
use crate::statements::Statements;

pub(crate) fn add(
    statements: &impl Statements,
    run_number: i64,
    about: &str,
    at: i64,
) -> rusqlite::Result<()> {
    let sql = "insert into outbox (run_number, about, added_at) values (?1, ?2, ?3)";
    execute(statements, sql, params![run_number, about, at])
}

pub(crate) fn list(
    connection: &Connection,
    after: u64,
    most: u32,
) -> rusqlite::Result<Vec<OutboxRow>> {
    let sql = "select outbox.id, runs.id as run_id, outbox.about, outbox.added_at
               from outbox join runs on runs.number = outbox.run_number
               where outbox.id > ?1 order by outbox.id limit ?2";
    let params = params![integer(after), limit(most)];
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

/// Removes an entry; false where it is missing.
pub(crate) fn settle(connection: &Connection, id: u64) -> rusqlite::Result<bool> {
    let sql = "delete from outbox where id = ?1";
    Ok(connection.prepare_cached(sql)?.execute([integer(id)])? > 0)
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<OutboxRow> {
    in_row(row, "outbox", "id", |row| {
        Ok(OutboxRow {
            id: number(row, "id")?,
            run: run_id(row, "run_id")?,
            about: row.get("about")?,
            at: time(row, "added_at")?,
        })
    })
}

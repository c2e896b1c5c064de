//! Signed checkpoints of the log, by their numbers.

use baton_store::CheckpointRow;
use baton_wire::checkpoint::SignedCheckpoint;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{count_executed, integer, limit, number};
use crate::error::in_row;
use crate::statements::Statements;

/// Inserts a checkpoint, if it has the number after the last one.
pub(crate) fn add(
    statements: &impl Statements,
    checkpoint: &CheckpointRow,
) -> rusqlite::Result<bool> {
    let sql = "insert into checkpoints (number, text, signature)
               select ?1, ?2, ?3
               where ?1 = (select coalesce(max(number), 0) + 1 from checkpoints)";
    let CheckpointRow { number, signed } = checkpoint;
    let params = params![integer(*number), signed.text(), signed.signature()];
    Ok(count_executed(statements, sql, params)? == 1)
}

pub(crate) fn list(
    connection: &Connection,
    after: u64,
    most: u32,
) -> rusqlite::Result<Vec<CheckpointRow>> {
    let sql = "select number, text, signature from checkpoints
               where number > ?1 order by number limit ?2";
    let params = params![integer(after), limit(most)];
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

pub(crate) fn last(connection: &Connection) -> rusqlite::Result<Option<CheckpointRow>> {
    let sql = "select number, text, signature from checkpoints order by number desc limit 1";
    connection.prepare_cached(sql)?.query_row([], read).optional()
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    in_row(row, "checkpoints", "number", |row| {
        Ok(CheckpointRow {
            number: number(row, "number")?,
            signed: SignedCheckpoint::new(row.get("text")?, row.get("signature")?),
        })
    })
}

//! Idempotency records: answers to commands that may be sent twice, by key.

use baton_store::checksum::of_answered;
use baton_store::{AppendError, IdempotencyRecord};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{execute, hash, time};
use crate::error::{in_row, to_append};
use crate::statements::Statements;

/// Fails where the command with this key was answered before. Called before any write.
pub(crate) fn refuse_repeated(
    statements: &impl Statements,
    answered: &IdempotencyRecord,
) -> Result<(), AppendError> {
    match find(statements, &answered.scope, &answered.key).map_err(to_append)? {
        Some(first) => Err(AppendError::Repeated(Box::new(first))),
        None => Ok(()),
    }
}

pub(crate) fn add(
    statements: &impl Statements,
    answered: &IdempotencyRecord,
    at: i64,
) -> rusqlite::Result<()> {
    let sql = "insert into answered (scope, key, request, answered_at, answer, checksum)
               values (?1, ?2, ?3, ?4, ?5, ?6)";
    let IdempotencyRecord { scope, key, request, answer, .. } = answered;
    let sum = of_answered(scope, key, &request.0, at, answer);
    execute(statements, sql, params![scope, key, request.0, at, answer, sum])
}

pub(crate) fn find(
    statements: &impl Statements,
    scope: &str,
    key: &str,
) -> rusqlite::Result<Option<IdempotencyRecord>> {
    let sql = "select rowid as row_number, scope, key, request, answered_at, answer from answered
               where scope = ?1 and key = ?2";
    statements.with(sql, |it| it.query_row([scope, key], read)).optional()
}

/// Reads a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<IdempotencyRecord> {
    in_row(row, "answered", "row_number", |row| {
        Ok(IdempotencyRecord {
            scope: row.get("scope")?,
            key: row.get("key")?,
            request: hash(row, "request")?,
            answer: row.get("answer")?,
            at: time(row, "answered_at")?,
        })
    })
}

pub(crate) const FORGET: &str = "delete from answered where rowid in (
    select rowid from answered where answered_at < ?1 limit ?2
)";

/// Deletes at most `most` of the answers given before `before`; returns how many.
pub(crate) fn forget(connection: &Connection, before: i64, most: u32) -> rusqlite::Result<usize> {
    connection.prepare_cached(FORGET)?.execute(params![before, most])
}

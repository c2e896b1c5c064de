//! Idempotency records: answers to commands that may be sent twice, by key.

use baton_store::checksum::{ChecksumPart, digest, of_answered};
use baton_store::{AppendError, IdempotencyRecord, StoreResult};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, nanoseconds, nearest_nanoseconds};
use crate::query::{Connections, SqlQuery};

/// Fails where the command with this key was answered before.
pub(crate) async fn refuse_repeated(
    connections: &Connections,
    answered: &IdempotencyRecord,
) -> Result<(), AppendError> {
    match find(connections, &answered.scope, &answered.key).await? {
        Some(first) => Err(AppendError::Repeated(Box::new(first))),
        None => Ok(()),
    }
}

/// Adds the answer to an append.
pub(crate) fn add<'a>(
    query: &mut SqlQuery<'a>,
    answered: &'a IdempotencyRecord,
) -> StoreResult<()> {
    add_from(query, answered, "moved")
}

/// Adds the answer to a command that writes a story.
pub(crate) fn add_with_story<'a>(
    query: &mut SqlQuery<'a>,
    answered: &'a IdempotencyRecord,
) -> StoreResult<()> {
    add_from(query, answered, "written_story")
}

/// Added only if the part `from` of the statement has a row.
fn add_from<'a>(
    query: &mut SqlQuery<'a>,
    answered: &'a IdempotencyRecord,
    from: &str,
) -> StoreResult<()> {
    let IdempotencyRecord { scope, key, request, answer, at } = answered;
    let at = nanoseconds(*at)?;
    let sum = of_answered(scope, key, &request.0, at, answer);
    let values = [
        query.bind(id(scope, key), Type::BYTEA),
        query.bind(scope.as_str(), Type::TEXT),
        query.bind(key.as_str(), Type::TEXT),
        query.bind(&request.0[..], Type::BYTEA),
        query.bind(at, Type::INT8),
        query.bind(answer.as_str(), Type::TEXT),
        query.bind(sum, Type::INT8),
    ];
    query.sql.push_str(&format!(
        ", added_answer as (
             insert into answered (id, scope, key, request, answered_at, answer, checksum)
             select {} from {from}
         )",
        values.join(", ")
    ));
    Ok(())
}

pub(crate) async fn find(
    connections: &Connections,
    scope: &str,
    key: &str,
) -> StoreResult<Option<IdempotencyRecord>> {
    let sql = "select scope, key, request, answered_at, answer from answered where id = $1";
    let query = SqlQuery::new(sql).with(id(scope, key), Type::BYTEA);
    connections.read_one(&query).await?.map(|row| read(&row)).transpose()
}

pub(crate) fn read(row: &Row) -> StoreResult<IdempotencyRecord> {
    let row = Columns::of(row, "answered", "answered_at");
    Ok(IdempotencyRecord {
        scope: row.get("scope")?,
        key: row.get("key")?,
        request: row.hash("request")?,
        answer: row.get("answer")?,
        at: row.time("answered_at")?,
    })
}

/// Scope and key in a form that fits into an index.
pub(crate) fn id(scope: &str, key: &str) -> Vec<u8> {
    digest(&[ChecksumPart::Text(scope), ChecksumPart::Text(key)]).to_vec()
}

/// Deletes at most `most` of the answers given before `before`; returns how many. Several nodes do
/// this at once: each takes other rows.
pub(crate) async fn forget(
    connections: &Connections,
    before: Timestamp,
    most: u32,
) -> StoreResult<u64> {
    let sql = "delete from answered where id in (
                   select id from answered where answered_at < $1
                   limit $2 for update skip locked
               )";
    let query = SqlQuery::new(sql)
        .with(nearest_nanoseconds(before), Type::INT8)
        .with(i64::from(most), Type::INT8);
    connections.execute(&query).await
}

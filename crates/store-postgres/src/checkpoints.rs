//! Signed checkpoints of the log, by their numbers.

use baton_store::{CheckpointRow, StoreResult};
use baton_wire::checkpoint::SignedCheckpoint;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer, limit};
use crate::query::{Connections, SqlQuery};

/// Adds a checkpoint and counts it, so that its removal is noticed; if it has the number after the last one. Of two nodes that add the same number
/// one finds it taken.
pub(crate) async fn add(
    connections: &Connections,
    checkpoint: &CheckpointRow,
) -> StoreResult<bool> {
    let sql = "with added as (
                   insert into checkpoints (number, text, signature)
                   select $1, $2, $3
                   where $1 = (select coalesce(max(number), 0) + 1 from checkpoints)
                   on conflict (number) do nothing
                   returning number
               )
               insert into counters (counted, last) select 'checkpoints', number from added
               on conflict (counted) do update set last = excluded.last";
    let CheckpointRow { number, signed } = checkpoint;
    let query = SqlQuery::new(sql)
        .with(integer(*number), Type::INT8)
        .with(signed.text(), Type::TEXT)
        .with(signed.signature().to_vec(), Type::BYTEA);
    Ok(connections.execute(&query).await? == 1)
}

pub(crate) async fn list(
    connections: &Connections,
    after: u64,
    most: u32,
) -> StoreResult<Vec<CheckpointRow>> {
    let sql = "select number, text, signature from checkpoints
               where number > $1 order by number limit $2";
    let query = SqlQuery::new(sql).with(integer(after), Type::INT8).with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

pub(crate) async fn last(connections: &Connections) -> StoreResult<Option<CheckpointRow>> {
    let sql = "select number, text, signature from checkpoints order by number desc limit 1";
    connections.read_one(&SqlQuery::new(sql)).await?.map(|row| read(&row)).transpose()
}

fn read(row: &Row) -> StoreResult<CheckpointRow> {
    let row = Columns::of(row, "checkpoints", "number");
    Ok(CheckpointRow {
        number: row.number("number")?,
        signed: SignedCheckpoint::new(row.get("text")?, row.bytes("signature")?),
    })
}

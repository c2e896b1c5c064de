//! The outbox: events that wait for delivery to outside systems.

use baton_store::{OutboxRow, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer, limit};
use crate::query::{Connections, SqlQuery};

pub(crate) fn add<'a>(query: &mut SqlQuery<'a>, about: &'a [String], at: i64) {
    if about.is_empty() {
        return;
    }
    let at = query.bind(at, Type::INT8);
    let about = query.bind(about, Type::TEXT_ARRAY);
    query.sql.push_str(&format!(
        ", added_outbox as (
             insert into outbox (run_number, about, added_at)
             select moved.number, new.about, {at}
             from moved, unnest({about}) with ordinality as new (about, ordinal) order by ordinal
         )"
    ));
}

pub(crate) async fn list(
    connections: &Connections,
    after: u64,
    most: u32,
) -> StoreResult<Vec<OutboxRow>> {
    let sql = "select outbox.id, runs.id as run_id, outbox.about, outbox.added_at
               from outbox join runs on runs.number = outbox.run_number
               where outbox.id > $1 order by outbox.id limit $2";
    let query = SqlQuery::new(sql).with(integer(after), Type::INT8).with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

/// Removes an entry; false where it is missing.
pub(crate) async fn settle(connections: &Connections, id: u64) -> StoreResult<bool> {
    let query = SqlQuery::new("delete from outbox where id = $1").with(integer(id), Type::INT8);
    Ok(connections.execute(&query).await? > 0)
}

fn read(row: &Row) -> StoreResult<OutboxRow> {
    let row = Columns::of(row, "outbox", "id");
    Ok(OutboxRow {
        id: row.number("id")?,
        run: row.run_id("run_id")?,
        about: row.get("about")?,
        at: row.time("added_at")?,
    })
}

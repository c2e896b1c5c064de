//! The nodes that work on this database, as each says of itself.

use baton_store::StoreResult;
use jiff::Timestamp;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{Columns, nanoseconds};
use crate::query::{Connections, SqlQuery};

/// A node: one `baton serve` on this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    pub id: Uuid,
    pub name: String,
    pub url: String,
    /// Of its Baton.
    pub version: String,
    pub started_at: Timestamp,
    /// When it said so last.
    pub seen_at: Timestamp,
}

/// A node that was not heard of for this long is forgotten, in nanoseconds: a day.
const FORGET_AFTER: i64 = 24 * 3600 * 1_000_000_000;

/// One that was not heard of for this long has ended where another has its machine and address: 20 s.
const FOLLOWED_AFTER: i64 = 20 * 1_000_000_000;

/// Adds a node, or says that it is still there.
pub(crate) async fn announce(connections: &Connections, node: &NodeRow) -> StoreResult<()> {
    let seen_at = nanoseconds(node.seen_at)?;
    let sql = "with forgotten as (
                   delete from nodes where id <> $1
                       and (seen_at < $7 or (seen_at < $8 and name = $2 and url = $3))
               )
               insert into nodes (id, name, url, version, started_at, seen_at)
               values ($1, $2, $3, $4, $5, $6)
               on conflict (id) do update set seen_at = excluded.seen_at, url = excluded.url";
    let query = SqlQuery::new(sql)
        .with(node.id, Type::UUID)
        .with(node.name.as_str(), Type::TEXT)
        .with(node.url.as_str(), Type::TEXT)
        .with(node.version.as_str(), Type::TEXT)
        .with(nanoseconds(node.started_at)?, Type::INT8)
        .with(seen_at, Type::INT8)
        .with(seen_at.saturating_sub(FORGET_AFTER), Type::INT8)
        .with(seen_at.saturating_sub(FOLLOWED_AFTER), Type::INT8);
    connections.execute(&query).await.map(|_| ())
}

/// Removes a node that stops.
pub(crate) async fn leave(connections: &Connections, id: Uuid) -> StoreResult<()> {
    let query = SqlQuery::new("delete from nodes where id = $1").with(id, Type::UUID);
    connections.execute(&query).await.map(|_| ())
}

/// The oldest first.
pub(crate) async fn list(connections: &Connections) -> StoreResult<Vec<NodeRow>> {
    let sql = "select id, name, url, version, started_at, seen_at from nodes
               order by started_at, id";
    let rows = connections.read(&SqlQuery::new(sql)).await?;
    let read = |row| {
        let row = Columns::of(row, "nodes", "started_at");
        Ok(NodeRow {
            id: row.get("id")?,
            name: row.get("name")?,
            url: row.get("url")?,
            version: row.get("version")?,
            started_at: row.time("started_at")?,
            seen_at: row.time("seen_at")?,
        })
    };
    rows.iter().map(read).collect()
}

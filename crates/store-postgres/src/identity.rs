//! Which project a database belongs to, and where its positions begin.

use baton_store::{Identity, StoreError, StoreResult};
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::Columns;
use crate::data_place::{self, DataPlace, ServerPlace};
use crate::query::{Connections, SqlQuery, rows_in};

pub(crate) async fn find(connections: &Connections) -> StoreResult<Identity> {
    let rows = connections.read(&SqlQuery::new("select project, epoch, id from identity")).await?;
    let row = rows.first().ok_or_else(gone)?;
    let row = Columns::of(row, "identity", "id");
    Ok(Identity { project: row.get("project")?, epoch: row.get("epoch")? })
}

/// Gives a new database its identity, and looks whether its data was restored from a copy. Then the
/// positions go on from where they are, in another epoch: what subscribers have read since the copy was
/// made is not in it.
///
/// The caller has the lock of migrations, so that one process at a time does this.
pub(crate) async fn prepare(
    transaction: &Transaction<'_>,
    project: Uuid,
    server: &ServerPlace,
) -> StoreResult<()> {
    let now = match look(transaction).await? {
        Some(now) => now,
        None => {
            let sql = "insert into identity (id, project, epoch, position_base)
                       values (1, $1, $2, -pg_current_xact_id()::text::bigint * 4096)";
            let query = SqlQuery::new(sql).with(project, Type::UUID).with(fresh(), Type::TEXT);
            rows_in(transaction, &query).await?;
            look(transaction).await?.ok_or_else(gone)?
        }
    };
    let place = DataPlace::new(server, now.database, now.table);
    let before = data_place::recorded(transaction).await?;
    let is_copy = before.as_ref().is_some_and(|it| it.differs_from(&place));
    if now.is_read_only {
        // A standby, or a database that is set so: a node that may write does the rest.
        return Ok(());
    }
    if is_copy || now.is_behind {
        begin_epoch(transaction).await?;
        tracing::warn!(
            "the data was restored, or another database server has taken over: its events are counted \
             on from where they end, and subscribers begin anew"
        );
    }
    data_place::record(transaction, place, before.as_ref()).await
}

/// The identity as one statement sees it.
struct PresentIdentity {
    database: String,
    table: String,
    /// The next transaction would write before the newest event: its id was given by another server.
    is_behind: bool,
    is_read_only: bool,
}

/// All of it in one statement, so from one snapshot: every event that it sees is of a transaction before
/// `pg_snapshot_xmax`. It takes no transaction id of its own, which others would overtake.
async fn look(transaction: &Transaction<'_>) -> StoreResult<Option<PresentIdentity>> {
    let sql = "select identity.id,
            (select oid from pg_database where datname = current_database())::text as database,
            identity.tableoid::text as of_table,
            position_base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint * 4096
                <= coalesce((select max(position) from events), 0) as is_behind,
            current_setting('transaction_read_only') = 'on' as is_read_only
        from identity";
    let rows = rows_in(transaction, &SqlQuery::new(sql)).await?;
    let read = |row| {
        let row = Columns::of(row, "identity", "id");
        Ok(PresentIdentity {
            database: row.get("database")?,
            table: row.get("of_table")?,
            is_behind: row.get("is_behind")?,
            is_read_only: row.get("is_read_only")?,
        })
    };
    rows.first().map(read).transpose()
}

/// Begins another epoch, in which everything that is there can be read at once and new events come after
/// it. Appends read this table: those under way are waited for, and the next ones wait.
async fn begin_epoch(transaction: &Transaction<'_>) -> StoreResult<()> {
    rows_in(transaction, &SqlQuery::new("lock table identity in access exclusive mode")).await?;
    let sql = "update identity
               set epoch = $1, position_base = greatest(position_base, newest.position + 4096
                   - pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 4096)
               from (select coalesce(max(position), 0) as position from events) as newest";
    rows_in(transaction, &SqlQuery::new(sql).with(fresh(), Type::TEXT)).await.map(|_| ())
}

/// Begins another epoch, unless another process has done so: less is there than was read.
pub(crate) async fn end_epoch(connections: &Connections, epoch: &str) -> StoreResult<()> {
    let query = SqlQuery::new("update identity set epoch = $1 where epoch = $2")
        .with(fresh(), Type::TEXT)
        .with(epoch.to_owned(), Type::TEXT);
    connections.execute(&query).await.map(|_| ())
}

fn fresh() -> String {
    Uuid::new_v4().simple().to_string().chars().take(8).collect()
}

fn gone() -> StoreError {
    crate::error::damaged("the table `identity` has no row")
}

/// Assigns the database to a project whose data is moved here.
pub(crate) async fn adopt(transaction: &Transaction<'_>, identity: &Identity) -> StoreResult<()> {
    let query = SqlQuery::new("update identity set project = $1, epoch = $2")
        .with(identity.project, Type::UUID)
        .with(identity.epoch.as_str(), Type::TEXT);
    rows_in(transaction, &query).await.map(|_| ())
}

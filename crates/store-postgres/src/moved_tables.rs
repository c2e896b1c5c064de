//! Every row of the data as it is: read to be moved to another backend, and written where it came from
//! another one. A move may be left and gone on with; until it has ended, the database is opened for
//! nothing else.

use baton_store::columns::integer;
use baton_store::moved_tables::{
    ColumnKind, LastNumbers, MOVED_TABLES, MovedRow, MovedTable, MovedValue,
};
use baton_store::{Identity, StoreError, StoreResult};
use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use uuid::Uuid;

use crate::columns::Columns;
use crate::connect::EmptyDatabase;
use crate::error::{DatabaseError, damaged};
use crate::query::{Connections, SqlQuery, rows_in};
use crate::settings::PostgresSettings;
use crate::tail::LogWatch;
use crate::{PostgresStore, idempotency, identity};

/// Whether data can be moved into a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveTarget {
    /// It is empty.
    Empty,
    /// A move of this project was left in the middle.
    Begun(Uuid),
    /// It has data of this project.
    Used(Uuid),
}

impl PostgresStore {
    /// As [`PostgresStore::open`], also while a move into the database has not ended.
    pub async fn open_to_move(settings: &PostgresSettings) -> Result<Self, DatabaseError> {
        Self::open_whatever(settings, LogWatch::Withheld, EmptyDatabase::Taken).await
    }

    pub async fn move_target(&self) -> StoreResult<MoveTarget> {
        if let Some(project) = moving(&self.connections).await? {
            return Ok(MoveTarget::Begun(project));
        }
        for table in MOVED_TABLES {
            if !self.moved_rows(table, None, 1).await?.is_empty() {
                return Ok(MoveTarget::Used(identity::find(&self.connections).await?.project));
            }
        }
        Ok(MoveTarget::Empty)
    }

    /// Closes the database to all but this move.
    pub async fn begin_move(&self, project: Uuid) -> StoreResult<()> {
        let sql = "insert into moving (id, project) values (1, $1) on conflict (id) do nothing";
        self.connections.execute(&SqlQuery::new(sql).with(project, Type::UUID)).await.map(|_| ())
    }

    /// The rows of a table after the one with this key, in the order of their keys.
    pub async fn moved_rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        let columns = (0..table.columns.len()).map(|n| read_as(table, n)).collect::<Vec<_>>();
        let (columns, keys) = (columns.join(", "), names(table, table.n_keys));
        let name = table.name;
        let mut query = SqlQuery::new("");
        let bound = match after {
            Some(after) => {
                let places = after.iter().map(|it| bind(&mut query, it)).collect::<Vec<_>>();
                format!("where ({keys}) > ({})", places.join(", "))
            }
            None => String::new(),
        };
        query.sql = format!("select {columns} from {name} {bound} order by {keys} limit {limit}");
        let rows = self.connections.read(&query).await?;
        rows.iter().map(|row| values(row, table, table.columns.len())).collect()
    }

    /// The key of the last row that was written.
    pub async fn last_moved_key(
        &self,
        table: &'static MovedTable,
    ) -> StoreResult<Option<Vec<MovedValue>>> {
        let columns = (0..table.n_keys).map(|n| read_as(table, n)).collect::<Vec<_>>().join(", ");
        let order = table.keys().iter().map(|it| format!("{} desc", it.name));
        let order = order.collect::<Vec<_>>().join(", ");
        let sql = format!("select {columns} from {} order by {order} limit 1", table.name);
        let row = self.connections.read_one(&SqlQuery::new(sql)).await?;
        row.map(|row| values(&row, table, table.n_keys)).transpose()
    }

    /// All of these rows, or none; those that are there stay as they are.
    pub async fn put_moved(
        &self,
        table: &'static MovedTable,
        rows: &[MovedRow],
    ) -> StoreResult<()> {
        let mut columns = names(table, table.columns.len());
        let mut query = SqlQuery::new("");
        let mut arrays: Vec<String> =
            (0..table.columns.len()).map(|n| bind_column(&mut query, table, rows, n)).collect();
        if table.name == ANSWERED {
            columns += ", id";
            arrays.push(query.bind(answered_ids(rows), Type::BYTEA_ARRAY));
        }
        query.sql = format!(
            "insert into {} ({columns}) select {columns} from unnest({}) as new ({columns})
             on conflict do nothing",
            table.name,
            arrays.join(", ")
        );
        self.connections.execute(&query).await.map(|_| ())
    }

    /// Removes all rows of a table.
    pub async fn clear_moved(&self, table: &'static MovedTable) -> StoreResult<()> {
        let query = SqlQuery::new(format!("delete from {}", table.name));
        self.connections.execute(&query).await.map(|_| ())
    }

    /// Gives the data to its project, and opens the database for everything else. New rows are numbered
    /// after everything that ever existed.
    pub async fn finish_move(&self, project: Uuid, last: LastNumbers) -> StoreResult<()> {
        let epoch = identity::find(&self.connections).await?.epoch;
        let finish = async |transaction: &Transaction<'_>| {
            for (sql, last) in [
                (RUNS, Some(last.run)),
                (HANDOFFS, Some(last.handoff)),
                (OUTBOX, Some(last.outbox)),
                (POSITIONS, Some(last.position)),
                (STORY_CHAIN, None),
                (CHECKPOINTS, None),
            ] {
                let query = SqlQuery::new(sql);
                let query = match last {
                    Some(last) => query.with(integer(last), Type::INT8),
                    None => query,
                };
                rows_in(transaction, &query).await?;
            }
            let identity = Identity { project, epoch: epoch.clone() };
            identity::adopt(transaction, &identity).await?;
            rows_in(transaction, &SqlQuery::new("delete from moving")).await?;
            Ok::<_, StoreError>(())
        };
        self.connections.transaction(finish).await?;
        self.tail.refresh();
        Ok(())
    }

    /// The last numbers that were given, to rows that may be gone.
    pub async fn last_numbers(&self) -> StoreResult<LastNumbers> {
        let row = self.connections.read_one(&SqlQuery::new(LAST_NUMBERS)).await?;
        let row = row.ok_or_else(|| damaged("the counters are gone"))?;
        let row = Columns::of(&row, "counters", "run");
        Ok(LastNumbers {
            run: row.number("run")?,
            handoff: row.number("handoff")?,
            position: row.number("position")?,
            outbox: row.number("outbox")?,
        })
    }

    /// The secret of this name that all nodes have; `fresh` becomes it where there is none yet.
    pub async fn shared_secret(&self, name: &str, fresh: [u8; 32]) -> StoreResult<[u8; 32]> {
        let sql = "insert into secrets (name, secret) values ($1, $2) on conflict do nothing";
        let query = SqlQuery::new(sql).with(name, Type::TEXT).with(fresh.to_vec(), Type::BYTEA);
        self.connections.execute(&query).await?;
        let query = SqlQuery::new("select secret, name from secrets where name = $1")
            .with(name, Type::TEXT);
        let row = self.connections.read_one(&query).await?;
        let row = row.ok_or_else(|| damaged("a secret is gone"))?;
        Columns::of(&row, "secrets", "name").bytes("secret")
    }
}

const RUNS: &str = "update counters
    set last = greatest((select coalesce(max(number), 0) from runs), $1) where counted = 'runs'";

const HANDOFFS: &str = "select setval(
    pg_get_serial_sequence('handoffs', 'number'), greatest(newest.last, $1, 1),
    greatest(newest.last, $1) > 0
) from (select coalesce(max(number), 0) as last from handoffs) as newest";

const OUTBOX: &str = "select setval(
    pg_get_serial_sequence('outbox', 'id'), greatest(newest.last, $1, 1),
    greatest(newest.last, $1) > 0
) from (select coalesce(max(id), 0) as last from outbox) as newest";

const POSITIONS: &str = "update identity
    set position_base = newest.position + 4096 - pg_current_xact_id()::text::bigint * 4096
    from (select greatest(coalesce(max(position), 0), $1) as position from events) as newest
    where position_base + pg_current_xact_id()::text::bigint * 4096 <= newest.position";

const STORY_CHAIN: &str = "update story_chain set n_links = newest.number, head = newest.hash
    from (select number, hash from story_log order by number desc limit 1) as newest";

const CHECKPOINTS: &str = "insert into counters (counted, last)
    select 'checkpoints', max(number) from checkpoints having count(*) > 0
    on conflict (counted) do update set last = excluded.last";

const LAST_NUMBERS: &str = "select
    (select last from counters where counted = 'runs') as run,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('handoffs', 'number')::regclass), 0)
        as handoff,
    coalesce((select max(position) from events), 0) as position,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass), 0) as outbox";

/// Has a column of its own here, worked out from the two that identify a row.
const ANSWERED: &str = "answered";

fn answered_ids(rows: &[MovedRow]) -> Vec<Option<Vec<u8>>> {
    let id = |row: &MovedRow| Some(idempotency::id(&as_text(&row[0])?, &as_text(&row[1])?));
    rows.iter().map(id).collect()
}

/// The project whose data is being moved here.
pub(crate) async fn moving(connections: &Connections) -> StoreResult<Option<Uuid>> {
    let row = connections.read_one(&SqlQuery::new("select project, id from moving")).await?;
    row.map(|row| Columns::of(&row, "moving", "id").get("project")).transpose()
}

fn names(table: &MovedTable, n: usize) -> String {
    table.columns[..n].iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

/// A column as a number, a text or bytes.
fn read_as(table: &MovedTable, n: usize) -> String {
    let name = table.columns[n].name;
    match table.columns[n].kind {
        ColumnKind::Integer => format!("{name}::bigint"),
        ColumnKind::Boolean => format!("{name}::integer::bigint"),
        ColumnKind::Uuid => format!("uuid_send({name})"),
        ColumnKind::Text | ColumnKind::Bytes => name.to_owned(),
    }
}

fn values(row: &Row, table: &MovedTable, n_columns: usize) -> StoreResult<MovedRow> {
    let unreadable = |n: usize| {
        damaged(&format!("`{}` of `{}` cannot be read", table.columns[n].name, table.name))
    };
    let value = |n: usize| {
        let value = match table.columns[n].kind {
            ColumnKind::Integer | ColumnKind::Boolean => {
                row.try_get::<_, Option<i64>>(n).map(|it| it.map(MovedValue::Integer))
            }
            ColumnKind::Text => {
                row.try_get::<_, Option<String>>(n).map(|it| it.map(MovedValue::Text))
            }
            ColumnKind::Bytes | ColumnKind::Uuid => {
                row.try_get::<_, Option<Vec<u8>>>(n).map(|it| it.map(MovedValue::Bytes))
            }
        };
        Ok(value.map_err(|_| unreadable(n))?.unwrap_or(MovedValue::Null))
    };
    (0..n_columns).map(value).collect()
}

/// A value of a key: none of them is null, a uuid or a boolean.
fn bind(query: &mut SqlQuery<'_>, value: &MovedValue) -> String {
    match value {
        MovedValue::Integer(it) => query.bind(*it, Type::INT8),
        MovedValue::Text(it) => query.bind(it.clone(), Type::TEXT),
        MovedValue::Bytes(it) => query.bind(it.clone(), Type::BYTEA),
        MovedValue::Null => query.bind(None::<i64>, Type::INT8),
    }
}

/// One column of all rows, as an array.
fn bind_column(
    query: &mut SqlQuery<'_>,
    table: &MovedTable,
    rows: &[MovedRow],
    n: usize,
) -> String {
    let integers = || rows.iter().map(move |it| as_integer(&it[n]));
    let bytes = || rows.iter().map(move |it| as_bytes(&it[n]));
    match table.columns[n].kind {
        ColumnKind::Integer => query.bind(integers().collect::<Vec<_>>(), Type::INT8_ARRAY),
        ColumnKind::Boolean => {
            let flags: Vec<Option<bool>> = integers().map(|it| it.map(|it| it != 0)).collect();
            query.bind(flags, Type::BOOL_ARRAY)
        }
        ColumnKind::Text => {
            let texts: Vec<Option<String>> = rows.iter().map(|it| as_text(&it[n])).collect();
            query.bind(texts, Type::TEXT_ARRAY)
        }
        ColumnKind::Bytes => query.bind(bytes().collect::<Vec<_>>(), Type::BYTEA_ARRAY),
        ColumnKind::Uuid => {
            let ids = bytes().map(|it| it.and_then(|it| Uuid::from_slice(&it).ok()));
            query.bind(ids.collect::<Vec<_>>(), Type::UUID_ARRAY)
        }
    }
}

// A value of another type than its column's becomes null, which the column or the digest refuses.

fn as_integer(value: &MovedValue) -> Option<i64> {
    if let MovedValue::Integer(it) = value { Some(*it) } else { None }
}

fn as_text(value: &MovedValue) -> Option<String> {
    if let MovedValue::Text(it) = value { Some(it.clone()) } else { None }
}

fn as_bytes(value: &MovedValue) -> Option<Vec<u8>> {
    if let MovedValue::Bytes(it) = value { Some(it.clone()) } else { None }
}

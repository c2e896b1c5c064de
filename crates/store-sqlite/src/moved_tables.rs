//! Every row of the data as it is: read to be moved to another backend, and written where it came from
//! another one.

use baton_files::Dir;
use baton_store::StoreResult;
use baton_store::moved_tables::{LastNumbers, MovedRow, MovedTable, MovedValue};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use uuid::Uuid;

use crate::error::{OpenError, to_open, to_store};
use crate::{FILE, SqliteStore, connect, identity, lost_numbers, migrate, outlines};

impl SqliteStore {
    /// The rows of a table after the one with this key, in the order of their keys.
    pub async fn moved_rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        let after = after.map(<[MovedValue]>::to_vec);
        self.readers.read(move |it| rows(it, table, after.as_deref(), limit)).await
    }

    pub async fn last_numbers(&self) -> StoreResult<LastNumbers> {
        self.readers.read(last_numbers).await
    }
}

/// A database that is filled with rows from elsewhere: useless until it is finished, and continued
/// where it was left.
#[derive(Debug)]
pub struct MovedDatabase {
    connection: Connection,
}

impl MovedDatabase {
    /// Begins one in this folder, or goes on with the one that is there.
    pub fn open(dir: &Dir) -> Result<Self, OpenError> {
        let path = dir.path().join(FILE);
        let mut connection = connect::writing(&path)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        outlines::bring_up_to_date(&mut connection, &path)?;
        // A table may be filled anew while others refer to it. What does not fit is found when the
        // result is verified.
        connection.execute_batch("pragma foreign_keys = off").map_err(to_open(&path))?;
        Ok(Self { connection })
    }

    pub fn rows(
        &self,
        table: &'static MovedTable,
        after: Option<&[MovedValue]>,
        limit: u32,
    ) -> StoreResult<Vec<MovedRow>> {
        rows(&self.connection, table, after, limit).map_err(to_store)
    }

    /// The key of the last row that was written.
    pub fn last_key(&self, table: &'static MovedTable) -> StoreResult<Option<Vec<MovedValue>>> {
        let keys = names(table, table.n_keys);
        let order = table.keys().iter().map(|it| format!("{} desc", it.name));
        let order = order.collect::<Vec<_>>().join(", ");
        let sql = format!("select {keys} from {} order by {order} limit 1", table.name);
        let found = self.connection.query_row(&sql, [], |row| values(row, table.n_keys));
        found.optional().map_err(to_store)
    }

    /// All of these rows, or none.
    pub fn put(&mut self, table: &'static MovedTable, rows: &[MovedRow]) -> StoreResult<()> {
        put(&mut self.connection, table, rows).map_err(to_store)
    }

    /// Removes all rows of a table.
    pub fn clear(&mut self, table: &'static MovedTable) -> StoreResult<()> {
        let sql = format!("delete from {}", table.name);
        self.connection.execute(&sql, []).map(|_| ()).map_err(to_store)
    }

    /// Gives the data to its project, records the gaps in its numbers as known, and closes it. New rows
    /// are numbered after everything that ever existed.
    pub fn finish(mut self, project: Uuid, last: LastNumbers) -> StoreResult<()> {
        finish(&mut self.connection, project, last).map_err(to_store)?;
        self.connection.close().map_err(|(_, error)| to_store(error))
    }
}

fn rows(
    connection: &Connection,
    table: &MovedTable,
    after: Option<&[MovedValue]>,
    limit: u32,
) -> rusqlite::Result<Vec<MovedRow>> {
    let (columns, keys) = (names(table, table.columns.len()), names(table, table.n_keys));
    let name = table.name;
    let places = (1..=table.n_keys).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    let bound = after.map_or_else(String::new, |_| format!("where ({keys}) > ({places})"));
    let sql = format!("select {columns} from {name} {bound} order by {keys} limit {limit}");
    let mut statement = connection.prepare_cached(&sql)?;
    let after = after.unwrap_or_default().iter().map(stored);
    statement.query_map(params_from_iter(after), |row| values(row, table.columns.len()))?.collect()
}

fn values(row: &rusqlite::Row<'_>, n_columns: usize) -> rusqlite::Result<Vec<MovedValue>> {
    let value = |n: usize| {
        Ok(match row.get_ref(n)? {
            ValueRef::Null => MovedValue::Null,
            ValueRef::Integer(it) => MovedValue::Integer(it),
            ValueRef::Text(it) => MovedValue::Text(String::from_utf8_lossy(it).into_owned()),
            ValueRef::Blob(it) => MovedValue::Bytes(it.to_vec()),
            other @ ValueRef::Real(_) => {
                let name = row.as_ref().column_name(n)?.to_owned();
                return Err(rusqlite::Error::InvalidColumnType(n, name, other.data_type()));
            }
        })
    };
    (0..n_columns).map(value).collect()
}

fn stored(value: &MovedValue) -> Value {
    match value {
        MovedValue::Null => Value::Null,
        MovedValue::Integer(it) => Value::Integer(*it),
        MovedValue::Text(it) => Value::Text(it.clone()),
        MovedValue::Bytes(it) => Value::Blob(it.clone()),
    }
}

fn put(connection: &mut Connection, table: &MovedTable, rows: &[MovedRow]) -> rusqlite::Result<()> {
    let columns = names(table, table.columns.len());
    let places = (1..=table.columns.len()).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    let sql = format!("insert into {} ({columns}) values ({places})", table.name);
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare_cached(&sql)?;
        for row in rows {
            statement.execute(params_from_iter(row.iter().map(stored)))?;
        }
    }
    transaction.commit()
}

fn finish(connection: &mut Connection, project: Uuid, last: LastNumbers) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (table, last) in [
        ("runs", last.run),
        ("handoffs", last.handoff),
        ("events", last.position),
        ("outbox", last.outbox),
    ] {
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        // SQLite has no line for a table without rows yet.
        if last == 0 {
            continue;
        }
        let sql = "insert into sqlite_sequence (name, seq)
                   select ?1, 0 where not exists (select 1 from sqlite_sequence where name = ?1)";
        transaction.execute(sql, [table])?;
        let sql = "update sqlite_sequence set seq = max(seq, ?2) where name = ?1";
        transaction.execute(sql, params![table, last])?;
    }
    transaction.execute("delete from lost_numbers", [])?;
    lost_numbers::record(&transaction)?;
    identity::set_project(&transaction, project)?;
    transaction.commit()?;
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    connect::remove_log_on_close(connection);
    Ok(())
}

fn last_numbers(connection: &Connection) -> rusqlite::Result<LastNumbers> {
    let last = |table: &str| {
        let sql = "select seq from sqlite_sequence where name = ?1";
        let seq: Option<i64> = connection.query_row(sql, [table], |row| row.get(0)).optional()?;
        Ok::<_, rusqlite::Error>(u64::try_from(seq.unwrap_or(0)).unwrap_or(0))
    };
    Ok(LastNumbers {
        run: last("runs")?,
        handoff: last("handoffs")?,
        position: last("events")?,
        outbox: last("outbox")?,
    })
}

fn names(table: &MovedTable, n: usize) -> String {
    table.columns[..n].iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_store::Store as _;
    use baton_store::moved_tables::{MOVED_TABLES, TableDigest, TableHasher};
    use baton_store_tests::sample::{put_all, tale};

    use super::*;

    /// What belongs to the file and not to the data.
    const KEPT: [&str; 5] =
        ["derivations", "identity", "lost_numbers", "schema_migrations", "sqlite_sequence"];

    async fn digest(store: &SqliteStore, table: &'static MovedTable) -> TableDigest {
        let mut hasher = TableHasher::default();
        let mut after = None;
        loop {
            let rows = store.moved_rows(table, after.as_deref(), 2).await.unwrap();
            let Some(last) = rows.last() else { return hasher.finish() };
            after = Some(table.key_of(last).to_vec());
            rows.iter().for_each(|it| hasher.add(it));
        }
    }

    #[test]
    fn every_table_and_every_column_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let connection = MovedDatabase::open(&dir).unwrap().connection;
        let list = |sql: &str| -> BTreeSet<String> {
            let mut statement = connection.prepare(sql).unwrap();
            let found = statement.query_map([], |row| row.get(0)).unwrap();
            found.collect::<rusqlite::Result<_>>().unwrap()
        };
        let mut tables = list("select name from sqlite_master where type = 'table'");
        tables.retain(|it| !KEPT.contains(&it.as_str()));
        let moved: BTreeSet<String> = MOVED_TABLES.iter().map(|it| it.name.to_owned()).collect();
        assert_eq!(moved, tables);
        for table in MOVED_TABLES {
            let sql = format!("select name from pragma_table_info('{}')", table.name);
            let moved: BTreeSet<String> =
                table.columns.iter().map(|it| it.name.to_owned()).collect();
            assert_eq!(moved, list(&sql), "{}", table.name);
        }
    }

    /// Nodes that start runs at once give positions in one order, and numbers in another.
    #[tokio::test]
    async fn data_that_many_processes_wrote_is_sound_in_whatever_order_they_got_their_numbers() {
        let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let source = SqliteStore::open(from.path()).unwrap();
        for n in 1..=3 {
            put_all(&source, &tale(n, &format!("s-{n}"))).await;
        }
        let mut target = MovedDatabase::open(&Dir::open(to.path()).unwrap()).unwrap();
        for table in MOVED_TABLES {
            let mut rows = source.moved_rows(table, None, 10_000).await.unwrap();
            if table.name == "events" {
                // The transaction of each run, the last one first.
                for row in &mut rows {
                    let (MovedValue::Integer(position), MovedValue::Integer(run)) =
                        (&row[0], &row[1])
                    else {
                        panic!("{row:?}")
                    };
                    row[0] = MovedValue::Integer((4 - run) * 4096 + position);
                }
                rows.sort_by_key(|row| if let MovedValue::Integer(it) = row[0] { it } else { 0 });
            }
            target.put(table, &rows).unwrap();
        }
        let project = source.identity().await.unwrap().project;
        let last = LastNumbers { position: 4096 * 5, ..source.last_numbers().await.unwrap() };
        target.finish(project, last).unwrap();
        let moved = SqliteStore::open(to.path()).unwrap();
        assert_eq!(moved.check().await.unwrap().problems, Vec::<String>::new());
        put_all(&moved, &tale(4, "s-4")).await;
        put_all(&moved, &tale(5, "s-5")).await;
        assert_eq!(moved.check().await.unwrap().problems, Vec::<String>::new());
    }

    #[tokio::test]
    async fn moved_data_is_the_same_and_sound_and_can_be_continued() {
        let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let source = SqliteStore::open(from.path()).unwrap();
        put_all(&source, &tale(1, "s-1")).await;
        put_all(&source, &tale(2, "s-2")).await;
        let dir = Dir::open(to.path()).unwrap();
        for n_tables in [3, MOVED_TABLES.len()] {
            // The first time, it is left in the middle.
            let mut target = MovedDatabase::open(&dir).unwrap();
            for table in &MOVED_TABLES[..n_tables] {
                loop {
                    let after = target.last_key(table).unwrap();
                    let rows = source.moved_rows(table, after.as_deref(), 3).await.unwrap();
                    if rows.is_empty() {
                        break;
                    }
                    target.put(table, &rows).unwrap();
                }
            }
            if n_tables == MOVED_TABLES.len() {
                let project = source.identity().await.unwrap().project;
                target.finish(project, source.last_numbers().await.unwrap()).unwrap();
            }
        }
        let target = SqliteStore::open(to.path()).unwrap();
        for table in MOVED_TABLES {
            assert_eq!(
                digest(&target, table).await,
                digest(&source, table).await,
                "{}",
                table.name
            );
        }
        assert_eq!(target.check().await.unwrap().problems, Vec::<String>::new());
        let [old, new] = [source.identity().await.unwrap(), target.identity().await.unwrap()];
        assert_eq!(old.project, new.project);
        assert_ne!(old.epoch, new.epoch, "subscribers begin anew");
    }
}

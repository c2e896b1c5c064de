//! Which project a database belongs to, and its mark number.

use baton_store::checksum::{self, ChecksumPart};
use baton_store::{Identity, StoreResult};
use rusqlite::{Connection, ToSql};
use uuid::Uuid;

use crate::SqliteStore;
use crate::columns::{execute, integer, number};
use crate::error::to_store;
use crate::mark::MarkNumber;
use crate::statements::Statements as _;

/// The next mark number. The highest stays: its successor would overflow, and counting never gets
/// there, so damage put it there.
const NEXT: &str = "iif(mark < 9223372036854775807, mark + 1, mark)";

pub(crate) fn find(connection: &Connection) -> rusqlite::Result<Identity> {
    let sql = "select project, epoch from identity";
    connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(Identity { project: Uuid::from_bytes(row.get("project")?), epoch: row.get("epoch")? })
    })
}

pub(crate) fn mark_number(connection: &Connection) -> rusqlite::Result<MarkNumber> {
    let sql = "select mark from identity";
    connection.prepare_cached(sql)?.query_row([], |row| Ok(MarkNumber(number(row, "mark")?)))
}

/// Increments the number that distinguishes this database from an older copy of it.
pub(crate) fn count_up(connection: &Connection) -> rusqlite::Result<()> {
    change(connection, &format!("update identity set mark = {NEXT}"), &[])
}

/// Raises the mark number to at least this.
pub(crate) fn raise_mark(connection: &Connection, least: u64) -> rusqlite::Result<()> {
    change(connection, "update identity set mark = max(mark, ?1)", &[&integer(least)])
}

/// Begins a new epoch: subscribers' positions in this database become invalid.
pub(crate) fn begin_epoch(connection: &Connection) -> rusqlite::Result<()> {
    let sql = format!("update identity set epoch = lower(hex(randomblob(4))), mark = {NEXT}");
    change(connection, &sql, &[])
}

/// Assigns the database to another project.
pub(crate) fn set_project(connection: &Connection, project: Uuid) -> rusqlite::Result<()> {
    change(connection, "update identity set project = ?1", &[project.as_bytes()])
}

/// Updates the row and its checksum. A checksum that was invalid before stays invalid: `verify` has
/// to find changes by other programs.
fn change(connection: &Connection, update: &str, params: &[&dyn ToSql]) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        // Both or neither: a kill in between would leave a row with a wrong checksum.
        connection.execute_batch("begin immediate")?;
        let changed = change(connection, update, params);
        connection.execute_batch(if changed.is_ok() { "commit" } else { "rollback" })?;
        return changed;
    }
    let sql = "select checksum from identity";
    let stored: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let was_sealed = stored == Some(expected(connection)?);
    connection.prepare_cached(update)?.execute(params)?;
    if was_sealed { seal(connection) } else { Ok(()) }
}

/// Writes the checksum of the row as it is now.
pub(crate) fn seal(connection: &Connection) -> rusqlite::Result<()> {
    let sum = expected(connection)?;
    execute(connection, "update identity set checksum = ?1", [sum])
}

fn expected(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "select project, epoch, mark from identity";
    connection.prepare_cached(sql)?.query_row([], |row| {
        let (project, epoch): ([u8; 16], String) = (row.get(0)?, row.get(1)?);
        Ok(checksum(&project, &epoch, row.get(2)?))
    })
}

pub(crate) fn checksum(project: &[u8; 16], epoch: &str, mark: i64) -> i64 {
    checksum::checksum(&[
        ChecksumPart::Bytes(project),
        ChecksumPart::Text(epoch),
        ChecksumPart::Integer(mark),
    ])
}

impl SqliteStore {
    /// Begins a new epoch, for a copy that replaces data which subscribers have read.
    pub async fn begin_epoch(&self) -> StoreResult<()> {
        self.writer.write(|it| begin_epoch(it).map_err(to_store)).await
    }

    /// As [`SqliteStore::begin_epoch`], in a database that may be older than the mark with that
    /// number, and must count as newer.
    pub async fn begin_epoch_after(&self, mark: u64) -> StoreResult<()> {
        let begin = move |it: &_| {
            raise_mark(it, mark)?;
            begin_epoch(it)
        };
        self.writer.write(move |it| begin(it.connection()).map_err(to_store)).await
    }
}

#[cfg(test)]
mod tests {
    use baton_store::Store as _;

    use crate::SqliteStore;

    #[tokio::test]
    async fn a_new_epoch_keeps_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        let before = store.identity().await.unwrap();
        store.begin_epoch().await.unwrap();
        let after = store.identity().await.unwrap();
        assert_eq!(before.project, after.project);
        assert_ne!(before.epoch, after.epoch);
        store.close().await;
        let again = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(again.identity().await.unwrap(), after);
    }

    #[tokio::test]
    async fn the_highest_number_of_a_mark_is_not_counted_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        store.begin_epoch_after(u64::MAX).await.unwrap();
        store.begin_epoch().await.unwrap();
        store.close().await;
        let store = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    }

    #[tokio::test]
    async fn every_database_is_another_project() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let one = SqliteStore::open(one.path()).unwrap();
        let other = SqliteStore::open(other.path()).unwrap();
        let [one, other] = [one.identity().await.unwrap(), other.identity().await.unwrap()];
        assert_ne!(one.project, other.project);
        assert_ne!(one.epoch, other.epoch);
    }
}

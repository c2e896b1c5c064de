//! Which project a database belongs to, and how far it has been written.

use baton_store::Identity;
use rusqlite::Connection;
use uuid::Uuid;

use crate::columns::{integer, number};
use crate::mark::MarkNumber;

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

/// Counts up what tells this database from an older copy of it.
pub(crate) fn count_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("update identity set mark = mark + 1")?.execute([]).map(|_| ())
}

/// Makes the number of the marks at least this.
pub(crate) fn raise_mark(connection: &Connection, least: u64) -> rusqlite::Result<()> {
    let sql = "update identity set mark = max(mark, ?1)";
    connection.execute(sql, [integer(least)]).map(|_| ())
}

/// Begins another epoch: what was heard of this database before does not count any more.
pub(crate) fn begin_epoch(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "update identity set epoch = lower(hex(randomblob(4))), mark = mark + 1";
    connection.execute(sql, []).map(|_| ())
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
    async fn every_database_is_another_project() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let one = SqliteStore::open(one.path()).unwrap();
        let other = SqliteStore::open(other.path()).unwrap();
        let [one, other] = [one.identity().await.unwrap(), other.identity().await.unwrap()];
        assert_ne!(one.project, other.project);
        assert_ne!(one.epoch, other.epoch);
    }
}

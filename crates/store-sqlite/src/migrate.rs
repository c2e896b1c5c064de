//! Brings a database to the schema of this Baton: forward only, each step in one transaction.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use crate::error::{OpenError, to_open};
use crate::{checksum, due};

pub(crate) struct Migration {
    number: i64,
    name: &'static str,
    sql: &'static str,
}

/// In order. One that has been released is never touched again.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, name: "first", sql: include_str!("../migrations/0001_first.sql") },
    Migration {
        number: 2,
        name: "questions_and_timers",
        sql: include_str!("../migrations/0002_questions_and_timers.sql"),
    },
    Migration { number: 3, name: "waiting", sql: include_str!("../migrations/0003_waiting.sql") },
    Migration { number: 4, name: "identity", sql: include_str!("../migrations/0004_identity.sql") },
    Migration { number: 5, name: "losses", sql: include_str!("../migrations/0005_losses.sql") },
    Migration {
        number: 6,
        name: "checksums",
        sql: include_str!("../migrations/0006_checksums.sql"),
    },
    Migration {
        number: 7,
        name: "look_alikes",
        sql: include_str!("../migrations/0007_look_alikes.sql"),
    },
    Migration { number: 8, name: "growth", sql: include_str!("../migrations/0008_growth.sql") },
];

/// Applies what is missing of `migrations`.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), OpenError> {
    prepare(connection, path)?;
    let newest = migrations.last().map_or(0, |it| it.number);
    let applied = newest_applied(connection).map_err(to_open(path))?;
    if applied > newest {
        return Err(OpenError::FromTheFuture { path: path.to_owned(), number: applied });
    }
    for migration in migrations {
        let text_hash = text_hash(migration.sql);
        match applied_hash(connection, migration.number).map_err(to_open(path))? {
            Some(hash) if hash == text_hash => {}
            Some(_) => {
                let number = migration.number;
                return Err(OpenError::Changed { path: path.to_owned(), number });
            }
            None => apply(connection, migration, text_hash).map_err(to_open(path))?,
        }
    }
    Ok(())
}

/// Makes the list of what was applied, in a database that is empty or already ours.
fn prepare(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let sql = "select count(*), coalesce(sum(name = 'schema_migrations'), 0) from sqlite_schema";
    let (n_things, n_lists): (i64, i64) = connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(to_open(path))?;
    if n_things > 0 && n_lists == 0 {
        return Err(OpenError::NotOurs { path: path.to_owned() });
    }
    let sql = "create table if not exists schema_migrations (
                   number integer primary key,
                   name text not null,
                   hash blob not null,
                   applied_at integer not null
               ) strict";
    connection.execute(sql, []).map_err(to_open(path))?;
    Ok(())
}

fn newest_applied(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "select coalesce(max(number), 0) from schema_migrations";
    connection.query_row(sql, [], |row| row.get(0))
}

fn applied_hash(connection: &Connection, number: i64) -> rusqlite::Result<Option<[u8; 32]>> {
    let sql = "select hash from schema_migrations where number = ?1";
    connection.query_row(sql, [number], |row| row.get(0)).optional()
}

fn apply(
    connection: &mut Connection,
    migration: &Migration,
    text_hash: [u8; 32],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.sql)?;
    fill(&transaction, migration)?;
    // SQLite's own clock: this time is for whoever looks into the file, and decides nothing.
    let sql = "insert into schema_migrations (number, name, hash, applied_at)
               values (?1, ?2, ?3, unixepoch() * 1000000000)";
    transaction.execute(sql, params![migration.number, migration.name, text_hash])?;
    transaction.commit()
}

/// What a migration does to the rows that are there, where SQL cannot say it.
fn fill(transaction: &Connection, migration: &Migration) -> rusqlite::Result<()> {
    match migration.name {
        "checksums" => checksum::fill(transaction),
        "growth" => due::fill(transaction),
        _ => Ok(()),
    }
}

impl Migration {
    /// Its row in the list of what was applied.
    pub(crate) fn row(&self) -> (i64, &'static str, [u8; 32]) {
        (self.number, self.name, text_hash(self.sql))
    }
}

/// The same whichever way a checkout ends its lines.
fn text_hash(sql: &str) -> [u8; 32] {
    Sha256::digest(sql.replace("\r\n", "\n")).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SqliteStore, connect};

    #[test]
    fn migrations_are_numbered_in_order() {
        for (n, migration) in (1..).zip(MIGRATIONS) {
            assert_eq!(migration.number, n, "{}", migration.name);
        }
    }

    #[test]
    fn a_database_of_every_earlier_schema_opens() {
        for n_migrations in 0..=MIGRATIONS.len() {
            let dir = tempfile::tempdir().unwrap();
            migrated(dir.path(), &MIGRATIONS[..n_migrations]).unwrap();
            SqliteStore::open(dir.path()).unwrap();
            let connection = connect::reading(&dir.path().join("baton.db")).unwrap();
            assert_eq!(newest_applied(&connection).unwrap(), MIGRATIONS.len() as i64);
        }
    }

    #[test]
    fn every_migration_is_applied_once() {
        let dir = tempfile::tempdir().unwrap();
        migrated(dir.path(), MIGRATIONS).unwrap();
        migrated(dir.path(), MIGRATIONS).unwrap();
    }

    #[test]
    fn a_database_from_the_future_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let future = Migration { number: 9, name: "future", sql: "create table t (x)" };
        migrated(dir.path(), &[future]).unwrap();
        let error = SqliteStore::open(dir.path()).unwrap_err();
        assert!(matches!(error, OpenError::FromTheFuture { number: 9, .. }), "{error:?}");
    }

    #[test]
    fn a_database_made_with_other_text_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        migrated(dir.path(), &[Migration { number: 1, name: "first", sql: "create table t (x)" }])
            .unwrap();
        let error = SqliteStore::open(dir.path()).unwrap_err();
        assert!(matches!(error, OpenError::Changed { number: 1, .. }), "{error:?}");
    }

    #[test]
    fn somebody_elses_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let connection = connect::writing(&dir.path().join("baton.db")).unwrap();
        connection.execute_batch("create table recipes (x)").unwrap();
        drop(connection);
        let error = SqliteStore::open(dir.path()).unwrap_err();
        assert!(matches!(error, OpenError::NotOurs { .. }), "{error:?}");
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let broken = "create table t (x); create table t (x);";
        let migrations = [Migration { number: 1, name: "broken", sql: broken }];
        migrated(dir.path(), &migrations).unwrap_err();
        let whole = [Migration { number: 1, name: "whole", sql: "create table t (x)" }];
        migrated(dir.path(), &whole).unwrap();
    }

    #[test]
    fn line_ends_do_not_matter() {
        assert_eq!(text_hash("a\nb"), text_hash("a\r\nb"));
        assert_ne!(text_hash("a\nb"), text_hash("a b"));
    }

    fn migrated(dir: &Path, migrations: &[Migration]) -> Result<(), OpenError> {
        let path = dir.join("baton.db");
        migrate(&mut connect::writing(&path)?, &path, migrations)
    }
}

//! Migrates a database to the schema of this Baton: forward only, each step in one transaction.

use std::path::Path;

use rusqlite::ffi::SQLITE_ERROR;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use crate::error::{Damage, OpenError, to_open};
use crate::{checksum, due};

pub(crate) struct Migration {
    number: i64,
    name: &'static str,
    sql: &'static str,
}

/// In order. A released migration is never changed.
pub(crate) const MIGRATIONS: &[Migration] = &[
    migration(1, "first", include_str!("../migrations/0001_first.sql")),
    migration(
        2,
        "questions_and_timers",
        include_str!("../migrations/0002_questions_and_timers.sql"),
    ),
    migration(3, "waiting", include_str!("../migrations/0003_waiting.sql")),
    migration(4, "identity", include_str!("../migrations/0004_identity.sql")),
    migration(5, "losses", include_str!("../migrations/0005_losses.sql")),
    migration(6, "checksums", include_str!("../migrations/0006_checksums.sql")),
    migration(7, "look_alikes", include_str!("../migrations/0007_look_alikes.sql")),
    migration(8, "growth", include_str!("../migrations/0008_growth.sql")),
    migration(9, "fewer_index_writes", include_str!("../migrations/0009_fewer_index_writes.sql")),
    migration(10, "processed_at", include_str!("../migrations/0010_processed_at.sql")),
    migration(11, "shared_texts", include_str!("../migrations/0011_shared_texts.sql")),
    migration(12, "checkpoints", include_str!("../migrations/0012_checkpoints.sql")),
    migration(13, "shared_events", include_str!("../migrations/0013_shared_events.sql")),
    migration(
        14,
        "faster_shared_events",
        include_str!("../migrations/0014_faster_shared_events.sql"),
    ),
    migration(15, "scores_and_usage", include_str!("../migrations/0015_scores_and_usage.sql")),
    migration(16, "votes_of_gates", include_str!("../migrations/0016_votes_of_gates.sql")),
    migration(17, "nodes", include_str!("../migrations/0017_nodes.sql")),
    migration(18, "moving", include_str!("../migrations/0018_moving.sql")),
];

const fn migration(number: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration { number, name, sql }
}

/// Applies the missing ones of `migrations`.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), OpenError> {
    let n_applied = n_applied(connection, path, migrations)?;
    prepare(connection).map_err(to_open(path))?;
    for migration in migrations.iter().skip(n_applied) {
        let applied = apply(connection, migration, text_hash(migration.sql));
        applied.map_err(|error| not_applied(path, migration, error))?;
    }
    Ok(())
}

/// Refuses a database that lacks some of [`MIGRATIONS`]. Writes nothing.
pub(crate) fn expect_current(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    if n_applied(connection, path, MIGRATIONS)? < MIGRATIONS.len() {
        return Err(OpenError::OlderSchema { path: path.to_owned() });
    }
    Ok(())
}

/// How many of `migrations` are applied, from the first on; one that follows a gap is damage.
fn n_applied(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<usize, OpenError> {
    let sql = "select count(*), coalesce(sum(name = 'schema_migrations'), 0) from sqlite_schema";
    let (n_things, n_lists): (i64, i64) = connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(to_open(path))?;
    if n_lists == 0 {
        return if n_things == 0 {
            Ok(0)
        } else {
            Err(OpenError::NotOurs { path: path.to_owned() })
        };
    }
    let newest = migrations.last().map_or(0, |it| it.number);
    let newest_there = newest_applied(connection).map_err(to_open(path))?;
    if newest_there > newest {
        return Err(OpenError::FromTheFuture { path: path.to_owned(), number: newest_there });
    }
    let mut n_applied = 0;
    for Migration { number, sql, .. } in migrations {
        match applied_hash(connection, *number).map_err(to_open(path))? {
            Some(hash) if hash == text_hash(sql) => n_applied += 1,
            Some(_) => return Err(OpenError::Changed { path: path.to_owned(), number: *number }),
            None if *number < newest_there => return Err(unlisted(path, *number)),
            None => return Ok(n_applied),
        }
    }
    Ok(n_applied)
}

/// A migration that does not apply to its predecessor's schema was applied already, and its row is
/// lost. SQLite's own message contains the whole text of the migration.
fn not_applied(path: &Path, migration: &Migration, error: rusqlite::Error) -> OpenError {
    let is_unfit = matches!(error, rusqlite::Error::SqlInputError { .. });
    // An error without an offset, as for dropping a missing index.
    let is_unfit =
        is_unfit || error.sqlite_error().is_some_and(|it| it.extended_code == SQLITE_ERROR);
    if is_unfit { unlisted(path, migration.number) } else { to_open(path)(error) }
}

fn unlisted(path: &Path, number: i64) -> OpenError {
    let (path, damage) = (path.to_owned(), Damage::Migrations { number });
    OpenError::Damaged { path, damage, source: None }
}

/// Creates the list of applied migrations.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "create table if not exists schema_migrations (
                   number integer primary key,
                   name text not null,
                   hash blob not null,
                   applied_at integer not null
               ) strict";
    connection.execute(sql, []).map(|_| ())
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
    // SQLite's own clock: this time is for people who inspect the file, and decides nothing.
    let sql = "insert into schema_migrations (number, name, hash, applied_at)
               values (?1, ?2, ?3, unixepoch() * 1000000000)";
    transaction.execute(sql, params![migration.number, migration.name, text_hash])?;
    transaction.commit()
}

/// Changes to existing rows that SQL cannot express.
fn fill(transaction: &Connection, migration: &Migration) -> rusqlite::Result<()> {
    match migration.name {
        "checksums" => checksum::fill(transaction),
        "growth" => due::fill(transaction),
        _ => Ok(()),
    }
}

impl Migration {
    /// Its row in the list of applied migrations.
    pub(crate) fn row(&self) -> (i64, &'static str, [u8; 32]) {
        (self.number, self.name, text_hash(self.sql))
    }
}

/// Independent of the line endings of the checkout.
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
        let number = MIGRATIONS.len() as i64 + 1;
        let future = Migration { number, name: "future", sql: "create table t (x)" };
        migrated(dir.path(), &[future]).unwrap();
        let error = SqliteStore::open(dir.path()).unwrap_err();
        assert!(
            matches!(error, OpenError::FromTheFuture { number: it, .. } if it == number),
            "{error:?}"
        );
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
    fn a_list_that_has_lost_a_row_is_damage_and_nothing_is_written() {
        // The last one may do nothing here, and is then applied again without harm.
        let does_something = |it: &&Migration| it.sql.lines().any(|it| !it.starts_with("--"));
        let last = MIGRATIONS.iter().filter(does_something).map(|it| it.number).max().unwrap();
        for lost in 1..=last {
            let dir = tempfile::tempdir().unwrap();
            migrated(dir.path(), MIGRATIONS).unwrap();
            let path = dir.path().join("baton.db");
            let connection = connect::writing(&path).unwrap();
            connection.execute("delete from schema_migrations where number = ?1", [lost]).unwrap();
            drop(connection);
            let error = SqliteStore::open(dir.path()).unwrap_err();
            let expected = Damage::Migrations { number: lost };
            assert!(
                matches!(&error, OpenError::Damaged { damage, .. } if *damage == expected),
                "{error:?}"
            );
            assert!(!format!("{error:?}").contains("create"), "{error:?}");
            let connection = connect::reading(&path).unwrap();
            assert_eq!(applied_hash(&connection, lost).unwrap(), None);
        }
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

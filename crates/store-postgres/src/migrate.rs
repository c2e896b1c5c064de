//! Migrates a schema to that of this Baton: forward only, all missing steps in one transaction, and
//! under a lock, so that nodes that start together do it once.
//!
//! Nodes of the version before may still be at work: a migration adds, and what it replaces goes
//! away with a later release.

use std::collections::BTreeMap;

use baton_store::StoreResult;
use sha2::{Digest as _, Sha256};
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use crate::columns::{Columns, small};
use crate::error::{DatabaseError, to_store};
use crate::query::{SqlQuery, rows_in};

struct PostgresMigration {
    number: u32,
    name: &'static str,
    sql: &'static str,
}

/// In order. A released migration is never changed.
const MIGRATIONS: &[PostgresMigration] = &[
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

const fn migration(number: u32, name: &'static str, sql: &'static str) -> PostgresMigration {
    PostgresMigration { number, name, sql }
}

/// Number and name of each.
pub(crate) fn known_migrations() -> impl Iterator<Item = (i32, &'static str)> {
    MIGRATIONS.iter().map(|it| (it.number.cast_signed(), it.name))
}

/// Any constant will do that other programs do not use: the letters of "baton".
const LOCK: i64 = 0x0062_6174_6f6e;

/// Applies what is missing. The transaction ends the lock.
pub(crate) async fn migrate(
    transaction: &Transaction<'_>,
    place: &str,
) -> Result<(), DatabaseError> {
    let failed = |source| DatabaseError::preparing(place, Box::new(source));
    // One lock for each schema: several projects may share a database.
    let lock = SqlQuery::new("select pg_advisory_xact_lock($1, hashtext(current_schema()))")
        .with(small(LOCK as u32), Type::INT4);
    rows_in(transaction, &lock).await.map_err(failed)?;
    let applied = match is_listed(transaction).await.map_err(failed)? {
        true => applied(transaction).await.map_err(failed)?,
        false if has_tables(transaction).await.map_err(failed)? => {
            return Err(DatabaseError::NotOurs { place: place.to_owned() });
        }
        false => {
            let sql = "create table schema_migrations (
                           number integer primary key,
                           name text not null,
                           hash bytea not null,
                           applied_at timestamptz not null default now()
                       )";
            transaction.batch_execute(sql).await.map_err(|it| failed(to_store(it)))?;
            BTreeMap::new()
        }
    };
    let newest = MIGRATIONS.last().map_or(0, |it| it.number);
    if let Some((number, _)) = applied.last_key_value()
        && *number > newest
    {
        let number = i64::from(*number);
        return Err(DatabaseError::FromTheFuture { place: place.to_owned(), number });
    }
    for migration in MIGRATIONS {
        let hash: [u8; 32] = Sha256::digest(migration.sql).into();
        match applied.get(&migration.number) {
            Some(known) if *known == hash => {}
            Some(_) => {
                let number = migration.number.into();
                return Err(DatabaseError::Changed { place: place.to_owned(), number });
            }
            None => apply(transaction, migration, hash).await.map_err(failed)?,
        }
    }
    Ok(())
}

pub(crate) async fn is_listed(transaction: &Transaction<'_>) -> StoreResult<bool> {
    let query = SqlQuery::new("select to_regclass('schema_migrations') is not null as is_listed");
    let rows = rows_in(transaction, &query).await?;
    rows.first().map_or(Ok(false), |row| Columns::of(row, "schema", "is_listed").get("is_listed"))
}

async fn has_tables(transaction: &Transaction<'_>) -> StoreResult<bool> {
    let query = SqlQuery::new(
        "select exists (
             select 1 from pg_class where relnamespace = current_schema()::regnamespace
                 and relkind in ('r', 'v', 'p')
         ) as has_tables",
    );
    let rows = rows_in(transaction, &query).await?;
    rows.first().map_or(Ok(true), |row| Columns::of(row, "schema", "n").get("has_tables"))
}

async fn applied(transaction: &Transaction<'_>) -> StoreResult<BTreeMap<u32, [u8; 32]>> {
    let query = SqlQuery::new("select number, hash from schema_migrations");
    let rows = rows_in(transaction, &query).await?;
    let read = |row| {
        let row = Columns::of(row, "schema_migrations", "number");
        Ok((row.small("number")?, row.bytes("hash")?))
    };
    rows.iter().map(read).collect()
}

async fn apply(
    transaction: &Transaction<'_>,
    migration: &PostgresMigration,
    hash: [u8; 32],
) -> StoreResult<()> {
    transaction.batch_execute(migration.sql).await.map_err(to_store)?;
    let query =
        SqlQuery::new("insert into schema_migrations (number, name, hash) values ($1, $2, $3)")
            .with(small(migration.number), Type::INT4)
            .with(migration.name, Type::TEXT)
            .with(hash.to_vec(), Type::BYTEA);
    rows_in(transaction, &query).await.map(|_| ())
}

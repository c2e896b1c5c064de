//! What is moved to another backend is everything that there is.

use std::collections::BTreeSet;

use baton_store::Store as _;
use baton_store::moved_tables::{MOVED_TABLES, MovedTable, TableDigest, TableHasher};
use baton_store_postgres::{DatabaseError, MoveTarget, PostgresSettings, PostgresStore};
use baton_store_tests::sample::{put_all, tale};
use baton_test_postgres::TestSchema;

use crate::database::open;

/// What belongs to this backend, or to the nodes on it, and not to the data.
const KEPT: [&str; 9] = [
    "counters",
    "derivations",
    "identity",
    "moving",
    "nodes",
    "pushed_files",
    "schema_migrations",
    "secrets",
    "story_chain",
];
/// Worked out from other columns.
const DERIVED: [&str; 1] = ["answered.id"];

async fn digest(store: &PostgresStore, table: &'static MovedTable) -> TableDigest {
    let mut hasher = TableHasher::default();
    let mut after = None;
    loop {
        let rows = store.moved_rows(table, after.as_deref(), 2).await.unwrap();
        let Some(last) = rows.last() else { return hasher.finish() };
        after = Some(table.key_of(last).to_vec());
        rows.iter().for_each(|it| hasher.add(it));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_and_every_column_is_moved() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    let found = schema.sql(
        "select table_name || '.' || column_name from information_schema.columns
         join information_schema.tables using (table_schema, table_name)
         where table_schema = current_schema() and table_type = 'BASE TABLE'",
    );
    let is_moved = |it: &&str| {
        let table = it.split('.').next().unwrap_or_default();
        !KEPT.contains(&table) && !DERIVED.contains(it)
    };
    let found: BTreeSet<&str> = found.lines().filter(is_moved).collect();
    let moved = MOVED_TABLES.iter().flat_map(|table| {
        table.columns.iter().map(|column| format!("{}.{}", table.name, column.name))
    });
    let moved: BTreeSet<String> = moved.collect();
    assert_eq!(moved.iter().map(String::as_str).collect::<BTreeSet<_>>(), found);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn moved_data_is_the_same_and_sound_and_closed_to_others_before() {
    let [from, to] = [TestSchema::fresh(), TestSchema::fresh()];
    let source = open(&from).await;
    put_all(&source, &tale(1, "s-1")).await;
    put_all(&source, &tale(2, "s-2")).await;
    let settings = PostgresSettings::parse(&to.url()).unwrap();
    let target = PostgresStore::open_to_move(&settings).await.unwrap();
    assert_eq!(target.move_target().await.unwrap(), MoveTarget::Empty);
    let project = source.identity().await.unwrap().project;
    target.begin_move(project).await.unwrap();
    assert_eq!(target.move_target().await.unwrap(), MoveTarget::Begun(project));
    let refused = PostgresStore::open(&settings).await.unwrap_err();
    assert!(matches!(refused, DatabaseError::Moving { .. }), "{refused}");
    for table in MOVED_TABLES {
        loop {
            let after = target.last_moved_key(table).await.unwrap();
            let rows = source.moved_rows(table, after.as_deref(), 3).await.unwrap();
            if rows.is_empty() {
                break;
            }
            target.put_moved(table, &rows).await.unwrap();
            // A second time changes nothing.
            target.put_moved(table, &rows).await.unwrap();
        }
        assert_eq!(digest(&target, table).await, digest(&source, table).await, "{}", table.name);
    }
    target.finish_move(project, source.last_numbers().await.unwrap()).await.unwrap();
    assert_eq!(target.move_target().await.unwrap(), MoveTarget::Used(project));
    assert_eq!(target.check().await.unwrap().problems, Vec::<String>::new());
    put_all(&target, &tale(3, "s-3")).await;
    let [old, new] = [&source, &target];
    assert!(new.last_position().await.unwrap() > old.last_position().await.unwrap());
    let runs = new.run_numbers(0, 10).await.unwrap();
    assert_eq!(runs, [1, 2, 3]);
    source.close().await;
    target.close().await;
}

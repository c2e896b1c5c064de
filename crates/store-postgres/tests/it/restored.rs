//! When positions of the log are counted in another epoch: after a restore, of whatever kind, and never
//! otherwise. A store that was open meanwhile writes nothing more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_store::{AppendError, Position, Store, StoreError, WriteFault};
use baton_store_postgres::PostgresStore;
use baton_store_tests::sample::*;
use baton_test_postgres::{Cluster, ClusterStop, Durability, TestSchema};
use tokio::task::JoinSet;

use crate::database::{bare, open, open_at};

/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

async fn epoch(store: &PostgresStore) -> String {
    store.identity().await.unwrap().epoch
}

async fn last(store: &PostgresStore) -> Position {
    store.last_position().await.unwrap()
}

#[track_caller]
fn assert_is_replaced(error: &AppendError) {
    let is_replaced =
        matches!(error, AppendError::Store(StoreError::Unwritable(WriteFault::Replaced { .. })));
    assert!(is_replaced, "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn opening_a_store_beside_writers_changes_neither_epoch_nor_base() {
    let schema = Arc::new(TestSchema::fresh());
    let first = open(&schema).await;
    let before = schema.sql("select epoch, position_base from identity");
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for n in 0..4_u32 {
        let (schema, is_over) = (schema.clone(), is_over.clone());
        writers.spawn(async move {
            let store = open(&schema).await;
            let mut run = 10 + n * 10_000;
            while !is_over.load(Ordering::Relaxed) {
                put_all(&store, &tale(run, &format!("s-{run}"))).await;
                run += 1;
            }
        });
    }
    for _ in 0..25 {
        let opened = open(&schema).await;
        opened.close().await;
    }
    is_over.store(true, Ordering::Relaxed);
    writers.join_all().await;
    assert_eq!(schema.sql("select epoch, position_base from identity"), before);
    assert_eq!(first.write_fault(), None);
}

/// With an old transaction in another schema, which holds back what is complete.
#[tokio::test]
async fn opening_a_store_beside_an_open_transaction_changes_nothing() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    let mut client = bare(&schema).await;
    let old = client.transaction().await.unwrap();
    old.batch_execute("create table held (id integer)").await.unwrap();
    // Later transactions than the open one have written.
    for n in 1..4 {
        store.append(start(n, &format!("s-{n}")).into()).await.unwrap();
    }
    let before = schema.sql("select epoch, position_base from identity");
    open(&schema).await.close().await;
    assert_eq!(schema.sql("select epoch, position_base from identity"), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_in_another_database_has_another_epoch_and_the_original_keeps_its_own() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    cluster.sql("create database shop").unwrap();
    let store = open_at(&cluster.url_of("shop")).await;
    put_all(&store, &tale(1, "s-1")).await;
    let (of_shop, end) = (epoch(&store).await, last(&store).await);
    store.close().await;
    cluster.stop(ClusterStop::Fast).unwrap();
    cluster.start_again().unwrap();
    cluster.sql("create database copy template shop").unwrap();
    let copy = open_at(&cluster.url_of("copy")).await;
    let of_copy = epoch(&copy).await;
    assert_ne!(of_copy, of_shop);
    assert!(copy.append(start(2, "s-2").into()).await.unwrap().position > end);
    copy.close().await;
    for (database, expected) in [("shop", of_shop), ("copy", of_copy)] {
        let again = open_at(&cluster.url_of(database)).await;
        assert_eq!(epoch(&again).await, expected, "{database}");
    }
}

fn dumped(schema: &TestSchema, cluster: &Cluster) -> String {
    cluster.programs().dump(schema.server_url(), schema.name()).unwrap()
}

/// Its transactions may have lower ids there, or higher ones.
#[tokio::test(flavor = "multi_thread")]
async fn data_restored_into_another_server_goes_on_in_another_epoch() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    for n in 1..=40 {
        put_all(&store, &tale(n, &format!("s-{n}"))).await;
    }
    let (before, end) = (epoch(&store).await, last(&store).await);
    let dump = dumped(&schema, &cluster);
    for n_used in [0, 2000] {
        cluster.sql("create table burnt (id integer)").unwrap();
        let burn = "do $$ begin for n in 1..N loop
             insert into burnt values (n); commit; end loop; end $$";
        cluster.sql(&burn.replace('N', &n_used.to_string())).unwrap();
        cluster.programs().restore(&cluster.url(), &dump).unwrap();
        let url = format!("{}?schema={}", cluster.url(), schema.name());
        let restored = open_at(&url).await;
        let after = epoch(&restored).await;
        assert_ne!(after, before, "{n_used}");
        assert_eq!(last(&restored).await, end, "all of it can be read at once");
        let added = restored.append(start(1000, "x").into()).await.unwrap();
        assert!(added.position > end, "{n_used}");
        restored.close().await;
        assert_eq!(epoch(&open_at(&url).await).await, after, "opened again, nothing changes");
        cluster.sql(&format!("drop table burnt; drop schema {} cascade", schema.name())).unwrap();
    }
}

/// `pg_restore --clean` of an older dump.
#[tokio::test(flavor = "multi_thread")]
async fn data_restored_into_its_own_database_goes_on_in_another_epoch() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    put_all(&store, &tale(1, "s-1")).await;
    let before = epoch(&store).await;
    let dump = dumped(&schema, &cluster);
    put_all(&store, &tale(2, "s-2")).await;
    let end = last(&store).await;
    schema.sql(&format!("drop schema {} cascade", schema.name()));
    cluster.programs().restore(schema.server_url(), &dump).unwrap();
    let restored = open(&schema).await;
    assert_ne!(epoch(&restored).await, before);
    assert!(restored.append(start(3, "s-3").into()).await.unwrap().position > end);
    // The store of before has its runs in memory, and leaves these alone.
    noticed(&store).await;
    assert_is_replaced(&store.append(start(4, "s-4").into()).await.unwrap_err());
}

async fn noticed(store: &PostgresStore) {
    tokio::time::timeout(LONG, store.replaced()).await.expect("it is noticed");
    let fault = store.write_fault().unwrap();
    assert_eq!(fault.code(), "data_replaced");
}

/// A standby that takes over, or a server restored to a point in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_over_goes_on_in_another_epoch() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let store = open_at(&cluster.url()).await;
    put_all(&store, &tale(1, "s-1")).await;
    let (before, end) = (epoch(&store).await, last(&store).await);
    cluster.take_over().unwrap();
    // Nothing that was decided on what this store remembers is written there.
    let refused = loop {
        let error = store.append(start(2, "s-2").into()).await.unwrap_err();
        if !matches!(error, AppendError::Store(StoreError::Unavailable(_))) {
            break error;
        }
    };
    assert_is_replaced(&refused);
    noticed(&store).await;
    let again = open_at(&cluster.url()).await;
    let after = epoch(&again).await;
    assert_ne!(after, before);
    assert!(again.append(start(2, "s-2").into()).await.unwrap().position > end);
    assert_eq!(epoch(&open_at(&cluster.url()).await).await, after);
}

/// Files of the server that were put back leave no other trace.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_finds_less_than_it_has_read_begins_another_epoch() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    put_all(&store, &tale(1, "s-1")).await;
    let before = epoch(&store).await;
    last(&store).await;
    schema.sql("delete from events where position = (select max(position) from events)");
    noticed(&store).await;
    assert_ne!(epoch(&open(&schema).await).await, before);
}

/// Another node has found that the data was restored.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_stops_where_the_epoch_has_changed() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    put_all(&store, &tale(1, "s-1")).await;
    schema.sql("update identity set epoch = 'aaaaaaaa'");
    noticed(&store).await;
    assert_is_replaced(&store.append(start(2, "s-2").into()).await.unwrap_err());
    assert_eq!(epoch(&open(&schema).await).await, "aaaaaaaa");
}

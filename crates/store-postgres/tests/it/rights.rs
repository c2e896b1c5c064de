//! A role that may do what it needs, and no more: servers give no other.

use std::time::Duration;

use baton_store::{AppendError, Store, StoreError, WriteFault};
use baton_store_postgres::{DatabaseError, LogHolder, PostgresSettings, PostgresStore};
use baton_store_tests::sample::*;
use baton_test_postgres::{Cluster, ClusterStop, Durability, TestSchema};
use tokio_postgres::NoTls;

use crate::database::{open, open_at};

/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_of_another_role_is_named_where_it_holds_back_events() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let url = cluster.url_of_role("shop").unwrap();
    let store = open_at(&url).await;
    let (client, connection) = tokio_postgres::connect(&cluster.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("begin; create table held (id integer)").await.unwrap();
    let row = client.query_one("select pg_backend_pid()", &[]).await.unwrap();
    let pid: i32 = row.get(0);
    store.append(start(1, "s-1").into()).await.unwrap();
    let lagging = async {
        loop {
            // Its events are of 1970, so they count as late at once.
            if let Some(lag) = store.lag_now().await.unwrap() {
                return lag;
            }
        }
    };
    let lag = tokio::time::timeout(LONG, lagging).await.expect("it is noticed");
    assert_eq!(lag.holder, Some(LogHolder::Process(pid)));
    // Another process, which has just begun, finds the same.
    let lag = open_at(&url).await.lag_now().await.unwrap();
    assert_eq!(lag.and_then(|it| it.holder), Some(LogHolder::Process(pid)));
    client.batch_execute("rollback").await.unwrap();
    let readable = async { while store.lag_now().await.unwrap().is_some() {} };
    tokio::time::timeout(LONG, readable).await.expect("it is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_transaction_is_named_where_it_holds_back_events() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    cluster.set("max_prepared_transactions", "2").unwrap();
    cluster.stop(ClusterStop::Fast).unwrap();
    cluster.start_again().unwrap();
    let store = open_at(&cluster.url()).await;
    cluster.sql("begin; create table held (id integer); prepare transaction 'of payroll'").unwrap();
    store.append(start(1, "s-1").into()).await.unwrap();
    let lag = async {
        loop {
            if let Some(lag) = store.lag_now().await.unwrap() {
                return lag;
            }
        }
    };
    let lag = tokio::time::timeout(LONG, lag).await.expect("it is noticed");
    let (name, database) = ("of payroll".to_owned(), "postgres".to_owned());
    assert_eq!(lag.holder, Some(LogHolder::Prepared { name, database }));
    cluster.sql("rollback prepared 'of payroll'").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_is_said_until_there_is_room() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    schema.sql(
        "create function fill() returns trigger language plpgsql as
             'begin raise exception using errcode = ''53100''; end';
         create trigger filled before insert on events for each row execute function fill()",
    );
    let refused = store.append(start(1, "s-1").into()).await.unwrap_err();
    let is_said =
        matches!(refused, AppendError::Store(StoreError::Unwritable(WriteFault::DiskFull)));
    assert!(is_said, "{refused:?}");
    assert_eq!(store.write_fault(), Some(WriteFault::DiskFull));
    // Without a command: there is room for what it tries.
    is_fault(&store, None).await;
    assert!(store.append(start(1, "s-1").into()).await.is_err());
    assert_eq!(store.write_fault(), Some(WriteFault::DiskFull));
    schema.sql("drop trigger filled on events");
    store.append(start(1, "s-1").into()).await.unwrap();
    assert_eq!(store.write_fault(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_without_the_rights_it_needs_is_refused() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let url = cluster.url_of_role("shop").unwrap();
    let shop = &cluster.url_of("shop");
    let programs = cluster.programs();
    programs.sql(shop, "create schema theirs; create table theirs.t (id integer)").unwrap();
    let settings = PostgresSettings::parse(&format!("{url}?schema=theirs")).unwrap();
    let refused = PostgresStore::open(&settings).await.unwrap_err();
    assert_eq!(refused.code(), "database_refused", "{refused:?}");
    assert!(matches!(refused, DatabaseError::Rights { .. }), "{refused:?}");
    // Of a right that was taken away later.
    let store = open_at(&url).await;
    programs.sql(shop, "revoke insert, update on all tables in schema public from shop").unwrap();
    programs
        .sql(shop, "alter table runs owner to baton; alter table events owner to baton")
        .unwrap();
    assert!(store.append(start(1, "s-1").into()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_writes_is_read_and_says_so_until_it_takes_them() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let url = cluster.url_of_role("shop").unwrap();
    let store = open_at(&url).await;
    put_all(&store, &tale(1, "s-1")).await;
    let read_only = |it| {
        cluster
            .sql(&format!("alter database shop set default_transaction_read_only = {it}"))
            .unwrap();
        let sql = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'shop'";
        cluster.sql(sql).unwrap();
    };
    read_only("on");
    is_fault(&store, Some(WriteFault::DatabaseReadOnly)).await;
    let refused = store.append(start(2, "s-2").into()).await.unwrap_err();
    let is_said =
        matches!(refused, AppendError::Store(StoreError::Unwritable(WriteFault::DatabaseReadOnly)));
    assert!(is_said, "{refused:?}");
    // It can be opened, and looked at.
    let looking = open_at(&url).await;
    assert_eq!(looking.write_fault(), Some(WriteFault::DatabaseReadOnly));
    assert_eq!(looking.check().await.unwrap().problems, Vec::<String>::new());
    read_only("off");
    is_fault(&store, None).await;
    put_all(&store, &tale(2, "s-2")).await;
}

async fn is_fault(store: &PostgresStore, expected: Option<WriteFault>) {
    let noticed = async {
        while store.write_fault() != expected {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, noticed).await.expect("it is noticed");
}

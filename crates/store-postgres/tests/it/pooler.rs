//! Behind a pooler that gives each transaction another connection: no state of a session is relied on.

use std::sync::Arc;

use baton_store::{EventFilter, Position, Store};
use baton_store_postgres::{PostgresSettings, PostgresStore};
use baton_store_tests::sample::*;
use baton_test_postgres::{Cluster, Durability, Pooler, TestSchema};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::database::open_at;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_work_through_a_transaction_pooler() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    // Fewer connections than the nodes would have: they take turns on each.
    let pooler = Pooler::start(&cluster, 3).unwrap();
    let url = format!("{}?pooler=transaction&pool=6", cluster.url_at(pooler.port()));
    let nodes = [Arc::new(open_at(&url).await), Arc::new(open_at(&url).await)];
    let mut writers = JoinSet::new();
    for n in 1..=12_u32 {
        let node = nodes[n as usize % 2].clone();
        writers.spawn(async move { put_all(&*node, &tale(n, &format!("s-{n}"))).await });
    }
    writers.join_all().await;
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    let events = nodes[0].events(&filter).await.unwrap();
    assert_eq!(events.len(), 12 * 7);
    assert_eq!(nodes[1].events(&filter).await.unwrap(), events);
    assert_eq!(nodes[0].check().await.unwrap().problems, Vec::<String>::new());
    let held = nodes[0].lock("sweeps").await.unwrap();
    drop(held);
    nodes[1].lock("sweeps").await.unwrap();
}

/// A pooler hands the settings of a session to nobody, or to others.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_projects_behind_a_transaction_pooler_have_a_schema_each() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let pooler = Pooler::start(&cluster, 2).unwrap();
    let at = cluster.url_at(pooler.port());
    let [one, other] = ["x_a", "x_b"].map(|it| format!("{at}?schema={it}&pooler=transaction"));
    let [one, other] = [open_at(&one).await, open_at(&other).await];
    assert_ne!(one.identity().await.unwrap().project, other.identity().await.unwrap().project);
    put_all(&one, &tale(1, "s-1")).await;
    let n_runs = async |store: &PostgresStore| store.run_numbers(0, 9).await.unwrap().len();
    assert_eq!((n_runs(&one).await, n_runs(&other).await), (1, 0));
    assert_eq!(one.check().await.unwrap().problems, Vec::<String>::new());
    let elsewhere = "select count(*) from pg_tables where schemaname = 'public'";
    assert_eq!(cluster.sql(elsewhere).unwrap(), "0");
    assert_eq!(cluster.sql("select count(*) from x_a.runs").unwrap(), "1");
    // The same database without the pooler is the same project.
    let direct = open_at(&format!("{}?schema=x_a", cluster.url())).await;
    assert_eq!(direct.identity().await.unwrap(), one.identity().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_statement_behind_a_transaction_pooler_ends_after_its_time() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let pooler = Pooler::start(&cluster, 4).unwrap();
    let at = cluster.url_at(pooler.port());
    let store = open_at(&format!("{at}?pooler=transaction&statement_timeout=1")).await;
    let (client, connection) = tokio_postgres::connect(&cluster.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("begin; lock table runs in access exclusive mode").await.unwrap();
    assert!(store.append(start(1, "s-1").into()).await.is_err(), "it would wait for ever");
    client.batch_execute("rollback").await.unwrap();
    store.append(start(1, "s-1").into()).await.unwrap();
}

#[tokio::test]
async fn an_address_that_leads_to_another_schema_than_it_names_is_refused() {
    let schema = TestSchema::fresh();
    let url = format!("{}&options=-c%20search_path%3Dpublic", schema.url());
    let refused = PostgresStore::open(&PostgresSettings::parse(&url).unwrap()).await.unwrap_err();
    assert_eq!(refused.code(), "database_unsuitable", "{refused}");
    assert!(refused.to_string().contains("use the schema `public`"), "{refused}");
}

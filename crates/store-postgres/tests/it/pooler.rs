//! Behind a pooler that gives each transaction another connection: no state of a session is relied on.

use std::sync::Arc;

use baton_store::{EventFilter, Position, Store};
use baton_store_tests::sample::*;
use baton_test_postgres::{Cluster, Durability, Pooler};
use tokio::task::JoinSet;

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

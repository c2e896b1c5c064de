//! The schema: made by whichever node comes first, and widened while older nodes work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_store_tests::dump;
use baton_store_tests::sample::*;
use baton_test_postgres::TestSchema;
use tokio::task::JoinSet;

use crate::database::{bare, open};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nodes_that_come_at_once_make_the_schema_once() {
    let schema = Arc::new(TestSchema::fresh());
    let mut nodes = JoinSet::new();
    for _ in 0..6 {
        let schema = schema.clone();
        nodes.spawn(async move { open(&schema).await });
    }
    let nodes = nodes.join_all().await;
    put_all(&nodes[0], &tale(1, "s-1")).await;
    let first = dump(&nodes[0]).await;
    for node in &nodes[1..] {
        assert_eq!(dump(node).await, first);
    }
}

/// A newer node adds; what an older one uses stays. Its statements are prepared already.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_older_node_goes_on_while_a_newer_one_widens_the_schema() {
    let schema = TestSchema::fresh();
    let store = Arc::new(open(&schema).await);
    put_all(&*store, &tale(1, "s-1")).await;
    let is_wider = Arc::new(AtomicBool::new(false));
    let working = tokio::spawn({
        let (store, is_wider) = (store.clone(), is_wider.clone());
        async move {
            let mut n_after = 0;
            for n in 2..10_000 {
                n_after += u32::from(is_wider.load(Ordering::Relaxed));
                put_all(&*store, &tale(n, &format!("s-{n}"))).await;
                if n_after == 5 {
                    return n;
                }
            }
            0
        }
    });
    let newer = bare(&schema).await;
    let expand = "
        set lock_timeout = '10s';
        create table next_things (id bigint primary key, what text not null);
        alter table runs add column next_word text;
        alter table handoffs add column next_number bigint not null default 7;
        alter table events add column next_flag boolean;
        alter table contents add column next_text text;
        create index next_runs on runs (moved_at);
    ";
    newer.batch_execute(expand).await.unwrap();
    is_wider.store(true, Ordering::Relaxed);
    let last = working.await.unwrap();
    assert!(last > 0);
    let text = dump(&*store).await;
    assert_eq!(text.matches("RunRow {").count(), last as usize);
}

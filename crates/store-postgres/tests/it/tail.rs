//! The end of the log: what commits late is not skipped, as it would be by a reader that remembers only
//! the last position it has seen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_store::{EventFilter, Position, Store};
use baton_store_postgres::PostgresStore;
use baton_store_tests::sample::*;
use baton_test_postgres::TestSchema;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::database::{bare, open};

/// An event of run 1 in the place of the caller's transaction, as an append writes it.
const LATE: &str = "
    insert into events (position, run_number, version, happened_at, name, done_by, hash, body)
    select identity.position_base + pg_current_xact_id()::text::bigint * 4096, 1, 1000000 + $1::bigint,
        happened_at, name, done_by, hash, body
    from events, identity where run_number = 1 and version = 1
    returning position";
/// Longer than anything takes that is going to happen at all.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_commits_late_is_read_in_its_place() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    put(&store, &start(1, "s-1")).await;
    let mut client = bare(&schema).await;
    let late = client.transaction().await.unwrap();
    let row = late.query_one(LATE, &[&1_i64]).await.unwrap();
    let position = Position(row.get::<_, i64>(0).unsigned_abs());
    let appended = store.append(start(2, "s-2").into()).await.unwrap();
    assert!(appended.position > position);
    // The log ends before the open transaction, for everybody who reads all of it.
    assert!(positions(&store).await.into_iter().all(|it| it < position));
    assert!(store.last_position().await.unwrap() < position);
    // The new run itself is there at once.
    let of_run = EventFilter { after: Position::START, run: Some(run_id(2)), limit: 0 };
    assert_eq!(store.events(&of_run).await.unwrap().len(), 1);
    late.commit().await.unwrap();
    shown(&store, appended.position).await;
    let all = positions(&store).await;
    assert_eq!(all[1..], [position, appended.position]);
}

/// The measured fault that the order by transactions avoids.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_naive_tail_loses_events_under_load_and_ours_loses_none() {
    let schema = Arc::new(TestSchema::fresh());
    let store = Arc::new(open(&schema).await);
    put(&*store, &start(1, "s-1")).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (end, mut naive_end) = watch::channel(0);
    let naive = naive_tail(bare(&schema).await, is_over.clone(), end);
    let naive = tokio::spawn(naive);
    let ours = tokio::spawn(our_tail(store.clone(), is_over.clone()));
    let mut writers = JoinSet::new();
    for n in 0..4_u32 {
        // Each is a node of its own.
        let store = open(&schema).await;
        writers.spawn(async move {
            for run in 0..15 {
                let run = 10 + n * 100 + run;
                for append in tale(run, &format!("s-{run}")) {
                    store.append(append.into()).await.unwrap();
                }
            }
        });
    }
    let mut client = bare(&schema).await;
    for n in 0..20_i64 {
        // Held until the naive tail has read what others have committed behind it.
        let late = client.transaction().await.unwrap();
        let position: i64 = late.query_one(LATE, &[&n]).await.unwrap().get(0);
        let passed = timeout(LONG / 10, naive_end.wait_for(|it| *it > position)).await;
        let has_stopped = passed.is_err();
        late.commit().await.unwrap();
        if has_stopped {
            break;
        }
    }
    writers.join_all().await;
    is_over.store(true, Ordering::Relaxed);
    let (naive, ours) = (naive.await.unwrap(), ours.await.unwrap());
    let all = positions(&*store).await;
    assert_eq!(ours, all, "ours has every event once, in order");
    let naive: BTreeSet<_> = naive.into_iter().collect();
    let n_lost = all.iter().filter(|it| !naive.contains(it)).count();
    assert!(n_lost > 0, "the naive tail lost nothing of {}: there was no load", all.len());
}

/// What many systems do.
async fn naive_tail(
    client: Client,
    is_over: Arc<AtomicBool>,
    end: watch::Sender<i64>,
) -> Vec<Position> {
    let sql = "select position from events where position > $1 order by position";
    let mut seen: Vec<i64> = Vec::new();
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        let last = seen.last().copied().unwrap_or_default();
        let rows = client.query(sql, &[&last]).await.unwrap();
        seen.extend(rows.iter().map(|it| it.get::<_, i64>(0)));
        end.send_replace(seen.last().copied().unwrap_or_default());
        if was_over && rows.is_empty() {
            return seen.into_iter().map(|it| Position(it.unsigned_abs())).collect();
        }
    }
}

async fn our_tail(store: Arc<PostgresStore>, is_over: Arc<AtomicBool>) -> Vec<Position> {
    let mut seen: Vec<Position> = Vec::new();
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        let after = seen.last().copied().unwrap_or(Position::START);
        let filter = EventFilter { after, run: None, limit: 100 };
        let page = store.events(&filter).await.unwrap();
        seen.extend(page.iter().map(|it| it.position));
        if was_over && page.is_empty() {
            return seen;
        }
    }
}

async fn positions(store: &dyn Store) -> Vec<Position> {
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    store.events(&filter).await.unwrap().iter().map(|it| it.position).collect()
}

/// A node that only listens is told that the log has grown.
#[tokio::test]
async fn what_another_node_appends_becomes_known() {
    let schema = TestSchema::fresh();
    let (writer, listener) = (open(&schema).await, open(&schema).await);
    let mut settled = listener.settled().expect("other processes append too");
    for n in 1..=3 {
        let appended = writer.append(start(n, &format!("s-{n}")).into()).await.unwrap();
        let known = settled.wait_for(|it| *it >= appended.position);
        tokio::time::timeout(LONG, known).await.expect("it is told in time").unwrap();
        assert!(positions(&listener).await.contains(&appended.position));
    }
}

/// Work under one name waits for each other, also on another node.
#[tokio::test]
async fn a_lock_is_held_by_one_node_at_a_time() {
    let schema = TestSchema::fresh();
    let (one, other) = (open(&schema).await, open(&schema).await);
    let held = one.lock("sweeps").await.unwrap();
    let _another = other.lock("archive").await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(300), other.lock("sweeps")).await;
    assert!(waited.is_err(), "two nodes hold it");
    drop(held);
    tokio::time::timeout(LONG, other.lock("sweeps")).await.expect("it is free").unwrap();
}

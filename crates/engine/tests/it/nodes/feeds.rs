//! The log on every node: each event once, in order, also where it is complete only later.

use std::time::Duration;

use baton_engine::Feed;
use baton_store::{Position, StoredEvent};
use tokio::time::timeout;

use super::Cluster;
use crate::world::*;

/// Everything that is there already.
async fn read(feed: &mut Feed) -> Vec<StoredEvent> {
    let mut read = Vec::new();
    while let Some(event) = feed.read_next().await.unwrap() {
        read.push(event);
    }
    read
}

#[tokio::test]
async fn feeds_on_both_nodes_tell_what_settles_later_once_and_in_order() {
    let Cluster { shared, a, b, .. } = &Cluster::new().await;
    let mut feeds = [a.reads().feed(Position::START, None), b.reads().feed(Position::START, None)];
    let mut told = [Vec::new(), Vec::new()];
    for round in 0..5 {
        shared.hold_back();
        let (first, second) = (format!("a-{round}"), format!("b-{round}"));
        a.starts(&first).await.unwrap();
        b.starts(&second).await.unwrap();
        for feed in &mut feeds {
            assert_eq!(read(feed).await, [], "an older transaction may still add to the log");
        }
        b.on(&first, accept(1)).await.unwrap();
        shared.let_go();
        for (feed, told) in feeds.iter_mut().zip(&mut told) {
            told.push(feed.next().await.unwrap().unwrap());
            told.extend(read(feed).await);
        }
    }
    let cluster_log = a.store.events(&everything()).await.unwrap();
    assert!(cluster_log.is_sorted_by(|a, b| a.position < b.position));
    assert_eq!(told, [cluster_log.clone(), cluster_log]);
}

fn everything() -> baton_store::EventFilter {
    baton_store::EventFilter { after: Position::START, run: None, limit: 0 }
}

#[tokio::test]
async fn the_next_event_may_stand_at_the_very_end_of_the_log() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let mut tip = b.engine.tip();
    a.starts("s-1").await.unwrap();
    tip.changed().await.unwrap();
    let mut feed = b.reads().feed(Position::START, None);
    let n_first = read(&mut feed).await.len();
    // Nothing is there: the feed skips to the end of the log, and not beyond.
    assert_eq!(read(&mut feed).await, []);
    a.starts("s-2").await.unwrap();
    let rest = read(&mut feed).await;
    let all = a.store.events(&everything()).await.unwrap();
    assert_eq!(rest, all[n_first..]);
    assert!(!rest.is_empty());
}

#[tokio::test]
async fn a_feed_of_one_run_loses_nothing_either() {
    let Cluster { shared, a, b, .. } = &Cluster::new().await;
    let run = a.starts("s-1").await.unwrap().run;
    let mut feed = b.reads().feed(Position::START, Some(run));
    let mut told = read(&mut feed).await;
    shared.hold_back();
    b.starts("other").await.unwrap();
    told.extend(read(&mut feed).await);
    a.on("s-1", accept(1)).await.unwrap();
    told.extend(read(&mut feed).await);
    shared.let_go();
    told.extend(read(&mut feed).await);
    a.on("s-1", reject(1, "no")).await.unwrap();
    told.extend(read(&mut feed).await);
    let all = a.store.events(&everything()).await.unwrap();
    let expected: Vec<_> = all.into_iter().filter(|it| it.run == run).collect();
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_feed_that_waits_is_woken_by_what_settles() {
    let Cluster { shared, a, b, .. } = &Cluster::new().await;
    let mut feed = b.reads().feed(Position::START, None);
    shared.hold_back();
    let (next, ()) = tokio::join!(feed.next(), async {
        a.starts("s-1").await.unwrap();
        tokio::task::yield_now().await;
        shared.let_go();
    });
    assert_eq!(next.unwrap().unwrap().name, "run.started");
}

#[tokio::test]
async fn a_shutdown_ends_the_feeds_of_its_node_alone() {
    let Cluster { a, b, .. } = &Cluster::new().await;
    let mut ending = a.reads().feed(Position::START, None);
    let mut going_on = b.reads().feed(Position::START, None);
    let ended = tokio::spawn(async move { ending.next().await.unwrap() });
    a.engine.shutdown().await;
    assert_eq!(ended.await.unwrap(), None);
    b.starts("s-1").await.unwrap();
    assert!(going_on.next().await.unwrap().is_some());
}

#[tokio::test]
async fn who_waits_for_work_is_woken_by_a_commit_that_has_not_settled() {
    let Cluster { shared, a, .. } = &Cluster::new().await;
    let mut news = a.engine.news();
    news.borrow_and_update();
    shared.hold_back();
    a.starts("s-1").await.unwrap();
    assert!(news.has_changed().unwrap());
    assert_eq!(*a.engine.tip().borrow(), Position(4095), "the log is as it was");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_work_looks_again_while_the_log_is_held_back() {
    let Cluster { shared, a, b, .. } = &Cluster::new().await;
    shared.hold_back();
    let mut news = b.engine.news();
    a.starts("s-1").await.unwrap();
    news.borrow_and_update();
    timeout(Duration::from_secs(5), news.changed()).await.unwrap().unwrap();
}

//! A lease of one node is heard, kept and ended by all of them, as the store says.

use baton_core::command::{Command, LoseLease};
use baton_core::run::{HandoffNo, RunId};
use baton_engine::Ticked;
use baton_store::{HandoffRef, Store};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};

use super::Cluster;
use crate::world::*;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
const MARGIN: SignedDuration = SignedDuration::from_millis(500);

/// A handoff that is held through one node, by somebody who may be silent for 20 seconds.
async fn held(world: &World, story: &str) -> RunId {
    world.starts(story).await.unwrap();
    world.on(story, lease(1, 20)).await.unwrap().run
}

async fn hear(world: &World, run: RunId) -> Result<Timestamp, &'static str> {
    let which = HandoffRef::InRun(run, HandoffNo(1));
    world.engine.heartbeat(&caller("ada"), &which, 1).await.map_err(|it| it.code())
}

async fn n_lost(world: &World) -> u32 {
    world.engine.tick().await.unwrap().n_lost
}

/// When the only lease in the store ends.
async fn end_in_store(store: &dyn Store) -> Option<Timestamp> {
    store.timers(None, 0).await.unwrap().first().map(|it| it.due)
}

#[tokio::test]
async fn heartbeats_at_another_node_keep_the_lease() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    a.engine.keep_time().await.unwrap();
    b.engine.keep_time().await.unwrap();
    let run = held(a, "s-1").await;
    for _ in 0..20 {
        clock.advance(SECOND * 5);
        assert_eq!((n_lost(a).await, n_lost(b).await), (0, 0));
        let until = hear(b, run).await.unwrap();
        assert_eq!(end_in_store(a.store.as_ref()).await, Some(until), "before it is answered");
    }
    for _ in 0..4 {
        assert_eq!((n_lost(a).await, n_lost(b).await), (0, 0));
        clock.advance(SECOND * 5);
    }
    assert_eq!((n_lost(a).await, n_lost(b).await), (0, 0), "clocks may differ a little");
    clock.advance(MARGIN);
    assert_eq!((n_lost(a).await, n_lost(b).await), (1, 0), "the other node finds it done");
    a.is_sound().await;
}

#[tokio::test]
async fn when_a_node_has_died_another_ends_the_leases_that_it_granted() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    b.engine.keep_time().await.unwrap();
    let run = held(a, "s-1").await;
    hear(a, run).await.unwrap();
    for _ in 0..4 {
        assert_eq!(n_lost(b).await, 0);
        clock.advance(SECOND * 5);
    }
    assert_eq!(n_lost(b).await, 0, "clocks may differ a little");
    clock.advance(MARGIN);
    assert_eq!(b.engine.tick().await.unwrap(), Ticked { n_lost: 1, ..Ticked::default() });
    assert_eq!(hear(b, run).await, Err("finished"));
    assert_eq!(hear(a, run).await, Err("finished"), "and so is the node that granted it");
    clock.advance(SECOND);
    assert_eq!(b.engine.tick().await.unwrap(), Ticked { n_woken: 1, ..Ticked::default() });
    b.is_sound().await;
}

#[tokio::test]
async fn a_node_that_could_not_listen_ends_no_lease_for_a_full_period() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    held(a, "s-1").await;
    clock.advance(SECOND * 3600);
    b.engine.keep_time().await.unwrap();
    for _ in 0..4 {
        assert_eq!(n_lost(b).await, 0, "it has just started");
        clock.advance(SECOND * 4);
    }
    clock.advance(SECOND * 60);
    for _ in 0..4 {
        assert_eq!(n_lost(b).await, 0, "it was asleep");
        clock.advance(SECOND * 5);
    }
    assert_eq!(n_lost(b).await, 0);
    clock.advance(MARGIN);
    assert_eq!(n_lost(b).await, 1);
}

#[tokio::test]
async fn a_process_that_does_not_keep_time_leaves_leases_to_those_that_do() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    held(a, "s-1").await;
    clock.advance(SECOND * 39);
    assert_eq!(b.engine.sweep_some().await.unwrap().ticked.n_lost, 0);
    clock.advance(SECOND * 2);
    assert_eq!(b.engine.sweep_some().await.unwrap().ticked.n_lost, 1, "there is none");
}

#[tokio::test]
async fn a_late_heartbeat_is_refused_where_another_node_ends_the_lease_just_then() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    let run = held(a, "s-1").await;
    hear(b, run).await.unwrap();
    clock.advance(SECOND * 20);
    // The other node has read that the lease is over, and is about to end it.
    let ending = a.store.lock("timers").await.unwrap();
    let until = clock_now(a) + SECOND * 20;
    let end = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(end_in_store(a.store.as_ref()).await, Some(until), "it is written");
        let lose = Command::LoseLease(LoseLease::unheard(HandoffNo(1), 1));
        a.engine.on_run(&caller("ada"), run, lose).await.unwrap();
        drop(ending);
    };
    let (heard, ()) = tokio::join!(hear(b, run), end);
    assert_eq!(heard, Err("finished"));
}

#[tokio::test]
async fn a_late_heartbeat_is_heard_where_no_node_has_ended_the_lease() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    a.engine.keep_time().await.unwrap();
    let run = held(a, "s-1").await;
    clock.advance(SECOND * 20);
    assert_eq!(hear(b, run).await, Ok(clock_now(a) + SECOND * 20));
    clock.advance(SECOND);
    assert_eq!(n_lost(a).await, 0);
}

#[tokio::test]
async fn many_heartbeats_at_once_are_each_answered_for_their_own_lease() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    let mut runs = Vec::new();
    for n in 0..30 {
        runs.push(held(a, &format!("s-{n}")).await);
    }
    let twice = || join_all(runs.iter().chain(&runs).map(|run| hear(b, *run)));
    let until = Ok(clock_now(a) + SECOND * 20);
    assert!(twice().await.iter().all(|it| *it == until));
    a.on("s-7", reject(1, "no")).await.unwrap();
    clock.advance(SECOND * 5);
    let answers = twice().await;
    let until = Ok(clock_now(a) + SECOND * 20);
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, if n % 30 == 7 { Err("finished") } else { until }, "{n}");
    }
    let timers = a.store.timers(None, 0).await.unwrap();
    assert!(timers.len() == 29 && timers.iter().all(|it| Ok(it.due) == until));
}

#[tokio::test]
async fn two_nodes_that_tick_at_once_end_a_lease_once() {
    let Cluster { clock, a, b, .. } = &Cluster::new().await;
    a.engine.keep_time().await.unwrap();
    b.engine.keep_time().await.unwrap();
    for n in 0..10 {
        held(a, &format!("s-{n}")).await;
    }
    for _ in 0..5 {
        clock.advance(SECOND * 4);
        assert_eq!((n_lost(a).await, n_lost(b).await), (0, 0));
    }
    clock.advance(MARGIN);
    let (first, second) = tokio::join!(n_lost(a), n_lost(b));
    assert_eq!((first, second), (10, 0));
    a.is_sound().await;
}

fn clock_now(world: &World) -> Timestamp {
    baton_engine::Clock::now(world.clock.as_ref())
}

//! Heartbeats, commands and the clock at the same time: each lease is either kept or lost, and
//! nobody is told otherwise.

use std::sync::Arc;

use baton_core::run::{HandoffNo, RunId};
use baton_engine::{Engine, EngineError};
use baton_store::{HandoffRef, Store};
use jiff::SignedDuration;
use tokio::task::JoinSet;

use crate::world::*;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

fn first_of(run: RunId) -> HandoffRef {
    HandoffRef::InRun(run, HandoffNo(1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_that_was_heard_keeps_the_lease_and_one_that_was_not_does_not() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let mut runs = Vec::new();
        for n in 0..300 {
            world.starts(&format!("s-{n}")).await.unwrap();
            runs.push(world.on(&format!("s-{n}"), lease(1, 20)).await.unwrap().run);
        }
        world.clock.advance(SECOND * 20);
        let mut holders = JoinSet::new();
        for run in runs {
            let engine = world.engine.clone();
            holders.spawn(async move {
                (run, engine.heartbeat(&caller("ada"), &first_of(run), 1).await)
            });
        }
        let engine = world.engine.clone();
        let clock = tokio::spawn(async move { engine.tick().await.unwrap().n_lost });
        let heard = holders.join_all().await;
        let n_lost = clock.await.unwrap();
        let n_heard = heard.iter().filter(|(_, it)| it.is_ok()).count();
        assert_eq!(n_heard + n_lost as usize, 300);
        for (run, heard) in heard {
            let state = world.row(run, 1).await.state.name();
            match heard {
                Ok(until) => {
                    assert_eq!((state, until), ("accepted", BEGINNING + SECOND * 40));
                }
                Err(error) => {
                    assert_eq!(state, "timed_out");
                    assert!(["no_lease", "finished"].contains(&error.code()), "{error}");
                }
            }
        }
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_is_finished_in_the_last_moment_is_finished() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let mut runs = Vec::new();
        for n in 0..200 {
            world.starts(&format!("s-{n}")).await.unwrap();
            runs.push(world.on(&format!("s-{n}"), lease(1, 20)).await.unwrap().run);
        }
        world.clock.advance(SECOND * 20);
        let mut holders = JoinSet::new();
        for run in runs.clone() {
            let engine = world.engine.clone();
            let done = complete(1, baton_core::outcome::Outcome::Success, r#"{"plan": "p"}"#);
            holders
                .spawn(async move { engine.on_run(&caller("analyst"), run, done).await.is_ok() });
        }
        let engine = world.engine.clone();
        let clock = tokio::spawn(async move { engine.tick().await.unwrap().n_lost });
        let n_done = holders.join_all().await.into_iter().filter(|it| *it).count();
        assert_eq!(n_done + clock.await.unwrap() as usize, 200);
        // Nothing is left that could end twice.
        world.clock.advance(SECOND);
        world.engine.tick().await.unwrap();
        world.clock.advance(SECOND * 60);
        assert_eq!(world.engine.tick().await.unwrap(), baton_engine::Ticked::default());
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_whose_caller_did_not_wait_for_the_answer_is_noticed_too() {
    let world = Backend::remembering().world().await;
    let run = world.starts("s-1").await.unwrap().run;
    {
        let ada = caller("ada");
        let accepted = world.engine.on_run(&ada, run, lease(1, 20));
        // Looked at once, which sends it off, and then dropped.
        tokio::select! {
            biased;
            _ = accepted => panic!("the disk was faster than nothing at all"),
            () = std::future::ready(()) => {}
        }
    }
    while world.store.timers(None, 0).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    world.clock.advance(SECOND * 20);
    // It is noticed now, and nothing could be heard before.
    assert_eq!(world.engine.tick().await.unwrap().n_lost, 0);
    world.clock.advance(SECOND * 20);
    assert_eq!(world.engine.tick().await.unwrap().n_lost, 1);
    assert_eq!(world.shows("s-1").await, "open; parked; HO-002 orchestrator→analyst pending");
    world.is_sound().await;
}

#[tokio::test]
async fn a_lease_that_another_node_granted_is_heard_here() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let other: Arc<dyn Store> = world.store.clone();
        let other = Engine::open(other, world.clock.clone(), catalog()).await.unwrap();
        let run = world.starts("s-1").await.unwrap().run;
        world.on("s-1", lease(1, 20)).await.unwrap();
        world.clock.advance(SECOND * 10);
        let until = other.heartbeat(&caller("ada"), &first_of(run), 1).await.unwrap();
        assert_eq!(until, BEGINNING + SECOND * 30);
        // And a no is said only after looking.
        world.on("s-1", reject(1, "no")).await.unwrap();
        let error = world.engine.heartbeat(&caller("ada"), &first_of(run), 1).await.unwrap_err();
        assert!(matches!(error, EngineError::Refused { .. }), "{error}");
    }
}

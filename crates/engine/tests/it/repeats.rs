//! Every command may be sent twice: the same key gives the same answer, whatever happened since.

use baton_core::outcome::Outcome as Ended;
use baton_core::run::HandoffNo;
use baton_engine::{CommandResult, EngineError};
use baton_store_tests::dump;
use jiff::SignedDuration;

use crate::world::*;

/// The second answer is the first, and nothing was done for it.
#[track_caller]
fn check_repeat(first: &CommandResult, second: Result<CommandResult, EngineError>) {
    let second = second.unwrap_or_else(|error| panic!("{}: {error}", error.code()));
    assert!(second.is_repeat);
    assert_eq!(second, CommandResult { is_repeat: true, ..first.clone() });
}

#[tokio::test]
async fn a_start_that_is_sent_twice_is_answered_twice() {
    for backend in Backend::all() {
        let mut world = backend.world().await;
        let first = world.engine.start(&keyed("k", 1), start("s-1")).await.unwrap();
        for _ in 0..2 {
            let before = dump(world.store.as_ref()).await;
            check_repeat(&first, world.engine.start(&keyed("k", 1), start("s-1")).await);
            assert_eq!(dump(world.store.as_ref()).await, before);
            world = world.reopened(catalog()).await;
        }
    }
}

#[tokio::test]
async fn a_create_that_ended_the_run_is_answered_twice_even_after_a_restart() {
    for backend in Backend::all() {
        let mut world = backend.world().await;
        let last = || create("documenter", "orchestrator", "{}");
        let send = async |world: &World| {
            world.engine.create(&keyed("k", 1), of_story("s-1"), last()).await
        };
        let first = send(&world).await.unwrap();
        for _ in 0..2 {
            check_repeat(&first, send(&world).await);
            world = world.reopened(catalog()).await;
        }
    }
}

#[tokio::test]
async fn a_create_that_would_now_be_a_duplicate_is_answered_twice() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let send = async || {
            let sent = create("analyst", "implementer", r#"{"plan": "p"}"#);
            world.engine.create(&keyed("k", 1), of_story("s-1"), sent).await
        };
        let first = send().await.unwrap();
        check_repeat(&first, send().await);
        world.on("s-1", accept(1)).await.unwrap();
        check_repeat(&first, send().await);
    }
}

#[tokio::test]
async fn the_same_key_with_another_request_is_a_mistake() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.engine.start(&keyed("k", 1), start("s-1")).await.unwrap();
        let before = dump(world.store.as_ref()).await;
        let error = world.engine.start(&keyed("k", 2), start("s-2")).await.unwrap_err();
        assert_eq!(error.code(), "key_reused");
        assert_eq!(dump(world.store.as_ref()).await, before);
    }
}

#[tokio::test]
async fn a_refused_command_does_not_use_up_its_key() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        let send = async |plan: &str, request| {
            let sent = create("analyst", "implementer", plan);
            world.engine.create(&keyed("k", request), of_story("s-1"), sent).await
        };
        assert_eq!(send("{}", 1).await.unwrap_err().code(), "contract");
        assert!(!send(r#"{"plan": "p"}"#, 2).await.unwrap().is_repeat);
    }
}

#[tokio::test]
async fn a_repeated_answer_tells_the_handoff_as_it_stood_then() {
    for backend in Backend::all() {
        for pause in [SignedDuration::ZERO, SignedDuration::from_mins(5)] {
            let world = backend.world().await;
            let started = world.engine.start(&keyed("start", 1), start("s-1")).await.unwrap();
            let pending = world.reads().row_of(&started, HandoffNo(1)).await.unwrap();
            world.clock.advance(pause);
            let accepted = world
                .engine
                .on_run(&keyed("accept", 2), started.run, acknowledged("I shall plan it"))
                .await
                .unwrap();
            let held = world.reads().row_of(&accepted, HandoffNo(1)).await.unwrap();
            world.clock.advance(pause);
            let plan = complete(1, Ended::Success, r#"{"plan": "p"}"#);
            world.on("s-1", plan).await.unwrap();

            let again = world.engine.start(&keyed("start", 1), start("s-1")).await.unwrap();
            assert_eq!(world.reads().row_of(&again, HandoffNo(1)).await.unwrap(), pending);
            let again =
                world.engine.on_run(&keyed("accept", 2), started.run, accept(1)).await.unwrap();
            assert_eq!(world.reads().row_of(&again, HandoffNo(1)).await.unwrap(), held);
        }
    }
}

#[tokio::test]
async fn a_mark_that_came_later_is_not_in_a_repeated_answer() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let started = world.engine.start(&keyed("start", 1), start("s-1")).await.unwrap();
        let pending = world.reads().row_of(&started, HandoffNo(1)).await.unwrap();
        world.clock.advance(SignedDuration::from_mins(31));
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
        let again = world.engine.start(&keyed("start", 1), start("s-1")).await.unwrap();
        assert_eq!(world.reads().row_of(&again, HandoffNo(1)).await.unwrap(), pending);
    }
}

fn acknowledged(words: &str) -> baton_core::command::Command {
    baton_core::command::Command::Accept(baton_core::command::Accept {
        handoff: HandoffNo(1),
        by: None,
        acknowledgement: Some(baton_core::acknowledgement::Acknowledgement::words(words)),
        lease: None,
    })
}

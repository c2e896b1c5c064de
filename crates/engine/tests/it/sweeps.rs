//! What only time brings about.

use baton_core::outcome::Outcome as Ended;
use baton_engine::{Sweeper, Swept};
use baton_store::HandoffFilter;
use jiff::SignedDuration;

use crate::world::*;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

async fn n_stale(world: &World) -> usize {
    let filter = HandoffFilter { is_stale: Some(true), ..HandoffFilter::default() };
    world.store.handoffs(&filter).await.unwrap().len()
}

#[tokio::test]
async fn a_handoff_is_stale_after_thirty_minutes_and_is_marked_once() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        world.clock.advance(MINUTE * 29);
        assert_eq!(world.engine.sweep().await.unwrap(), Swept::default());
        world.clock.advance(MINUTE);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 0);
        world.on("s-1", accept(1)).await.unwrap();
        assert_eq!(n_stale(&world).await, 0, "it has moved");
        world.clock.advance(MINUTE * 30);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_sweeper_sweeps_by_itself_until_it_is_stopped() {
    let world = Backend::Memory.world().await;
    world.starts("s-1").await.unwrap();
    let cursor = world.store.last_position().await.unwrap();
    world.clock.advance(MINUTE * 30);
    let engine = world.engine.clone();
    let mut feed = engine.feed(cursor, None);
    let sweeper = Sweeper::start(engine);
    assert_eq!(feed.next().await.unwrap().unwrap().name, "handoff.stale");
    sweeper.stop().await;
    world.is_sound().await;
}

#[tokio::test]
async fn a_run_is_late_by_the_workflow_that_it_began_with() {
    let flow = |stale_after: &str| {
        format!(
            "name: small\nstart: work\nlimits: {{ stale_after: {stale_after} }}\n\
             steps:\n  work:\n    agent: painter\n    on: {{ success: complete }}\n"
        )
    };
    let world = Backend::Sqlite.world_with(catalog_of(&[&flow("10m")], Some("small"))).await;
    world.starts("s-1").await.unwrap();
    let world = world.reopened(catalog_of(&[&flow("2h")], Some("small"))).await;
    world.starts("s-2").await.unwrap();
    world.clock.advance(MINUTE * 10);
    assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
    world.clock.advance(MINUTE * 110);
    assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
}

#[tokio::test]
async fn a_sweep_goes_through_every_page() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        for n in 0..450 {
            // Every third waits for a person, who is never late.
            let story = format!("s-{n:03}");
            world.starts(&story).await.unwrap();
            if n % 3 == 0 {
                world.on(&story, complete(1, Ended::Blocked, "{}")).await.unwrap();
            }
        }
        world.clock.advance(MINUTE * 30);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 300);
        assert_eq!(n_stale(&world).await, 300);
        world.clock.advance(SignedDuration::from_hours(24 * 365));
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 0);
    }
}

#[tokio::test]
async fn an_answer_can_be_asked_for_again_for_a_day() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        world.engine.start(&keyed("k", 1), start("s-1")).await.unwrap();
        world.clock.advance(SignedDuration::from_hours(24));
        assert_eq!(world.engine.sweep().await.unwrap().n_forgotten, 0);
        assert!(world.engine.start(&keyed("k", 1), start("s-1")).await.unwrap().is_repeat);
        world.clock.advance(SignedDuration::from_secs(1));
        assert_eq!(world.engine.sweep().await.unwrap().n_forgotten, 1);
        let error = world.engine.start(&keyed("k", 1), start("s-1")).await.unwrap_err();
        assert_eq!(error.code(), "already_open");
    }
}

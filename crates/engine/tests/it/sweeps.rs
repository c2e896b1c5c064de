//! What only time brings about.

use baton_core::outcome::Outcome as Ended;
use baton_engine::{Clock as _, Sweeper, Swept, verify_all};
use baton_store::{HandoffFilter, LookAgain, RunRef};
use jiff::{SignedDuration, Timestamp};

use crate::world::*;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

async fn n_stale(world: &World) -> usize {
    let filter = HandoffFilter { is_stale: Some(true), ..HandoffFilter::default() };
    world.store.handoffs(&filter).await.unwrap().len()
}

#[tokio::test]
async fn a_handoff_is_stale_after_thirty_minutes_and_is_marked_once() {
    for backend in Backend::all() {
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
    let mut feed = world.reads().feed(cursor, None);
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
    let world = Backend::remembering().world_with(catalog_of(&[&flow("10m")], Some("small"))).await;
    world.starts("s-1").await.unwrap();
    let world = world.reopened(catalog_of(&[&flow("2h")], Some("small"))).await;
    world.starts("s-2").await.unwrap();
    world.clock.advance(MINUTE * 10);
    assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
    world.clock.advance(MINUTE * 110);
    assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
}

#[tokio::test]
async fn a_handoff_that_nobody_takes_is_over_when_its_workflow_says_so() {
    let flow = |limits: &str| {
        format!(
            "name: small\nstart: work\nlimits: {{ {limits} }}\n\
             steps:\n  work:\n    agent: writer\n    on: {{ success: complete }}\n"
        )
    };
    for backend in Backend::all() {
        for (limits, minutes, then) in [
            // Sooner than it is stale, and later: marked first, and then over.
            ("expire_after: 5m", 5, "open; loose; "),
            ("expire_after: 2h", 120, "open; loose; "),
            ("expire_after: 2h, on_expire: ask", 120, "open; parked; HO-002 writer→human pending"),
        ] {
            let world = backend.world_with(catalog_of(&[&flow(limits)], Some("small"))).await;
            world.starts("taken").await.unwrap();
            world.starts("s-1").await.unwrap();
            world.on("taken", accept(1)).await.unwrap();
            world.clock.advance(MINUTE * minutes - SignedDuration::from_secs(1));
            let swept = world.engine.sweep().await.unwrap();
            assert_eq!((swept.n_stale > 0, swept.n_expired), (minutes > 30, 0), "{limits}");
            world.clock.advance(SignedDuration::from_secs(1));
            assert_eq!(world.engine.sweep().await.unwrap().n_expired, 1, "{limits}");
            assert_eq!(world.shows("s-1").await, then);
            assert_eq!(world.engine.sweep().await.unwrap().n_expired, 0, "{limits}");
            let taken = "open; held; HO-001 orchestrator→writer accepted";
            assert_eq!(world.shows("taken").await, taken);
            world.is_sound().await;
        }
    }
}

#[tokio::test]
async fn a_sweep_does_what_a_tick_does() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        world.on("s-1", lease(1, 20)).await.unwrap();
        world.clock.advance(SignedDuration::from_secs(20));
        let swept = world.engine.sweep().await.unwrap();
        assert_eq!(swept.ticked.n_lost, 1);
        world.clock.advance(SignedDuration::from_secs(1));
        assert_eq!(world.engine.sweep().await.unwrap().ticked.n_woken, 1);
    }
}

#[tokio::test]
async fn a_sweep_goes_through_every_page() {
    for backend in Backend::all() {
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
async fn a_process_without_a_sweeper_does_a_part_of_what_is_due() {
    for backend in Backend::all() {
        let world = backend.world().await;
        for n in 0..80 {
            world.starts(&format!("s-{n}")).await.unwrap();
        }
        world.clock.advance(MINUTE * 30);
        for expected in [32, 32, 16, 0] {
            assert_eq!(world.engine.sweep_some().await.unwrap().n_stale, expected);
        }
        world.is_sound().await;
    }
}

/// What has moved is due later; what the store keeps for it may be earlier, once.
#[tokio::test]
async fn a_run_that_moved_is_put_off_and_found_again_in_time() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        world.clock.advance(MINUTE * 29);
        world.on("s-1", accept(1)).await.unwrap();
        world.clock.advance(MINUTE);
        let n_due = async || world.store.due(world.clock.now(), None, 0).await.unwrap().len();
        assert_eq!(n_due().await, 1);
        assert_eq!(world.engine.sweep().await.unwrap(), Swept::default());
        assert_eq!(n_due().await, 0);
        world.is_sound().await;
        world.clock.advance(MINUTE * 28);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 0);
        world.clock.advance(MINUTE);
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 1);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_run_that_would_be_looked_at_too_late_is_not_sound() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        let row = world.store.run(&RunRef::Number(1)).await.unwrap().unwrap();
        let (run, version) = (row.run.id, row.version);
        let due = world.store.due(Timestamp::MAX, None, 0).await.unwrap()[0].due;
        for (kept, n_problems) in [
            (Some(due), 0),
            (Some(Timestamp::UNIX_EPOCH), 0),
            (Some(due + SignedDuration::from_nanos(1)), 1),
            (None, 1),
        ] {
            world.store.look_again(&[LookAgain { run, version, due: kept }]).await.unwrap();
            let verified = verify_all(&*world.store).await.unwrap();
            assert_eq!(verified.problems.len(), n_problems, "{kept:?}: {:?}", verified.problems);
        }
    }
}

#[tokio::test]
async fn an_answer_can_be_asked_for_again_for_a_day() {
    for backend in Backend::all() {
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

#[tokio::test]
async fn people_are_reminded_of_a_gate_once_and_it_is_in_the_outbox() {
    let gated = "name: small\nstart: work\nsteps:\n  work:\n    agent: painter\n    on: { success: { to: \
                 complete, gate: { type: blocking, remind_after: 4h } } }\n";
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[gated], Some("small"))).await;
        world.starts("s-1").await.unwrap();
        world.on("s-1", accept(1)).await.unwrap();
        world.on("s-1", complete(1, Ended::Success, "{}")).await.unwrap();
        world.clock.advance(MINUTE * 239);
        assert_eq!(world.engine.sweep().await.unwrap().n_reminded, 0);
        world.clock.advance(MINUTE);
        assert_eq!(world.engine.sweep().await.unwrap().n_reminded, 1);
        world.clock.advance(MINUTE * 24 * 60);
        assert_eq!(world.engine.sweep().await.unwrap().n_reminded, 0);
        let run = world.store.run(&RunRef::LatestOf(key("s-1"))).await.unwrap().unwrap().run;
        assert!(run.gate().unwrap().1.reminded_at.is_some());
        world.is_sound().await;
    }
}

//! A machine whose clock is set, forwards or backwards, even before 1970: nothing panics, nothing is
//! refused, and what happened is told in the order in which it happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use baton_core::outcome::Outcome as Ended;
use baton_engine::{Clock as _, ShiftedClock, SystemClock};
use baton_store::{EventFilter, Position};
use jiff::SignedDuration;

use crate::world::*;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DECADE: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

#[tokio::test]
async fn a_clock_that_jumps_disturbs_neither_the_work_nor_the_order_of_events() {
    // From 2025 to 1965, to 1905 and back, and by hours.
    let jumps = [DECADE * -6, DECADE * -12, -HOUR, HOUR * -2];
    for backend in Backend::all() {
        for jump in jumps {
            let world = backend.world().await;
            world.starts("s1").await.unwrap();
            world.on("s1", lease(1, 20)).await.unwrap();
            world.clock.advance(jump);
            world.engine.tick().await.unwrap();
            world.engine.sweep().await.unwrap();
            // The holder is alive: it was the clock that moved.
            world.on("s1", complete(1, Ended::Success, r#"{"plan":"p"}"#)).await.unwrap();
            world.starts("s2").await.unwrap();
            world.clock.advance(-jump);
            world.engine.tick().await.unwrap();
            world.on("s1", accept(2)).await.unwrap();
            world.on("s2", accept(1)).await.unwrap();
            in_order(&world).await;
            let before = world.shows("s1").await;
            let world = world.reopened(catalog()).await;
            assert_eq!(world.shows("s1").await, before, "{jump}");
            in_order(&world).await;
        }
    }
}

#[test]
fn a_shifted_clock_follows_what_it_is_told_to_add() {
    let offset = Arc::new(AtomicI64::new(0));
    let shifted = ShiftedClock::new(offset.clone());
    for hours in [0, 1, -2] {
        let by = HOUR * hours;
        offset.store(by.as_nanos().try_into().unwrap(), Ordering::Relaxed);
        let (before, now, after) = (SystemClock.now(), shifted.now(), SystemClock.now());
        assert!(before + by <= now && now <= after + by, "{hours}");
    }
    offset.store(i64::MAX, Ordering::Relaxed);
    assert!(shifted.now() > SystemClock.now(), "however wrong it is, it is no reason to panic");
}

/// Positions and versions count up, whatever the times say.
async fn in_order(world: &World) {
    let filter = EventFilter { after: Position(0), run: None, limit: 0 };
    let events = match world.store.events(&filter).await {
        Ok(events) => events,
        Err(error) => panic!("{error}"),
    };
    assert!(events.is_sorted_by(|a, b| a.position < b.position));
    for run in [world.run("s1").await, world.run("s2").await] {
        let versions = events.iter().filter(|it| it.run == run.run.id).map(|it| it.version.0);
        assert!(versions.eq(1..=run.version.0));
    }
    world.is_sound().await;
}

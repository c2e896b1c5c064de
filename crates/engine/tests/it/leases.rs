//! Who promises to be heard of and is not, loses what it holds; who is, keeps it.

use baton_core::command::{Command, Release};
use baton_core::outcome::Outcome as Ended;
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{EngineError, Ticked, Timekeeper};
use baton_store::{HandoffRef, TimerKind};
use jiff::{SignedDuration, Timestamp};

use crate::world::*;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
const MILLISECOND: SignedDuration = SignedDuration::from_millis(1);

fn in_run(run: RunId, no: u32) -> HandoffRef {
    HandoffRef::InRun(run, HandoffNo(no))
}

/// A story whose first handoff is held, by somebody who may be silent for 20 seconds.
async fn held(world: &World, story: &str) -> RunId {
    world.starts(story).await.unwrap();
    let outcome = world.on(story, lease(1, 20)).await.unwrap();
    assert_eq!(outcome.done.fence, Some(1));
    outcome.run
}

/// What the store has for each handoff: `HO-001 lease +20.000`, counted from now.
async fn timers(world: &World) -> Vec<String> {
    let now = baton_engine::Clock::now(world.clock.as_ref());
    let timers = world.store.timers(None, 0).await.unwrap();
    timers
        .iter()
        .map(|it| {
            let what = match it.what {
                TimerKind::Lease { fence, .. } => format!("lease {fence}"),
                TimerKind::Wake => "wake".to_owned(),
            };
            format!("{} {what} {:+.3}", it.no, it.due.duration_since(now).as_secs_f64())
        })
        .collect()
}

async fn tick(world: &World) -> Ticked {
    world.engine.tick().await.unwrap()
}

fn lost(n_lost: u32) -> Ticked {
    Ticked { n_lost, ..Ticked::default() }
}

#[track_caller]
fn check_code(result: Result<Timestamp, EngineError>, expected: &str) {
    match result {
        Ok(until) => panic!("it was heard, until {until}"),
        Err(error) => assert_eq!(error.code(), expected, "{error}"),
    }
}

#[tokio::test]
async fn a_heartbeat_is_heard_at_once_and_written_within_a_second() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = held(&world, "s-1").await;
        assert_eq!(timers(&world).await, ["HO-001 lease 1 +20.000"]);
        let position = world.store.last_position().await.unwrap();
        let row = world.run("s-1").await;

        world.clock.advance(SECOND / 2);
        let until = world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.unwrap();
        assert_eq!(until, BEGINNING + SECOND * 20 + SECOND / 2);
        assert_eq!(tick(&world).await, Ticked::default());
        assert_eq!(timers(&world).await, ["HO-001 lease 1 +19.500"], "not written yet");
        world.clock.advance(SECOND / 2);
        assert_eq!(tick(&world).await, Ticked { n_written: 1, ..Ticked::default() });
        assert_eq!(timers(&world).await, ["HO-001 lease 1 +19.500"], "until then");
        world.clock.advance(SECOND);
        assert_eq!(tick(&world).await, Ticked::default(), "there is nothing more to write");

        assert_eq!(world.store.last_position().await.unwrap(), position);
        assert_eq!(world.run("s-1").await, row);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_holder_that_is_heard_of_is_left_alone() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = held(&world, "s-1").await;
        let row = world.store.handoff(&in_run(run, 1)).await.unwrap().unwrap();
        let names = [HandoffRef::Number(row.number), HandoffRef::Id(row.id), in_run(run, 1)];
        let position = world.store.last_position().await.unwrap();
        for name in names.iter().cycle().take(60) {
            world.clock.advance(SECOND * 19);
            assert_eq!(tick(&world).await.n_lost, 0);
            world.engine.heartbeat(&caller("ada"), name, 1).await.unwrap();
        }
        assert_eq!(world.store.last_position().await.unwrap(), position);
        // However long it takes, it is not late either.
        assert_eq!(world.engine.sweep().await.unwrap().n_stale, 0);
        world.on("s-1", complete(1, Ended::Success, r#"{"plan": "p"}"#)).await.unwrap();
        assert_eq!(timers(&world).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_silent_holder_loses_the_work_and_somebody_gets_it_again_and_in_the_end_a_person() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = held(&world, "s-1").await;
        for (no, wait) in [(1, SECOND), (2, SECOND * 2)] {
            world.clock.advance(SECOND * 20 - MILLISECOND);
            assert_eq!(tick(&world).await, Ticked::default());
            world.clock.advance(MILLISECOND);
            assert_eq!(tick(&world).await, lost(1));
            let next = format!("HO-{:03}", no + 1);
            let parked = format!("open; parked; {next} orchestrator→analyst pending");
            assert_eq!(world.shows("s-1").await, parked);
            assert_eq!(world.row(run, no).await.state.name(), "timed_out");
            let wake = format!("{next} wake +{:.3}", wait.as_secs_f64());
            assert_eq!(timers(&world).await, [wake]);

            world.clock.advance(wait - MILLISECOND);
            assert_eq!(tick(&world).await, Ticked::default());
            world.clock.advance(MILLISECOND);
            assert_eq!(tick(&world).await, Ticked { n_woken: 1, ..Ticked::default() });
            let offered = format!("open; offered; {next} orchestrator→analyst pending");
            assert_eq!(world.shows("s-1").await, offered);
            assert_eq!(timers(&world).await, [""; 0]);
            world.on("s-1", lease(no + 1, 20)).await.unwrap();
        }
        world.clock.advance(SECOND * 20);
        assert_eq!(tick(&world).await, lost(1));
        assert_eq!(world.shows("s-1").await, "open; parked; HO-004 analyst→human pending");
        assert_eq!(timers(&world).await, [""; 0], "a person may take their time");
        let told = world.store.outbox(0, 0).await.unwrap();
        let told: Vec<&str> = told.iter().map(|it| it.about.as_str()).collect();
        assert_eq!(told, ["lease.lost", "lease.lost", "lease.lost", "gate.opened"]);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn who_holds_nothing_is_told_so() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("s-1").await.unwrap().run;
        let hear =
            async |no, fence| world.engine.heartbeat(&caller("ada"), &in_run(run, no), fence).await;
        check_code(hear(1, 0).await, "no_lease");
        check_code(hear(1, 1).await, "stale_fence");
        world.on("s-1", accept(1)).await.unwrap();
        check_code(hear(1, 1).await, "no_lease");
        let release = |no| {
            let handoff = HandoffNo(no);
            Command::Release(Release { handoff, by: None, reason: None, fence: None })
        };
        world.on("s-1", release(1)).await.unwrap();
        world.on("s-1", lease(1, 20)).await.unwrap();
        check_code(hear(1, 1).await, "stale_fence");
        check_code(hear(1, 4).await, "stale_fence");
        check_code(hear(2, 3).await, "no_such_handoff");
        hear(1, 3).await.unwrap();

        world.on("s-1", release(1)).await.unwrap();
        assert_eq!(timers(&world).await, [""; 0]);
        check_code(hear(1, 3).await, "stale_fence");
        world.on("s-1", lease(1, 20)).await.unwrap();
        world.clock.advance(SECOND * 20);
        assert_eq!(tick(&world).await.n_lost, 1);
        let error = hear(1, 5).await.unwrap_err();
        assert_eq!(error.code(), "finished");
        let EngineError::Refused { handoff, .. } = error else { panic!("{error}") };
        assert_eq!(handoff.unwrap().state.name(), "timed_out", "and sees what became of it");
        check_code(hear(2, 0).await, "no_lease");

        let nowhere = RunId(uuid::Uuid::from_u128(77));
        check_code(
            world.engine.heartbeat(&caller("ada"), &in_run(nowhere, 1), 1).await,
            "no_such_run",
        );
        let number = HandoffRef::Number(77);
        check_code(world.engine.heartbeat(&caller("ada"), &number, 1).await, "no_such_handoff");
        world.engine.shutdown().await;
        check_code(hear(1, 5).await, "closing");
    }
}

#[tokio::test]
async fn whatever_ends_the_holding_ends_the_lease() {
    let clarify = Command::Clarify(baton_core::command::Clarify {
        handoff: HandoffNo(1),
        by: None,
        question: baton_core::names::FreeText::parse("which?").unwrap(),
        fence: None,
    });
    let ends = [
        complete(1, Ended::Success, r#"{"plan": "p"}"#),
        complete(1, Ended::Blocked, "{}"),
        reject(1, "no"),
        time_out(1),
        clarify,
        Command::CancelRun { reason: None },
    ];
    for backend in Backend::all() {
        let world = backend.world().await;
        for (n, end) in ends.iter().enumerate() {
            let story = format!("s-{n}");
            let run = held(&world, &story).await;
            world.on(&story, end.clone()).await.unwrap();
            assert_eq!(timers(&world).await, [""; 0], "{end:?}");
            assert!(
                world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.is_err(),
                "{end:?}"
            );
        }
        world.clock.advance(SECOND * 60);
        assert_eq!(tick(&world).await, Ticked::default());
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_was_said_last_is_written_at_the_shutdown() {
    let world = Backend::remembering().world().await;
    let run = held(&world, "s-1").await;
    world.clock.advance(SECOND / 4);
    world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.unwrap();
    let world = world.reopened(catalog()).await;
    assert_eq!(timers(&world).await, ["HO-001 lease 1 +20.000"]);
}

/// Without a server no heartbeat can arrive, however often a command line opens the data meanwhile.
#[tokio::test]
async fn a_command_line_without_a_server_ends_no_lease() {
    for backend in Backend::all() {
        let mut world = backend.world().await;
        let run = held(&world, "s-1").await;
        for _ in 0..3 {
            world = world.reopened(catalog()).await;
            world.clock.advance(SECOND * 3600);
            assert_eq!(world.engine.sweep_some().await.unwrap().ticked, lost(0));
        }
        world = world.reopened(catalog()).await;
        world.engine.keep_time().await.unwrap();
        world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.unwrap();
        assert_eq!(world.shows("s-1").await, "open; held; HO-001 orchestrator→analyst accepted");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn leases_that_go_on_do_not_hide_work_that_is_offered_again() {
    for backend in Backend::all() {
        let world = backend.world().await;
        held(&world, "s-woken").await;
        world.clock.advance(SECOND * 20);
        assert_eq!(tick(&world).await, lost(1));
        for n in 0..40 {
            world.starts(&format!("s-{n}")).await.unwrap();
            world.on(&format!("s-{n}"), lease(1, 1)).await.unwrap();
        }
        world.clock.advance(-SECOND * 10);
        for n in 40..80 {
            world.starts(&format!("s-{n}")).await.unwrap();
            world.on(&format!("s-{n}"), lease(1, 1)).await.unwrap();
        }
        let world = world.reopened(catalog()).await;
        world.clock.advance(SECOND * 3600);
        let ticked = world.engine.sweep_some().await.unwrap().ticked;
        assert_eq!(ticked, Ticked { n_woken: 1, ..Ticked::default() });
    }
}

/// The sweeper, the timekeeper and the session each read timers, in any order.
#[tokio::test]
async fn a_server_that_was_down_for_longer_than_a_lease_ends_none_however_it_begins() {
    for is_swept_first in [true, false] {
        let world = Backend::Memory.world().await;
        let run = held(&world, "s-1").await;
        let world = world.reopened(catalog()).await;
        world.clock.advance(SECOND * 3600);
        if is_swept_first {
            world.engine.sweep_some().await.unwrap();
        }
        let timekeeper = Timekeeper::start(world.engine.clone());
        // Before the timekeeper's first tick.
        assert_eq!(world.engine.sweep().await.unwrap().ticked.n_lost, 0);
        timekeeper.stop().await;
        world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.unwrap();
        world.clock.advance(SECOND * 20);
        assert_eq!(tick(&world).await.n_lost, 1, "from then on it has to be heard of");
    }
}

#[tokio::test]
async fn a_server_that_starts_gives_every_lease_a_full_period_more() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = held(&world, "s-1").await;
        held(&world, "s-2").await;
        let world = world.reopened(catalog()).await;
        world.clock.advance(SECOND * 3600);
        world.engine.keep_time().await.unwrap();
        assert_eq!(tick(&world).await.n_lost, 0);
        for _ in 0..4 {
            world.clock.advance(SECOND * 5 - MILLISECOND);
            assert_eq!(tick(&world).await.n_lost, 0);
        }
        // Written as well: another start finds it so.
        let expected = ["HO-001 lease 1 +0.004", "HO-001 lease 1 +0.004"];
        assert_eq!(timers(&world).await, expected);
        world.engine.heartbeat(&caller("ada"), &in_run(run, 1), 1).await.unwrap();
        world.clock.advance(MILLISECOND * 4);
        assert_eq!(tick(&world).await.n_lost, 1, "one of them was heard of");
    }
}

#[tokio::test]
async fn a_process_that_was_asleep_blames_nobody() {
    for backend in Backend::all() {
        let world = backend.world().await;
        held(&world, "s-1").await;
        world.engine.keep_time().await.unwrap();
        for gap in [SECOND * 3600, SECOND * 6, -SECOND * 7200] {
            world.clock.advance(gap);
            assert_eq!(tick(&world).await.n_lost, 0, "{gap}");
            // The sweeper may wake before the timekeeper does.
            world.clock.advance(SECOND * 30);
            assert_eq!(world.engine.sweep().await.unwrap().ticked.n_lost, 0, "{gap}");
        }
        assert_eq!(timers(&world).await, ["HO-001 lease 1 +20.000"]);
        for _ in 0..3 {
            world.clock.advance(SECOND * 5);
            assert_eq!(tick(&world).await.n_lost, 0);
        }
        world.clock.advance(SECOND * 5);
        assert_eq!(tick(&world).await.n_lost, 1, "awake, it notices");
    }
}

#[tokio::test]
async fn a_timekeeper_notices_by_itself_until_it_is_stopped() {
    let world = Backend::Memory.world().await;
    world.starts("s-1").await.unwrap();
    world.on("s-1", lease(1, 2)).await.unwrap();
    let mut feed = world.reads().feed(world.store.last_position().await.unwrap(), None);
    let timekeeper = Timekeeper::start(world.engine.clone());
    world.clock.advance(SECOND * 2);
    assert_eq!(feed.next().await.unwrap().unwrap().name, "lease.lost");
    timekeeper.stop().await;
    world.clock.advance(SECOND * 3600);
    assert_eq!(tick(&world).await.n_woken, 1, "nobody expects ticks any more");
    world.is_sound().await;
}

#[tokio::test]
async fn three_hundred_who_die_at_once_are_noticed_in_one_tick() {
    for backend in Backend::all() {
        let world = backend.world().await;
        for n in 0..300 {
            held(&world, &format!("s-{n}")).await;
        }
        world.clock.advance(SECOND * 20);
        assert_eq!(tick(&world).await, lost(300));
        world.clock.advance(SECOND);
        assert_eq!(tick(&world).await.n_woken, 300);
        assert_eq!(timers(&world).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_question_that_somebody_took_and_died_over_is_asked_again() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.hands("s-1", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
        let question = baton_core::names::FreeText::parse("which?").unwrap();
        let (handoff, by, fence) = (HandoffNo(1), None, None);
        let clarify = baton_core::command::Clarify { handoff, by, question, fence };
        world.on("s-1", Command::Clarify(clarify)).await.unwrap();
        for no in [2, 3, 4] {
            world.on("s-1", lease(no, 5)).await.unwrap();
            assert_eq!(timers(&world).await, [format!("HO-{no:03} lease 1 +5.000")]);
            world.clock.advance(SECOND * 5);
            assert_eq!(tick(&world).await, lost(1));
        }
        let expected = "open; offered; HO-001 analyst→implementer clarification, \
                        HO-005 implementer→human pending";
        assert_eq!(world.shows("s-1").await, expected);
        let told = world.store.outbox(0, 0).await.unwrap();
        assert_eq!(told.last().unwrap().about, "handoff.created", "a person has to be told");
        world.is_sound().await;
    }
}

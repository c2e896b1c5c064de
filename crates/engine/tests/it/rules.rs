//! Rules that random play, or reading with a hostile eye, once found broken: each with the
//! smallest story that shows it.

use baton_core::command::{Command, Create};
use baton_core::gate::Answer;
use baton_core::outcome::Outcome as Ended;
use baton_core::run::{HandoffNo, Kind};
use baton_store::{EventFilter, Position};

use crate::world::*;

const PLAN: &str = r#"{"plan": "p"}"#;

#[track_caller]
fn check_code<T: std::fmt::Debug>(result: Result<T, baton_engine::EngineError>, expected: &str) {
    assert_eq!(result.unwrap_err().code(), expected);
}

async fn world() -> World {
    Backend::Memory.world().await
}

fn superseding(no: u32, create: Create) -> Command {
    Command::Create(Create { supersedes: Some(HandoffNo(no)), ..create })
}

#[tokio::test]
async fn what_is_no_longer_pending_cannot_be_superseded() {
    let world = world().await;
    world.hands("s-1", "analyst", "implementer", PLAN).await.unwrap();
    let better = || superseding(1, create("analyst", "implementer", PLAN));
    world.on("s-1", accept(1)).await.unwrap();
    check_code(world.on("s-1", better()).await, "already_accepted");
    world.on("s-1", reject(1, "no tests planned")).await.unwrap();
    // It would count as handing the returned work on, unseen.
    check_code(world.on("s-1", better()).await, "finished");
    assert_eq!(world.shows("s-1").await, "open; offered; HO-002 implementer→analyst pending");
    let within = of_story("s-2");
    let first = Create { supersedes: Some(HandoffNo(1)), ..create("analyst", "implementer", PLAN) };
    check_code(world.engine.create(&caller("ada"), within, first).await, "finished");
}

#[tokio::test]
async fn nobody_takes_up_a_loose_baton_of_a_paused_run() {
    let world = world().await;
    world.starts("s-1").await.unwrap();
    world.on("s-1", time_out(1)).await.unwrap();
    world.on("s-1", Command::Pause { reason: None }).await.unwrap();
    check_code(world.hands("s-1", "analyst", "implementer", PLAN).await, "paused");
    world.hands("s-1", "orchestrator", "analyst", "{}").await.unwrap();
    check_code(world.on("s-1", accept(2)).await, "paused");
}

#[tokio::test]
async fn an_error_along_the_last_edge_does_not_end_the_run() {
    let world = world().await;
    let error = r#"{"error": {"message": "the disk is full"}}"#;
    world.hands("s-1", "documenter", "orchestrator", error).await.unwrap();
    assert_eq!(world.shows("s-1").await, "open; loose; ");
    world.hands("s-1", "documenter", "orchestrator", error).await.unwrap();
    assert_eq!(world.shows("s-1").await, "open; loose; ");
    world.hands("s-1", "documenter", "orchestrator", "{}").await.unwrap();
    assert_eq!(world.shows("s-1").await, "completed; done; ");
}

#[tokio::test]
async fn work_that_goes_back_to_a_person_is_always_a_question_they_can_answer() {
    let world = world().await;
    world.starts("s-1").await.unwrap();
    // Three rejects use up the rounds of the first edge.
    for no in [1, 3, 5] {
        world.on("s-1", reject(no, "not a story")).await.unwrap();
        world.starts("s-1").await.unwrap();
    }
    world.on("s-1", complete(7, Ended::NeedsReview, PLAN)).await.unwrap();
    world.on("s-1", answer(8, Answer::Reject)).await.unwrap();
    assert_eq!(world.shows("s-1").await, "open; offered; HO-009 human→analyst pending");
    world.on("s-1", reject(9, "I cannot")).await.unwrap();
    world.on("s-1", answer(10, Answer::Continue)).await.unwrap();
    assert_eq!(world.shows("s-1").await, "open; offered; HO-011 human→analyst pending");
}

#[tokio::test]
async fn a_step_that_was_begun_by_sending_the_work_back_is_also_ended() {
    let world = world().await;
    world.hands("s-1", "implementer", "reviewer", "{}").await.unwrap();
    world.hands("s-1", "reviewer", "implementer", "{}").await.unwrap();
    let everything = EventFilter { after: Position::START, run: None, limit: 0 };
    let events = world.store.events(&everything).await.unwrap();
    let steps: Vec<&str> =
        events.iter().map(|it| it.name.as_str()).filter(|it| it.starts_with("step.")).collect();
    assert_eq!(steps, ["step.started", "step.completed"]);
}

#[tokio::test]
async fn a_handoff_that_supersedes_a_return_along_another_edge_is_no_return() {
    let world = world().await;
    world.hands("s-1", "implementer", "reviewer", "{}").await.unwrap();
    world.on("s-1", reject(1, "no tests")).await.unwrap();
    let approved = superseding(2, create("reviewer", "refactorer", "{}"));
    let run = world.on("s-1", approved).await.unwrap().run;
    assert_eq!(world.row(run, 2).await.kind, Kind::Return);
    assert_eq!(world.row(run, 3).await.kind, Kind::Sequential);
}

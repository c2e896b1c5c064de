//! A server drops old messages by itself, when it starts and once an hour.

use baton_core::command::Command;
use baton_core::names::FreeText;
use baton_engine::RetentionKeeper;
use baton_wire::project_file;
use jiff::SignedDuration;

use crate::world::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A run with one message that has been cancelled.
async fn ended_run(world: &World, story: &str) {
    world.starts(story).await.unwrap();
    let words = FreeText::parse("a secret of the customer").unwrap();
    world.on(story, Command::Post { by: None, words }).await.unwrap();
    world.on(story, Command::CancelRun { reason: None }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn old_messages_are_dropped_at_the_start_and_every_hour_until_it_is_stopped() {
    let project = project_file::parse("[retention]\nmessages = \"90d\"\n").unwrap();
    let world = Backend::Memory.world_with(catalog().with_project(project)).await;
    ended_run(&world, "s-1").await;
    world.clock.advance(DAY * 60);
    ended_run(&world, "s-2").await;
    world.clock.advance(DAY * 31);
    let cursor = world.store.last_position().await.unwrap();
    let mut feed = world.reads().feed(cursor, None);
    let began = tokio::time::Instant::now();
    let keeper = RetentionKeeper::start(world.engine.clone());

    let first = feed.next().await.unwrap().unwrap();
    assert_eq!((first.name.as_str(), first.by.as_str()), ("content.expired", "baton:retention"));
    assert_eq!(first.run, world.run("s-1").await.run.id, "the other ended only 31 days ago");
    assert!(began.elapsed().as_secs() < 1, "it looks as soon as it starts");

    world.clock.advance(DAY * 60);
    let second = feed.next().await.unwrap().unwrap();
    assert_eq!(second.run, world.run("s-2").await.run.id);
    assert_eq!(began.elapsed().as_secs() / 60, 60, "and again an hour later");
    keeper.stop().await;
    world.is_sound().await;
}

//! The log as it grows: every event once, in order, from any cursor on.

use std::sync::Arc;

use baton_core::outcome::Outcome as Ended;
use baton_engine::{Engine, Feed};
use baton_store::{EventFilter, Position, Store, StoredEvent};
use tokio::task::JoinSet;

use crate::world::*;

async fn everything(store: &dyn Store) -> Vec<StoredEvent> {
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    store.events(&filter).await.unwrap()
}

/// Everything that the feed tells until it ends.
async fn told(mut feed: Feed) -> Vec<StoredEvent> {
    let mut told = Vec::new();
    while let Some(event) = feed.next().await.unwrap() {
        told.push(event);
    }
    told
}

/// Everything that is there already.
async fn read(mut feed: Feed) -> Vec<StoredEvent> {
    let mut read = Vec::new();
    while let Some(event) = feed.read_next().await.unwrap() {
        read.push(event);
    }
    read
}

/// Twenty at once, each with stories of its own and all with one that they share.
async fn write(engine: &Arc<Engine>) {
    let mut writers = JoinSet::new();
    for n in 0..20 {
        let engine = engine.clone();
        writers.spawn(async move {
            for story in 0..3 {
                let first = start(&format!("s-{n}-{story}"));
                let run = engine.start(&caller("ada"), first).await.unwrap().run;
                let plan = complete(1, Ended::Success, r#"{"plan": "p"}"#);
                engine.on_run(&caller("ada"), run, plan).await.unwrap();
                // Most of these are refused: only one of all can have the baton.
                let shared = create("analyst", "implementer", r#"{"plan": "p"}"#);
                let _ = engine.create(&caller("ada"), of_story("shared"), shared).await;
                let reject = create("implementer", "reviewer", "{}");
                let _ = engine.create(&caller("ada"), of_story("shared"), reject).await;
            }
        });
    }
    writers.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_feed_tells_every_event_once_and_in_order_while_many_write() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let shared = world.starts("shared").await.unwrap().run;
        world.on("shared", accept(1)).await.unwrap();
        let cursor = Position(2);
        let from_the_start = tokio::spawn(told(world.reads().feed(Position::START, None)));
        let from_a_cursor = tokio::spawn(told(world.reads().feed(cursor, None)));
        let of_one_run = tokio::spawn(told(world.reads().feed(Position::START, Some(shared))));
        write(&world.engine).await;
        let late = world.reads().feed(Position::START, None);

        let all = everything(world.store.as_ref()).await;
        assert!(all.windows(2).all(|it| it[0].position < it[1].position));
        drop(world.engine);
        assert_eq!(from_the_start.await.unwrap(), all);
        let after: Vec<_> = all.iter().filter(|it| it.position > cursor).cloned().collect();
        assert_eq!(from_a_cursor.await.unwrap(), after);
        let of_shared: Vec<_> = all.iter().filter(|it| it.run == shared).cloned().collect();
        assert_eq!(of_one_run.await.unwrap(), of_shared);
        assert_eq!(told(late).await, all, "a feed that nobody read loses nothing either");
    }
}

#[tokio::test]
async fn from_any_cursor_on_a_feed_tells_the_rest() {
    for backend in Backend::all() {
        let world = backend.world().await;
        // More than a feed reads at once.
        for n in 0..70 {
            let story = format!("s-{n}");
            world.starts(&story).await.unwrap();
            world.on(&story, complete(1, Ended::Blocked, "{}")).await.unwrap();
        }
        let all = everything(world.store.as_ref()).await;
        assert!(all.len() > 512, "{}", all.len());
        let run = world.run("s-3").await.run.id;
        for (n, event) in all.iter().enumerate() {
            let rest = read(world.reads().feed(event.position, None)).await;
            assert!(rest == all[n + 1..], "after {:?}", event.position);
            let rest = read(world.reads().feed(event.position, Some(run))).await;
            let expected: Vec<_> = all[n + 1..].iter().filter(|it| it.run == run).collect();
            assert!(rest.iter().eq(expected), "of the run after {:?}", event.position);
        }
        assert_eq!(read(world.reads().feed(Position(u64::MAX / 4), None)).await, []);
    }
}

#[tokio::test]
async fn a_feed_ends_with_the_shutdown_and_the_next_one_tells_the_rest() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        let mut behind = world.reads().feed(Position::START, None);
        let first = behind.next().await.unwrap().unwrap();
        let waiting = world.reads().feed(Position::START, None);
        let waiting = tokio::spawn(told(waiting));
        world.on("s-1", accept(1)).await.unwrap();
        let all = everything(world.store.as_ref()).await;
        world.engine.shutdown().await;

        let heard = waiting.await.unwrap();
        assert_eq!(heard, all[..heard.len()], "what it told was the beginning");
        let mut tail = vec![first];
        tail.extend(told(behind).await);
        assert_eq!(tail, all[..tail.len()]);
        if backend == Backend::Memory {
            continue;
        }
        let world = world.reopened(catalog()).await;
        let cursor = tail.last().unwrap().position;
        tail.extend(read(world.reads().feed(cursor, None)).await);
        assert_eq!(tail, all);
    }
}

//! Which story is next, and why none is.

use baton_core::story::Story;
use baton_engine::EngineError;

use crate::world::*;

fn story(name: &str, priority: i64, depends_on: &[&str]) -> Story {
    let depends_on = depends_on.iter().map(|it| key(it)).collect();
    Story { priority, depends_on, ..Story::named(key(name)) }
}

async fn next(world: &World) -> Result<String, String> {
    match world.reads().next_ready().await {
        Ok(story) => Ok(story.key.to_string()),
        Err(EngineError::NothingReady { why }) => Err(why),
        Err(error) => panic!("{error}"),
    }
}

/// Sends a story to its end, as the last agent would.
async fn finish(world: &World, story: &str) {
    world.hands(story, "documenter", "orchestrator", "{}").await.unwrap();
}

#[tokio::test]
async fn the_next_story_is_the_most_urgent_that_waits_for_nothing_then_the_first_by_key() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        let stories = [
            story("d", 9, &["c"]),
            story("c", 1, &[]),
            story("b", 5, &[]),
            story("a", 5, &[]),
            story("e", 7, &["b", "a"]),
        ];
        for it in &stories {
            assert!(world.engine.add_story(&caller("ada"), it).await.unwrap());
            assert!(!world.engine.add_story(&caller("ada"), it).await.unwrap(), "once is enough");
        }
        let mut order = Vec::new();
        while let Ok(name) = next(&world).await {
            finish(&world, &name).await;
            order.push(name);
        }
        assert_eq!(order, ["a", "b", "e", "c", "d"]);
    }
}

#[tokio::test]
async fn a_story_waits_until_what_it_depends_on_is_completed_and_not_only_begun_or_cancelled() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        for it in [story("base", 0, &[]), story("top", 0, &["base"])] {
            world.engine.add_story(&caller("ada"), &it).await.unwrap();
        }
        world.starts("base").await.unwrap();
        let waits = Err("1 wait for others to be finished".to_owned());
        assert_eq!(next(&world).await, waits);
        world.on("base", baton_core::command::Command::CancelRun { reason: None }).await.unwrap();
        assert_eq!(next(&world).await, waits);
        world.starts("base").await.unwrap();
        world.on("base", time_out(1)).await.unwrap();
        finish(&world, "base").await;
        assert_eq!(next(&world).await, Ok("top".to_owned()));
    }
}

#[tokio::test]
async fn when_nothing_is_ready_it_says_why() {
    for backend in Backend::ALL {
        let world = backend.world().await;
        let none = "there is none; `baton story add` makes one";
        assert_eq!(next(&world).await, Err(none.to_owned()));
        world.engine.add_story(&caller("ada"), &story("a", 0, &["never written"])).await.unwrap();
        assert_eq!(next(&world).await, Err("1 wait for others to be finished".to_owned()));
        world.starts("a").await.unwrap();
        assert_eq!(next(&world).await, Err("every story is under way or finished".to_owned()));
    }
}

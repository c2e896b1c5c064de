//! Which story is next, and why none is.

use baton_core::story::Story;
use baton_engine::{Dependencies, EngineError, StartRun};

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
    for backend in Backend::all() {
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
    for backend in Backend::all() {
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
    for backend in Backend::all() {
        let world = backend.world().await;
        let none = "there is none; `baton story add` makes one";
        assert_eq!(next(&world).await, Err(none.to_owned()));
        world.engine.add_story(&caller("ada"), &story("a", 0, &["never written"])).await.unwrap();
        assert_eq!(next(&world).await, Err("1 wait for others to be finished".to_owned()));
        let anyway = StartRun { dependencies: Dependencies::Anyway, ..start("a") };
        world.engine.start(&caller("ada"), anyway).await.unwrap();
        assert_eq!(
            next(&world).await,
            Err("every story is under way, finished or cancelled".to_owned())
        );
    }
}

#[tokio::test]
async fn a_story_that_is_named_waits_for_what_it_depends_on_too_unless_it_is_wanted_anyway() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let ada = caller("ada");
        for it in [story("base", 0, &[]), story("top", 0, &["base", "nope"])] {
            world.engine.add_story(&ada, &it).await.unwrap();
        }
        let error = world.engine.start(&ada, start("top")).await.unwrap_err();
        let expected = "the story `top` comes after `base` and `nope`, which are not finished; `baton run \
                        start top --anyway` (in the API `anyway`) starts it all the same";
        assert_eq!((error.code(), error.to_string().as_str()), ("depends_on_others", expected));
        finish(&world, "base").await;
        let error = world.engine.start(&ada, start("top")).await.unwrap_err();
        assert!(error.to_string().contains("comes after `nope`, which is not"), "{error}");
        let anyway = StartRun { dependencies: Dependencies::Anyway, ..start("top") };
        world.engine.start(&ada, anyway).await.unwrap();
    }
}

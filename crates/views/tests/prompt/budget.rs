//! A prompt that has to be short says what it leaves out.

use baton_views::{AgentInterface, Prompt, PromptOptions};

use crate::read::read;
use crate::world::{Prompts, World, options};

/// A review in its second round, with a package of some length.
async fn world() -> World {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, r#"{"plan":"p"}"#).await;
    let built = format!(
        r#"{{"files_changed":["a.rs","b.rs"],"artifacts":["docs/x.md"],"summary":"{}","build_passes":true}}"#,
        "word ".repeat(4000)
    );
    world.does(2, &built).await;
    world.rejects(3, "No test for the limit").await;
    world.does(4, &built).await;
    world
}

async fn within(world: &World, budget_tokens: Option<u32>) -> Prompt {
    let options = PromptOptions { budget_tokens, ..options(AgentInterface::Cli) };
    world.tells(5, &options).await.unwrap()
}

#[tokio::test]
async fn without_a_budget_nothing_is_left_out() {
    let world = world().await;
    let prompt = within(&world, None).await;
    assert_eq!(prompt.left_out, [""; 0]);
    assert!(!prompt.text.contains("LEFT OUT"));
    assert_eq!(prompt.tokens, prompt.text.chars().count().div_ceil(4));
    let roomy = within(&world, Some(u32::try_from(prompt.tokens).unwrap())).await;
    assert_eq!(roomy.left_out, [""; 0]);
}

#[tokio::test]
async fn the_least_important_goes_first_and_it_says_so() {
    let world = world().await;
    let all = u32::try_from(within(&world, None).await.tokens).unwrap();
    let prompt = within(&world, Some(all - 1)).await;
    assert_eq!(prompt.left_out, ["the files that the package names"]);
    assert!(prompt.tokens < all as usize);
    assert!(!prompt.text.contains("OTHER FILES THAT THE PACKAGE NAMES"));
    let note = "LEFT OUT for length:\n- the files that the package names: `baton handoff show 5`\n";
    assert!(prompt.text.contains(note), "{}", prompt.text);
}

#[tokio::test]
async fn the_package_is_cut_last_and_where_it_is_cut_can_be_seen() {
    let world = world().await;
    let whole = read(&within(&world, None).await.text).data;
    let package = whole.iter().find(|it| it.starts_with(r#"{"files_changed""#)).unwrap();
    let prompt = within(&world, Some(2000)).await;
    assert_eq!(
        prompt.left_out,
        [
            "the files that the package names",
            "the files modified",
            "the story",
            "what the sender had worked from",
            "earlier rejects",
            "what to verify",
            "the end of the package",
        ]
    );
    assert!((1900..=2000).contains(&prompt.tokens), "{}", prompt.tokens);
    let data = read(&prompt.text).data;
    let cut = data.iter().find(|it| it.starts_with(r#"{"files_changed""#)).unwrap();
    assert!(package.starts_with(cut.as_str()));
    let n = package.chars().count() - cut.chars().count();
    let mark = format!(
        "[CUT HERE for length: the last {n} characters of the package are left out; `baton handoff \
         show 5` has all of it]"
    );
    assert!(prompt.text.contains(&mark), "{mark}");
}

#[tokio::test]
async fn a_smaller_budget_never_gives_a_longer_prompt() {
    let world = world().await;
    let mut before = usize::MAX;
    for budget in [8000, 7000, 6000, 5000, 3000, 2000, 1500, 1000, 100, 0] {
        let prompt = within(&world, Some(budget)).await;
        assert!(prompt.tokens <= before, "{budget}: {} after {before}", prompt.tokens);
        for needed in ["STORY_ID = ", "WHO YOU ARE:", "YOUR TASK:", "HOW TO HAND OFF:"] {
            assert!(prompt.text.contains(needed), "{budget}: {needed}");
        }
        before = prompt.tokens;
    }
}

#[tokio::test]
async fn what_was_sent_can_be_told_by_its_hash() {
    let world = world().await;
    let (one, other) = (within(&world, None).await, within(&world, None).await);
    assert_ne!(one.hash, other.hash, "each has a fence of its own");
    assert_eq!(one.package, other.package);
    assert_eq!(one.hash, baton_core::hash::Hash::of(one.text.as_bytes()));
}

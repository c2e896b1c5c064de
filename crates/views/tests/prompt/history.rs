//! What happened before is told to whoever has to go on from it.

use baton_core::command::Way;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_views::{AgentInterface, PromptOptions, PromptToken};

use crate::read::read;
use crate::world::{Prompts, World, accept, agent, options};

/// The implementer has the plan, as HO-002.
async fn world() -> World {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, r#"{"plan":"p"}"#).await;
    world
}

/// The lines are all there, in this order.
#[track_caller]
fn check(prompt: &str, lines: &[&str]) {
    let mut rest = prompt;
    for line in lines {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line}\n\n{prompt}"));
        rest = &rest[at + line.len()..];
    }
}

#[tokio::test]
async fn a_second_attempt_knows_what_the_first_had_asked() {
    let world = world().await;
    world.asks(2, "Which limit?").await;
    world.replies(3, "24 hours").await;
    world.accepts(2).await;
    world.completes(2, Outcome::Failure, r#"{"reason":"out of memory"}"#).await;
    check(
        &world.prompt(4, AgentInterface::Cli).await,
        &["This is attempt 2", "| out of memory", "| Which limit?", "| 24 hours"],
    );
}

#[tokio::test]
async fn what_a_person_answered_after_too_many_questions_is_told() {
    let world = world().await;
    for n in 0..3 {
        world.asks(2, &format!("question {n}")).await;
        world.replies(3 + n, &format!("answer {n}")).await;
    }
    check(
        &world.prompt(2, AgentInterface::Cli).await,
        &["| the handoff leaves something open, or only a person can decide"],
    );
    world.asks(2, "question 3").await;
    let waiting = world.prompt(2, AgentInterface::Cli).await;
    check(&waiting, &["A question about it is open", "HOW TO HAND OFF:\nNot now"]);
    assert!(!waiting.contains("baton handoff complete"), "{waiting}");
    world.says(6, Answer::Reply, "answer 3").await;
    let prompt = world.prompt(2, AgentInterface::Cli).await;
    check(&prompt, &["| answer 0", "| answer 2", "`implementer` asked `human`:", "| question 3"]);
    check(&prompt, &["| question 3", "| answer 3"]);
}

#[tokio::test]
async fn whoever_takes_over_knows_what_was_waived() {
    let world = world().await;
    world.accepts(2).await;
    world.completes(2, Outcome::Blocked, r#"{"blockers":["No key", "No host"]}"#).await;
    world.says(3, Answer::HandTo(agent("refactorer")), "Do it without").await;
    check(
        &world.prompt(4, AgentInterface::Cli).await,
        &[
            "You are `refactorer`",
            "What `implementer` was blocked by was waived",
            "| No key",
            "| grace: Do it without",
            "| No host",
            "The answer was `hand_to`",
        ],
    );
}

#[tokio::test]
async fn work_that_waits_for_a_part_has_no_commands() {
    let world = world().await;
    world.accepts(2).await;
    world.hands("implementer", "reviewer", Way::Delegation, r#"{"summary":"look"}"#).await;
    let prompt = world.prompt(2, AgentInterface::Curl).await;
    check(&prompt, &["It waits for a delegated part", "HOW TO HAND OFF:\nNot now"]);
    assert!(!prompt.contains("-X POST"), "{prompt}");
    // Nobody declared this delegate, so there is no contract; it gives its part back all the same.
    let part = world.prompt(3, AgentInterface::Curl).await;
    check(
        &part,
        &["asks you to do a part of its work", "\"kind\": \"return\"", "\"summary\": \"<"],
    );
}

#[tokio::test]
async fn a_written_token_stands_in_quotes_and_a_fence_in_every_command() {
    let world = world().await;
    world.on(accept(2, Some(20))).await;
    let token = Some(PromptToken::Written("a b'c".to_owned()));
    let curl = PromptOptions { token, ..options(AgentInterface::Curl) };
    let curl = world.tells(2, &curl).await.unwrap().text;
    check(&curl, &["FENCE = 1\n", r"-H 'Authorization: Bearer a b'\''c' --data-binary @-"]);
    let cli = world.prompt(2, AgentInterface::Cli).await;
    let commands: Vec<&str> = cli.lines().filter(|it| it.starts_with("baton handoff ")).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    assert!(cli.contains("as E, with `--outcome failure`"), "{cli}");
    assert!(commands.iter().all(|it| it.contains(" --fence 1")), "{commands:?}");
}

#[tokio::test]
async fn work_that_was_rejected_comes_with_what_it_was_made_from() {
    let world = world().await;
    world.does(2, r#"{"summary":"built"}"#).await;
    world.rejects(3, "no tests").await;
    let prompt = world.prompt(4, AgentInterface::Cli).await;
    check(
        &prompt,
        &[
            "`reviewer` sends the work back to you (reject 1 on this way; after 3 a person decides).",
            "| no tests",
            "THE PACKAGE (your own, as you had handed it on):",
            "WHAT YOU HAD BEEN GIVEN BEFORE (handoff 2):",
        ],
    );
    let data = read(&prompt).data;
    assert!(data.contains(&r#"{"plan":"p"}"#.to_owned()), "{data:?}");
    assert!(!prompt.contains("EARLIER REJECTS"), "{prompt}");
}

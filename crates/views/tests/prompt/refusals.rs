//! What has no prompt, and a prompt that cannot be filled in.

use baton_core::agent::Agent;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_core::registry::Agents;
use baton_core::story::Story;
use baton_engine::{EngineError, ErrorClass};
use baton_views::AgentInterface;

use crate::world::{Prompts, STORY, World, agent, key, options};

#[track_caller]
fn check(refused: EngineError, code: &str, message: &str) {
    assert_eq!((refused.code(), refused.to_string().as_str()), (code, message));
}

#[tokio::test]
async fn what_is_over_or_asks_a_person_has_no_prompt() {
    let world = World::started("gated-project", Prompts::Short).await;
    world.accepts(1).await;
    world.completes(1, Outcome::Success, r#"{"summary":"s"}"#).await;
    let over = world.tells(1, &options(AgentInterface::Curl)).await.unwrap_err();
    assert_eq!(over.class(), ErrorClass::Conflict);
    check(
        over,
        "finished",
        "handoff 1 (HO-001) is finished, and a finished handoff never changes; `baton handoff list` shows those that are open",
    );
    let gate = world.tells(2, &options(AgentInterface::Curl)).await.unwrap_err();
    check(
        gate,
        "no_prompt",
        "handoff 2 (HO-002) is for `human`, who is not started with a prompt; `baton inbox` shows what people are asked",
    );
    world.says(2, Answer::Approve, "").await;
    assert!(world.tells(3, &options(AgentInterface::Curl)).await.is_ok());
    let none = world.tells(9, &options(AgentInterface::Curl)).await.unwrap_err();
    assert_eq!(none.code(), "no_such_handoff");
}

async fn with_prompt(prompt: &str) -> World {
    let analyst = Agent { prompt: prompt.to_owned(), ..Agent::unknown(agent("analyst")) };
    let story = Story::named(key(STORY));
    World::started_with("story-pipeline", Agents::new([analyst]), story).await
}

#[tokio::test]
async fn an_unknown_name_is_refused_with_those_that_are_known() {
    let world = with_prompt("{{TICKET}} of {{STORY_ID}} by {{WHOM}}").await;
    let refused = world.tells(1, &options(AgentInterface::Curl)).await.unwrap_err();
    check(
        refused,
        "unknown_variable",
        "the prompt of `analyst` has names that Baton does not know: `{{TICKET}}`, `{{WHOM}}`; known: \
         DASHBOARD_URL, STORY_ID, STORY_ID_URL, BRANCH, HANDOFF_ID, FENCE, AGENT, STEP, WORKFLOW, \
         RUN_ID, ATTEMPT, ROUND",
    );
}

#[tokio::test]
async fn every_known_name_is_put_in_and_the_shells_are_not() {
    let names = "{{DASHBOARD_URL}} {{STORY_ID}} {{STORY_ID_URL}} {{BRANCH}} {{HANDOFF_ID}} {{FENCE}} \
                 {{AGENT}} {{STEP}} {{WORKFLOW}} {{RUN_ID}} {{ATTEMPT}} {{ROUND}} $STORY_ID";
    let world = with_prompt(names).await;
    let prompt = world.prompt(1, AgentInterface::Curl).await;
    let filled = "http://localhost:3000 v0.1:1.1.1 v0.1%3A1.1.1 feat/story-1.1.1 1 0 analyst analyze \
                  story-pipeline 1 1 1 $STORY_ID";
    assert!(prompt.contains(&format!("\n{filled}\n")), "{prompt}");
}

#[tokio::test]
async fn an_agent_without_a_file_still_gets_its_task() {
    let story = Story::named(key(STORY));
    let world = World::started_with("story-pipeline", Agents::default(), story).await;
    let prompt = world.prompt(1, AgentInterface::Curl).await;
    assert!(prompt.contains("You are `analyst`. No file of the project says more"), "{prompt}");
    assert!(prompt.contains("YOUR TASK:"), "{prompt}");
}

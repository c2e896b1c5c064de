//! Whole prompts, to be read. `UPDATE_EXPECT=1` writes them anew; read the difference.

use baton_core::command::Way;
use baton_core::evidence::Verdict;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_views::{AgentInterface, PromptOptions, PromptToken};
use expect_test::expect_file;

use crate::world::{Prompts, World, accept, options};

const PLAN: &str = r#"{
  "plan": "1. Add expires_at. 2. Check it where sessions are loaded.",
  "files_to_modify": ["src/auth/session.rs"],
  "approach": "One check, where every session passes",
  "risks": [],
  "questions_resolved": true
}"#;

const BUILT: &str = r#"{"files_changed":["src/auth/session.rs","tests/session.rs"],"summary":"Sessions expire","tests_added":true,"build_passes":true}"#;

async fn pipeline() -> World {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, PLAN).await;
    world
}

#[tokio::test]
async fn a_handoff_in_the_pipeline() {
    let world = pipeline().await;
    expect_file!["golden/pipeline.md"].assert_eq(&world.prompt(2, AgentInterface::Curl).await);
}

#[tokio::test]
async fn work_that_was_rejected_twice() {
    let world = pipeline().await;
    world.does(2, BUILT).await;
    world.rejects(3, "src/auth/session.rs:41 swallows the error: return it").await;
    world.does(4, BUILT).await;
    world.rejects(5, "No test for a session exactly at the limit").await;
    expect_file!["golden/rejected.md"].assert_eq(&world.prompt(6, AgentInterface::Cli).await);
}

#[tokio::test]
async fn a_review_with_something_checked_and_something_claimed() {
    let world = pipeline().await;
    world.accepts(2).await;
    world.records(2, "tests", Verdict::Failed).await;
    world.records(2, "build", Verdict::Passed).await;
    let built = r#"{
      "phase": "implementation",
      "build_passes": true,
      "verification": { "tests_passed": true, "coverage_percent": 87 },
      "files_modified": ["src/auth/session.rs"],
      "artifacts": [{ "path": "docs/sessions.md" }],
      "handoff": { "context": "One check in load(); old rows have no expires_at." }
    }"#;
    world.completes(2, Outcome::Success, built).await;
    expect_file!["golden/claims.md"].assert_eq(&world.prompt(3, AgentInterface::Block).await);
}

#[tokio::test]
async fn a_question_and_the_handoff_it_was_about_under_a_lease() {
    let world = pipeline().await;
    world.asks(2, "Is a session without expires_at expired?").await;
    expect_file!["golden/question.md"].assert_eq(&world.prompt(3, AgentInterface::Cli).await);
    world.replies(3, "Yes, count it as expired.").await;
    world.on(accept(2, Some(20))).await;
    let options =
        PromptOptions { token: Some(PromptToken::Environment), ..options(AgentInterface::Curl) };
    let prompt = world.tells(2, &options).await.unwrap();
    expect_file!["golden/answered.md"].assert_eq(&prompt.text);
}

const SPEC: &str = r#"{"context":{"summary":"3 stories, all validated","artifacts":[{"path":".project/02-specs/export.md"}]},"expectations":{"deliverable":"A design","success_criteria":["Every story has a part"]}}"#;
const REQUEST: &str = r#"{"context":{"summary":"A signed link"},"expectations":{"deliverable":"A report of the risks"}}"#;
const REVIEW: &str = r#"{"context":{"summary":"2 risks, 0 critical"}}"#;

const CHOICE: &str = r#"{"deliverable":"A choice","summary":"15 or 60 minutes?"}"#;

/// The specification is at its gate as HO-002.
async fn gated() -> World {
    let world = World::started("gated-project", Prompts::Short).await;
    world.does(1, SPEC).await;
    world
}

#[tokio::test]
async fn work_that_a_person_approved() {
    let world = gated().await;
    world.says(2, Answer::Question, "Which year is meant?").await;
    world.replies(3, "The last 12 months").await;
    world.says(2, Answer::Approve, "Good. Mind the size of the file.").await;
    expect_file!["golden/approved.md"].assert_eq(&world.prompt(4, AgentInterface::Curl).await);
}

#[tokio::test]
async fn a_part_of_the_work_and_its_return() {
    let world = gated().await;
    world.says(2, Answer::Approve, "").await;
    world.accepts(3).await;
    world.hands("architecture", "security-check", Way::Delegation, REQUEST).await;
    expect_file!["golden/delegated.md"].assert_eq(&world.prompt(4, AgentInterface::Curl).await);
    world.accepts(4).await;
    world.hands("security-check", "architecture", Way::Return, REVIEW).await;
    expect_file!["golden/returned.md"].assert_eq(&world.prompt(5, AgentInterface::Cli).await);
    world.accepts(5).await;
    world.hands("architecture", "human", Way::Escalation, CHOICE).await;
    world.says(6, Answer::Reply, "15 minutes").await;
    expect_file!["golden/gone-on.md"].assert_eq(&world.prompt(3, AgentInterface::Cli).await);
}

#[tokio::test]
async fn work_that_was_blocked_and_may_go_on() {
    let world = pipeline().await;
    world.accepts(2).await;
    let blocked = r#"{"reason":"No database","blockers":["The test database is down"]}"#;
    world.completes(2, Outcome::Blocked, blocked).await;
    world.says(3, Answer::Continue, "It is up again").await;
    expect_file!["golden/unblocked.md"].assert_eq(&world.prompt(4, AgentInterface::Curl).await);
}

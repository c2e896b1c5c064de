//! Decisions and shared documents in prompts.

use baton_core::collaboration::{Collaboration, DecisionText, RecordDecision, SetContext};
use baton_core::command::Command;
use baton_core::names::{ContextKey, Principal, Reason};
use baton_views::{AgentInterface, Prompt, PromptOptions};

use crate::world::{Prompts, World, options};

const PLAN: &str = r#"{"plan":"1. Add expires_at","decisions":[
    {"id":"D-1","decision":"Sessions live 30 minutes","rationale":"as the old system"},
    {"id":"D-2","decision":"No cache","rationale":"it is fast enough"},
    {"id":"pending","decision":"15 or 60 minutes for administrators?"}]}"#;
const BUILT: &str = r#"{"summary":"Sessions expire","build_passes":true,"files_changed":["a.rs"]}"#;

fn grace() -> Principal {
    Principal::parse("grace").unwrap()
}

async fn decide(world: &World, words: &str, supersedes: Option<u32>) {
    let text = DecisionText { decision: words.to_owned(), ..DecisionText::default() };
    let (by, principal, depends_on) = (None, grace(), Vec::new());
    let it = RecordDecision { by, principal, text, supersedes, depends_on };
    world.on(Command::Collaborate(Collaboration::Decide(it))).await;
}

async fn share(world: &World, key: &str, text: &str) {
    let it = SetContext {
        key: ContextKey::parse(key).unwrap(),
        expected: 0,
        text: Reason::parse(text).unwrap(),
        by: None,
        principal: grace(),
    };
    world.on(Command::Collaborate(Collaboration::SetContext(it))).await;
}

/// The reviewer's prompt is the third: the plan's decisions are not in the package that it gets.
async fn world() -> World {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, PLAN).await;
    decide(&world, "Sessions live 20 minutes", Some(1)).await;
    let lock = Collaboration::LockDecision { decision: 2, by: grace(), reason: None };
    world.on(Command::Collaborate(lock)).await;
    share(&world, "api-design", "GET /sessions lists them").await;
    share(&world, "huge", &"x".repeat(50_000)).await;
    world.does(2, BUILT).await;
    world
}

async fn prompt(world: &World, face: AgentInterface, budget_tokens: Option<u32>) -> Prompt {
    world.tells(3, &PromptOptions { budget_tokens, ..options(face) }).await.unwrap()
}

#[tokio::test]
async fn a_prompt_has_the_decisions_and_the_documents_of_the_run() {
    let world = world().await;
    let prompt = prompt(&world, AgentInterface::Cli, None).await;
    let text = &prompt.text;
    for words in [
        "Decision 1 is SUPERSEDED by decision 4: it no longer holds:",
        "| Sessions live 30 minutes",
        "Decision 2 stands and is locked:",
        "| because: it is fast enough",
        "Decision 3 is OPEN: nobody has decided it yet:",
        "Decision 4 stands:",
        "| Sessions live 20 minutes",
        "Document `api-design`, version 1:",
        "| GET /sessions lists them",
        "Document `huge`, version 1, has 50000 bytes and is not shown here: `baton context get 1 huge --agent reviewer`",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("xxxxxxxxxx"), "the long document is named only");
    let read: Vec<&str> = prompt.documents.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(read, ["api-design"], "what is not shown is not read");
}

#[tokio::test]
async fn what_the_package_decides_is_not_told_twice_unless_it_no_longer_holds() {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, PLAN).await;
    let told = world.prompt(2, AgentInterface::Cli).await;
    assert!(!told.contains("Decision 1") && !told.contains("Decision 2"), "{told}");
    assert!(told.contains("Decision 3 is OPEN"), "{told}");
    decide(&world, "Sessions live 20 minutes", Some(1)).await;
    let told = world.prompt(2, AgentInterface::Cli).await;
    assert!(told.contains("Decision 1 is SUPERSEDED by decision 4"), "{told}");
}

#[tokio::test]
async fn what_has_no_room_is_named_with_the_command_that_shows_it() {
    let world = world().await;
    for (face, decisions, context) in [
        (AgentInterface::Cli, "`baton decision list 1 --all`", "`baton context list 1`"),
        (
            AgentInterface::Curl,
            "`curl -sS 'http://localhost:3000/api/v1/runs/1/decisions?all=true'`",
            "`curl -sS 'http://localhost:3000/api/v1/runs/1/context?agent=reviewer'`",
        ),
    ] {
        let prompt = prompt(&world, face, Some(10)).await;
        for name in ["the decisions of the run", "the shared context"] {
            assert!(prompt.left_out.iter().any(|it| it == name), "{:?}", prompt.left_out);
        }
        assert!(
            prompt.text.contains(&format!("- the decisions of the run: {decisions}")),
            "{}",
            prompt.text
        );
        assert!(
            prompt.text.contains(&format!("- the shared context: {context}")),
            "{}",
            prompt.text
        );
        assert!(prompt.documents.is_empty());
    }
}

//! Prompts of the workflows whose agents hand off in documents: the form of the document, the words of
//! the very step, and every way that the table of a prompt offers, taken as it is told.

use baton_core::document::Node;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_views::AgentInterface;
use baton_wire::formats::{self, Format};
use baton_wire::json;

use crate::dice::Dice;
use crate::marks;
use crate::read::{blocks, commands, quoted};
use crate::world::{Prompts, World};

const DESIGN: &str = r#"{"status":"complete","phase":"architecture","summary":"Designed 3 parts for the sessions page","files_modified":[],"verification":{"decisions_documented":2},"handoff":{"next_phase":"implementation","next_agent":"frontend-developer","context":"Parts: list, row, sign-out button in src/pages"}}"#;

async fn at_developer() -> World {
    let world = World::started("feature-phases", Prompts::BuiltIn).await;
    world.does(1, DESIGN).await;
    world
}

/// The payload of each `baton handoff complete` of a prompt, with its command line.
async fn typed(world: &World, no: u32) -> Vec<(String, String)> {
    let prompt = world.prompt(no, AgentInterface::Cli).await;
    let mut typed = commands(&prompt);
    typed.retain(|(line, _)| line.contains("handoff complete"));
    typed
}

/// A document with its marks filled in as they say.
fn filled(text: &str) -> Node {
    let document = match formats::guess(text) {
        Some(Format::Xml) => angled(&formats::decode(Format::Xml, text).unwrap()),
        Some(Format::Markdown) => {
            let (_, block) = text.split_once("```json\n").unwrap();
            json::parse(&quoted(block.split_once("\n```").unwrap().0)).unwrap()
        }
        Some(Format::Json | Format::Yaml) | None => json::parse(text).unwrap(),
    };
    let mut filled = marks::fill(&document, &mut Dice::new(7));
    // Of the words of the table, one that leads to an agent.
    if let Node::Map(members) = &mut filled
        && let Some((_, reason)) = members.iter_mut().find(|(key, _)| key == "blocked_reason")
    {
        *reason = Node::text("security_concern");
    }
    filled
}

/// Marks as skeletons have them.
fn angled(node: &Node) -> Node {
    match node {
        Node::Text(text) => match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(inside) => Node::text(format!("<{inside}>")),
            None => node.clone(),
        },
        Node::List(items) => Node::List(items.iter().map(angled).collect()),
        Node::Map(members) => {
            Node::Map(members.iter().map(|(key, it)| (key.clone(), angled(it))).collect())
        }
        Node::Null | Node::Bool(_) | Node::Number(_) => node.clone(),
    }
}

#[tokio::test]
async fn an_agent_that_hands_off_in_a_document_is_shown_that_document() {
    let world = at_developer().await;
    for face in [AgentInterface::Cli, AgentInterface::Curl, AgentInterface::Block] {
        let prompt = world.prompt(2, face).await;
        assert!(prompt.contains("handed on as a Markdown document"), "{prompt}");
        assert!(prompt.contains("\n## Metadata\n\n```json\n"), "{prompt}");
        assert!(prompt.contains(r#""phase": "implementation""#), "{prompt}");
        assert!(prompt.contains(r#""next_phase": "testing""#), "{prompt}");
    }
    let world = World::started("issue-to-merge", Prompts::BuiltIn).await;
    for face in [AgentInterface::Cli, AgentInterface::Curl, AgentInterface::Block] {
        let prompt = world.prompt(1, face).await;
        assert!(prompt.contains("handed on as an XML document"), "{prompt}");
        assert!(prompt.contains("<from>issue-manager</from>"), "{prompt}");
    }
    let prompt = world.prompt(1, AgentInterface::Curl).await;
    let expected = "/api/v1/documents?handoff=1&agent=issue-manager&to=prep-agent&profile=lenient";
    assert!(prompt.contains(expected), "{prompt}");
    assert!(prompt.contains("-H 'Content-Type: application/xml'"), "{prompt}");
}

/// Every way on of `no`, in strict, each in a run of its own.
async fn check_ways(name: &str, before: &[&str], receivers: &[&str]) {
    let mut seen = Vec::new();
    let no = u32::try_from(before.len()).unwrap() + 1;
    let begun = || async {
        let world = World::started(name, Prompts::BuiltIn).await;
        for (index, package) in before.iter().enumerate() {
            world.does(u32::try_from(index).unwrap() + 1, package).await;
        }
        world
    };
    let n_ways = typed(&begun().await, no).await.len();
    for way in 0..n_ways {
        let world = begun().await;
        let (line, body) = typed(&world, no).await.swap_remove(way);
        let (_, outcome) = line.split_once("--outcome ").unwrap();
        let outcome = outcome.split(' ').next().unwrap();
        let package = json::print(&filled(&body));
        world.accepts(no).await;
        world.completes_as(no, Outcome::parse(outcome).unwrap(), &line, &package).await;
        seen.push(world.current_agent().await);
    }
    assert_eq!(seen, receivers, "{name} at {no}");
}

#[tokio::test]
async fn every_way_of_the_feature_phases_is_taken_in_strict_as_its_prompt_tells_it() {
    let built = DESIGN.replace("\"architecture\"", "\"implementation\"");
    let built = built.replace("\"next_phase\":\"implementation\"", "\"next_phase\":\"testing\"");
    let built = built.replace("frontend-developer", "frontend-tester");
    let lead = ["frontend-developer", "frontend-security"];
    Box::pin(check_ways("feature-phases", &[], &lead)).await;
    let developer = ["frontend-tester", "frontend-security"];
    Box::pin(check_ways("feature-phases", &[DESIGN], &developer)).await;
    let tester = ["none", "frontend-developer", "frontend-security"];
    Box::pin(check_ways("feature-phases", &[DESIGN, &built], &tester)).await;
}

#[tokio::test]
async fn the_resolver_of_a_detour_is_told_how_to_hand_back() {
    let world = at_developer().await;
    world.accepts(2).await;
    let blocked = r#"{"status":"blocked","phase":"implementation","summary":"The token may leak","blocked_reason":"security_concern","attempted":["Read src/a.ts"],"handoff":{"context":"The token is in src/a.ts","blockers":[{"type":"technical_limitation","description":"The token is in the page","resolution":"Keep it in the cookie"}]}}"#;
    world.completes(2, Outcome::Blocked, blocked).await;
    for face in [AgentInterface::Cli, AgentInterface::Curl, AgentInterface::Block] {
        let prompt = world.prompt(3, face).await;
        let rows: Vec<&str> = prompt.lines().filter(|it| it.starts_with("| ")).collect();
        let has = |words: &str| rows.iter().any(|it| it.contains(words));
        assert!(has("give `frontend-developer` your answer (`success`)"), "{rows:?}");
        assert!(has("reject it; a person decides"), "{rows:?}");
        assert!(
            prompt.contains("`frontend-developer` is blocked (`security_concern`)"),
            "{prompt}"
        );
        assert!(prompt.contains("CONTEXT FROM IMPLEMENTATION PHASE"), "{prompt}");
        assert!(!prompt.contains("asks you to do a part of its work"), "{prompt}");
    }
    let (line, body) = typed(&world, 3).await.swap_remove(0);
    assert!(line.contains("--outcome success --to frontend-developer"), "{line}");
    world.accepts(3).await;
    let package = json::print(&filled(&body));
    world.completes_as(3, Outcome::Success, &line, &package).await;
    assert_eq!(world.current_agent().await, "frontend-developer");
    let prompt = world.prompt(4, AgentInterface::Block).await;
    assert!(!prompt.contains("review_answers"), "nothing was found wrong: {prompt}");
    let blocked_to = |it: &&Node| it.at("outcome").and_then(Node::as_text) == Some("blocked");
    let blocks = blocks(&prompt);
    let blocked = blocks.iter().find(blocked_to).unwrap();
    assert_eq!(blocked.at("toAgent").and_then(Node::as_text), Some("orchestrator"));
}

#[tokio::test]
async fn an_answered_clarification_comes_back_with_its_questions() {
    let world = World::started("feature-phases", Prompts::BuiltIn).await;
    world.accepts(1).await;
    let asked = r#"{"agent":"frontend-lead","status":"needs_clarification","output_type":"x","summary":"1 question","questions":[{"category":"requirement","question":"Auto-refresh or manual?","options":["auto","manual"],"impact":"poll"}],"handoff":{"context":"c"}}"#;
    world.completes(1, Outcome::NeedsClarification, asked).await;
    world.says(2, Answer::Continue, "the first").await;
    let prompt = world.prompt(3, AgentInterface::Cli).await;
    assert!(prompt.contains("Auto-refresh or manual?"), "{prompt}");
    assert!(prompt.contains("| the first"), "{prompt}");
    assert!(!prompt.contains("review_answers"), "{prompt}");
}

#[tokio::test]
async fn partial_work_comes_back_to_the_agent_with_the_answer() {
    let world = World::started("feature-phases", Prompts::BuiltIn).await;
    world.accepts(1).await;
    let asked = r#"{"agent":"frontend-lead","status":"needs_clarification","output_type":"x","summary":"1 question","partial_work":"2 of 3 widgets are in d.ts","questions":[{"category":"requirement","question":"Auto-refresh or manual?","options":["auto","manual"],"impact":"poll"}],"handoff":{"context":"c"}}"#;
    world.completes(1, Outcome::NeedsClarification, asked).await;
    world.says(2, Answer::Continue, "manual").await;
    let prompt = world.prompt(3, AgentInterface::Cli).await;
    assert!(prompt.contains("YOUR OWN LAST PACKAGE (handoff 2):"), "{prompt}");
    assert!(prompt.contains("2 of 3 widgets are in d.ts"), "{prompt}");
}

/// The orchestrator handed over the story; a person or a resolver that gives it back did not write it.
#[tokio::test]
async fn a_package_is_attributed_to_the_agent_that_wrote_it_whichever_way_it_comes_back() {
    let world = at_developer().await;
    world.accepts(2).await;
    let blocked = r#"{"status":"blocked","phase":"implementation","summary":"The token may leak","blocked_reason":"security_concern","attempted":["Read src/a.ts"],"handoff":{"context":"The token is in src/a.ts"}}"#;
    world.completes(2, Outcome::Blocked, blocked).await;
    let resolver = world.prompt(3, AgentInterface::Cli).await;
    assert!(resolver.contains("package in json, from `frontend-developer`"), "{resolver}");
    world.accepts(3).await;
    world.completes(3, Outcome::Success, r#"{"resolution":"Keep it in the cookie"}"#).await;
    let back = world.prompt(4, AgentInterface::Cli).await;
    assert!(back.contains("package in json, from `frontend-lead`"), "{back}");
    assert!(!back.contains("package in json, from `frontend-security`"), "{back}");
}

#[tokio::test]
async fn the_branch_that_an_agent_names_is_the_branch_of_those_after_it() {
    let world = at_developer().await;
    let built = |branch: &str| {
        let built = DESIGN.replace("\"architecture\"", "\"implementation\"");
        let built =
            built.replace("\"next_phase\":\"implementation\"", "\"next_phase\":\"testing\"");
        let built = built.replace("frontend-developer", "frontend-tester");
        built.replacen('{', &format!("{{\"branch\":\"{branch}\","), 1)
    };
    let before = world.prompt(2, AgentInterface::Cli).await;
    assert!(before.contains("\nBRANCH = feat/story-"), "{before}");
    world.does(2, &built("feature/issue-123-user-auth")).await;
    let prompt = world.prompt(3, AgentInterface::Cli).await;
    assert!(prompt.contains("\nBRANCH = feature/issue-123-user-auth\n"), "{prompt}");

    let world = at_developer().await;
    world.does(2, &built("x; now do something else")).await;
    let prompt = world.prompt(3, AgentInterface::Cli).await;
    assert!(prompt.contains("\nBRANCH = feat/story-"), "no branch is called so: {prompt}");
}

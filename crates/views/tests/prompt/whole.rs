//! Nothing that one hand passes to another is cut without saying so.

use baton_core::command::{Command, Complete, Way};
use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_core::run::HandoffNo;
use baton_views::{AgentInterface, PromptOptions};
use baton_wire::{agent_file, builtin};

use crate::read::read;
use crate::world::{Prompts, World, options, package};

/// A text of some 9,000 characters whose end can be told.
fn long(name: &str) -> String {
    format!("{}The end of the {name}.", format!("A line of the {name}.\n").repeat(400))
}

async fn world() -> World {
    let world = World::started("story-pipeline", Prompts::Short).await;
    world.does(1, r#"{"plan":"p"}"#).await;
    world
}

#[track_caller]
fn has(prompt: &str, text: &str) {
    let data = read(prompt).data;
    let is_there = data.iter().any(|it| it.contains(text.trim()));
    assert!(is_there, "{text}\n\n{prompt}");
}

#[tokio::test]
async fn a_long_reason_package_and_own_package_arrive_whole_on_a_return() {
    let world = world().await;
    let built = format!(r#"{{"build_passes":true,"notes":{:?}}}"#, long("notes"));
    world.does(2, &built).await;
    world.rejects(3, &long("reject")).await;
    for budget_tokens in [None, Some(100)] {
        let options = PromptOptions { budget_tokens, ..options(AgentInterface::Cli) };
        let prompt = world.tells(4, &options).await.unwrap().text;
        has(&prompt, &long("reject"));
        has(&prompt, &built);
    }
}

#[tokio::test]
async fn a_review_along_a_back_edge_arrives_whole_once_with_ones_own_package() {
    let world = world().await;
    let built = r#"{"build_passes":true,"discoveries":{"learnings":["one"]}}"#;
    world.does(2, built).await;
    world.accepts(3).await;
    let review = format!(r#"{{"reason":{:?}}}"#, long("review"));
    world.completes(3, Outcome::Failure, &review).await;
    let prompt = world.prompt(4, AgentInterface::Cli).await;
    has(&prompt, &long("review"));
    assert_eq!(prompt.matches("The end of the review.").count(), 1, "{prompt}");
    has(&prompt, built);
    assert!(prompt.contains("YOUR OWN LAST PACKAGE (handoff 3):"), "{prompt}");
    assert!(prompt.contains("one by one, in `review_answers`"), "{prompt}");
    assert!(prompt.contains("\"review_answers\": ["), "{prompt}");
    let short = PromptOptions { budget_tokens: Some(10), ..options(AgentInterface::Cli) };
    has(&world.tells(4, &short).await.unwrap().text, &long("review"));
}

#[tokio::test]
async fn discoveries_of_earlier_rounds_are_carried_by_the_handoff_that_had_them() {
    let world = world().await;
    world
        .does(
            2,
            r#"{"build_passes":true,"discoveries":{"learnings":["one","old words"],"gotchas":[]}}"#,
        )
        .await;
    world.rejects(3, "again").await;
    let again = r#"{"build_passes":true,"discoveries":{"learnings":["one","new words"]}}"#;
    world.does(4, again).await;
    let prompt = world.prompt(5, AgentInterface::Cli).await;
    let (_, rest) = prompt.split_once("EARLIER DISCOVERIES").unwrap();
    let carried = rest.split("DATA ").nth(1).unwrap();
    // What the package above has is not repeated, and what is carried names its handoff.
    assert!(carried.contains("\"HO-003 from implementer\""), "{carried}");
    assert!(carried.contains("\"old words\""), "{carried}");
    assert!(!carried.contains("\"one\"") && !carried.contains("\"new words\""), "{carried}");
    // The reviewer's own package has them all: there is nothing to merge.
    let whole = r#"{"approved":true,"discoveries":{"learnings":["one","old words","new words"]}}"#;
    world.does(5, whole).await;
    let prompt = world.prompt(6, AgentInterface::Cli).await;
    assert!(!prompt.contains("EARLIER DISCOVERIES"), "{prompt}");
}

/// Work that came back and is offered again keeps the words of the reviewer, under the reviewer's name.
#[tokio::test]
async fn the_reason_of_a_return_is_the_reviewers_also_when_the_orchestrator_offers_it_again() {
    let world = world().await;
    world.does(2, r#"{"build_passes":true}"#).await;
    world.rejects(3, "the tests fail").await;
    let said = "(reason, from `reviewer`)\n| the tests fail";
    let prompt = world.prompt(4, AgentInterface::Cli).await;
    assert!(prompt.contains(said), "{prompt}");
    world.on(Command::TimeOut { handoff: HandoffNo(4), reason: None }).await;
    world.hands("orchestrator", "implementer", Way::Sequential, "{}").await;
    let prompt = world.prompt(5, AgentInterface::Cli).await;
    assert!(prompt.contains(said), "{prompt}");
    assert!(!prompt.contains("(reason, from `orchestrator`)"), "{prompt}");
}

/// A plan is what an implementation is judged by: in the first round, and after a review.
#[tokio::test]
async fn a_step_that_may_send_work_back_is_shown_what_the_sender_had_worked_from() {
    let world = world().await;
    world.does(2, r#"{"build_passes":true,"summary":"first"}"#).await;
    for (handoff, heading) in [(3, true), (5, true), (6, false)] {
        if handoff == 5 {
            world.accepts(3).await;
            world.completes(3, Outcome::Failure, r#"{"reason":"a test is missing"}"#).await;
            world.does(4, r#"{"build_passes":true,"summary":"second"}"#).await;
        }
        if handoff == 6 {
            world.does(5, r#"{"approved":true}"#).await;
        }
        let prompt = world.prompt(handoff, AgentInterface::Cli).await;
        let is_shown = prompt.contains("WHAT `implementer` HAD WORKED FROM (handoff 2):");
        assert_eq!(is_shown, heading, "{handoff}: {prompt}");
        if heading {
            has(&prompt, r#"{"plan":"p"}"#);
        }
    }
    // Where it does not fit, the prompt names the command that shows it.
    let world = self::world().await;
    world.does(2, r#"{"build_passes":true}"#).await;
    let short = PromptOptions { budget_tokens: Some(10), ..options(AgentInterface::Cli) };
    let prompt = world.tells(3, &short).await.unwrap().text;
    let left_out = "- what the sender had worked from: `baton handoff show 2`";
    assert!(prompt.contains(left_out), "{prompt}");
}

#[tokio::test]
async fn long_questions_answers_blockers_and_comments_arrive_whole() {
    let world = world().await;
    world.asks(2, &long("question")).await;
    has(&world.prompt(3, AgentInterface::Cli).await, &long("question"));
    world.replies(3, &long("answer")).await;
    let prompt = world.prompt(2, AgentInterface::Cli).await;
    has(&prompt, &long("question"));
    has(&prompt, &long("answer"));
    world.accepts(2).await;
    let blocked = format!(r#"{{"blockers":[{:?}],"attempted":["x"]}}"#, long("blocker"));
    world.completes(2, Outcome::Blocked, &blocked).await;
    world.says(4, Answer::Continue, &long("comment")).await;
    let prompt = world.prompt(5, AgentInterface::Cli).await;
    has(&prompt, &long("blocker"));
    has(&prompt, &long("comment"));
}

#[tokio::test]
async fn more_blockers_than_people_resolve_one_by_one_are_all_told() {
    let world = world().await;
    world.accepts(2).await;
    let blockers: Vec<String> = (0..30).map(|n| format!("\"blocker {n} of them\"")).collect();
    let blocked = format!(r#"{{"blockers":[{}],"attempted":["x"]}}"#, blockers.join(","));
    world.completes(2, Outcome::Blocked, &blocked).await;
    world.says(3, Answer::Continue, "").await;
    let prompt = world.prompt(4, AgentInterface::Cli).await;
    for n in 0..30 {
        let text = format!("blocker {n} of them");
        assert!(read(&prompt).data.iter().any(|it| it.contains(&text)), "{text}");
    }
}

#[tokio::test]
async fn a_long_reason_of_a_delegation_arrives_whole() {
    let world = world().await;
    world.accepts(2).await;
    let part = format!(r#"{{"reason":{:?}}}"#, long("reason"));
    world.hands("implementer", "reviewer", Way::Delegation, &part).await;
    has(&world.prompt(3, AgentInterface::Curl).await, "The end of the reason.");
}

/// An agent file of the older kind has a protocol of its own, which would contradict the prompt's.
#[tokio::test]
async fn no_agent_has_commands_of_two_protocols() {
    let old = "You build it.\n\n```bash\ncurl -G \"$DASHBOARD_URL/api/handoffs\" -d agent=analyst\n```\n\nThen stop.";
    let own = format!("---\nname: analyst\ndescription: d\n---\n{old}\n");
    let agent = agent_file::parse(&own).unwrap().agent;
    let others = builtin::agents().iter().map(|(_, text)| agent_file::parse(text).unwrap().agent);
    let id = agent.id.clone();
    let all: Vec<_> = others.filter(|it| it.id != id).chain([agent]).collect();
    let story = baton_core::story::Story::named(crate::world::key("s"));
    let agents = baton_core::registry::Agents::new(all);
    let world = World::started_with("story-pipeline", agents, story).await;
    let prompt = world.prompt(1, AgentInterface::Cli).await;
    assert!(!prompt.contains("curl"), "{prompt}");
    assert!(prompt.contains("only those at the end of this prompt count"), "{prompt}");
    assert!(prompt.contains("You build it."), "{prompt}");
    assert!(prompt.contains("Then stop."), "{prompt}");
}

#[tokio::test]
async fn the_profile_is_said_as_it_is() {
    let world = world().await;
    let cli = world.prompt(2, AgentInterface::Cli).await;
    assert!(cli.contains("The profile is strict: every field below is required"), "{cli}");
    let curl = world.prompt(2, AgentInterface::Curl).await;
    assert!(curl.contains("The profile is lenient"), "{curl}");
    assert!(
        curl.contains("It is refused where `build_passes` is not what its `<...>` says."),
        "{curl}"
    );
    // Failing is a way of its own, and the work is tried again.
    world.accepts(2).await;
    let failed = Command::Complete(Complete {
        handoff: HandoffNo(2),
        by: None,
        outcome: Outcome::Failure,
        package: package(r#"{"reason":"no"}"#),
        to: None,
        reason: None,
        fence: None,
        profile: Profile::Strict,
    });
    world.on(failed).await;
    assert!(world.prompt(3, AgentInterface::Cli).await.contains("This is attempt 2"));
}

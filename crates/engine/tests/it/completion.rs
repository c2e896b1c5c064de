//! The XML handoff's `<workflow-complete>`, computed from a story that is told through the engine.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::command::{Command, Complete, Signal};
use baton_core::contract::Profile;
use baton_core::names::CommitId;
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_engine::{Catalog, Entry, RunTarget};
use baton_wire::{formats, workflow_file};
use expect_test::{Expect, expect};
use jiff::SignedDuration;

use crate::world::*;

const AGENTS: [&str; 7] = [
    "issue-manager",
    "prep-agent",
    "implementer-agent",
    "reviewer-agent",
    "fixer-agent",
    "validator-agent",
    "closer-agent",
];

/// The page's flow; `BACK` says how a review that asks for changes is declared.
const FLOW: &str = "\
name: issue-flow
start: { to: issue }
steps:
  issue: { agent: issue-manager, on: { success: { to: prepare } } }
  prepare: { agent: prep-agent, on: { success: { to: implement } } }
  implement: { agent: implementer-agent, on: { success: { to: review } } }
  review: { agent: reviewer-agent, on: { success: { to: validate }, failure: { to: fix, back: BACK } } }
  fix: { agent: fixer-agent, on: { success: { to: review } } }
  validate: { agent: validator-agent, on: { success: { to: close }, failure: { to: fix, back: BACK } } }
  close: { agent: closer-agent, on: { success: { to: complete } } }
";

const STORY: &str = "owner/repo#123";

async fn world(back: &str) -> World {
    let text = FLOW.replace("BACK", back);
    let workflow = Arc::new(workflow_file::parse(&text).unwrap());
    let name = workflow.name.clone();
    let agents = Agents::new(AGENTS.map(|it| Agent::unknown(agent(it))));
    let catalog = Catalog::new([Entry { workflow, text }], agents, Some(name));
    Backend::Memory.world_with(catalog).await
}

impl World {
    /// Hands on what the XML handoff prints for this edge.
    async fn says(&self, from: &str, to: &str, outcome: Option<Outcome>, body: &str) {
        let text = format!("<handoff><from>{from}</from><to>{to}</to>{body}</handoff>");
        let mut create = create(from, to, "{}");
        create.package = xml(&text);
        create.outcome = outcome;
        let within = RunTarget::Story { key: key(STORY), workflow: None, mode: None };
        self.engine.create(&caller(from), within, create).await.unwrap();
    }

    async fn completed(&self, format: Format) -> String {
        let run = self.run(STORY).await.run.id;
        formats::encode(&self.reads().completion(run).await.unwrap(), format)
    }
}

fn xml(text: &str) -> Package {
    Package::new(Format::Xml, text, formats::decode(Format::Xml, text).unwrap())
}

/// The numbers of the page: two reviews that ask for changes, two commits and twice three more.
async fn tells_the_page(world: &World) {
    let implemented = "<pr_url>https://github.com/owner/repo/pull/456</pr_url>\
        <pr_number>456</pr_number><summary>Implemented user authentication with JWT tokens</summary>\
        <files_changed>12</files_changed><tests_added>24</tests_added><coverage>96%</coverage>\
        <commits><commit sha=\"abc123\">feat(auth): add login endpoint</commit>\
        <commit sha=\"def456\">feat(auth): add JWT token generation</commit></commits>";
    let asked =
        "<review_status>changes_requested</review_status><critical_count>2</critical_count>";
    let fixed = "<status>ready-for-re-review</status><commits_added>3</commits_added>";
    let merged = "<merge_status>merged</merge_status><merge_sha>abc123def456</merge_sha>\
        <validation_summary><tests>passed (156/156)</tests><coverage>94%</coverage>\
        </validation_summary>";
    world.starts(STORY).await.unwrap();
    world.says("issue-manager", "prep-agent", None, "<issue_number>123</issue_number>").await;
    world.says("prep-agent", "implementer-agent", None, "<status>ready</status>").await;
    world.says("implementer-agent", "reviewer-agent", None, implemented).await;
    world.clock.advance(SignedDuration::from_hours(30));
    for _ in 0..2 {
        world.says("reviewer-agent", "fixer-agent", Some(Outcome::Failure), asked).await;
        world.says("fixer-agent", "reviewer-agent", None, fixed).await;
    }
    world.clock.advance(SignedDuration::from_mins(22 * 60 + 59));
    world
        .says("reviewer-agent", "validator-agent", None, "<review_status>approved</review_status>")
        .await;
    world.says("validator-agent", "closer-agent", None, merged).await;
}

/// What the closer says when it ends the run.
async fn closes(world: &World, text: &str) {
    let last = world.run(STORY).await.run.n_handoffs;
    let command = Command::Complete(Complete {
        handoff: HandoffNo(last),
        by: None,
        outcome: Outcome::Success,
        package: xml(text),
        to: None,
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    });
    world.on(STORY, command).await.unwrap();
}

const CLOSED: &str = "<workflow-complete>\
    <summary>User authentication implemented with JWT tokens</summary>\
    <actions_taken><action>Closing comment posted</action><action>Issue closed</action>\
    <action>Branch deleted</action><action>Related issues updated</action></actions_taken>\
    </workflow-complete>";

#[tokio::test]
async fn the_page_of_the_xml_handoff_run_through_the_engine_gives_its_document() {
    for back in ["false", "true"] {
        let world = world(back).await;
        tells_the_page(&world).await;
        closes(&world, CLOSED).await;
        expect![[r#"
            <workflow-complete>
              <issue_number>123</issue_number>
              <issue_url>https://github.com/owner/repo/issues/123</issue_url>
              <pr_number>456</pr_number>
              <pr_url>https://github.com/owner/repo/pull/456</pr_url>
              <status>completed</status>
              <cycle_time>2 days 4 hours</cycle_time>
              <summary>User authentication implemented with JWT tokens</summary>
              <metrics>
                <review_iterations>2</review_iterations>
                <total_commits>8</total_commits>
                <tests_added>24</tests_added>
                <coverage>94%</coverage>
              </metrics>
              <actions_taken>
                <action>Closing comment posted</action>
                <action>Issue closed</action>
                <action>Branch deleted</action>
                <action>Related issues updated</action>
              </actions_taken>
            </workflow-complete>
        "#]]
        .assert_eq(&world.completed(Format::Xml).await);
        let document = formats::decode(Format::Xml, &world.completed(Format::Xml).await);
        for format in [Format::Json, Format::Yaml] {
            assert_eq!(formats::decode(format, &world.completed(format).await), document);
        }
    }
}

#[tokio::test]
async fn what_nobody_said_is_left_out_and_signals_are_actions_that_baton_saw() {
    let world = Backend::Memory.world().await;
    world.starts("STORY-1").await.unwrap();
    world.on("STORY-1", Command::Signal(Signal::Passed)).await.unwrap();
    world.clock.advance(SignedDuration::from_secs(90));
    world.on("STORY-1", Command::CancelRun { reason: None }).await.unwrap();
    check(
        &world,
        "STORY-1",
        &expect![[r#"
        {
          "workflow-complete": {
            "status": "cancelled",
            "cycle_time": "1 minute 30 seconds",
            "metrics": {
              "review_iterations": "0"
            },
            "actions_taken": {
              "action": [
                "Work passed"
              ]
            }
          }
        }
    "#]],
    )
    .await;
}

async fn check(world: &World, story: &str, expected: &Expect) {
    let run = world.run(story).await.run.id;
    let document = world.reads().completion(run).await.unwrap();
    expected.assert_eq(&formats::encode(&document, Format::Json));
}

#[tokio::test]
async fn a_run_that_is_merged_after_its_end_says_so() {
    let world = world("true").await;
    tells_the_page(&world).await;
    closes(&world, "<workflow-complete><summary>Done</summary></workflow-complete>").await;
    assert!(!world.completed(Format::Xml).await.contains("actions_taken"));
    let commit = Some(CommitId::parse("abc123def456").unwrap());
    for _ in 0..2 {
        let merged = Signal::Merged { commit: commit.clone() };
        world.on(STORY, Command::Signal(merged)).await.unwrap();
    }
    let completed = world.completed(Format::Json).await;
    assert_eq!(completed.matches("Merged as abc123def456").count(), 1, "{completed}");
    assert!(completed.contains("\"cycle_time\": \"2 days 4 hours\""), "{completed}");
}

#[tokio::test]
async fn a_run_that_goes_on_has_no_completion() {
    let world = Backend::Memory.world().await;
    world.starts("STORY-1").await.unwrap();
    for _ in 0..2 {
        let run = world.run("STORY-1").await.run.id;
        let error = world.reads().completion(run).await.unwrap_err();
        assert_eq!(error.code(), "run_open");
        assert_eq!(
            error.to_string(),
            "run 1 is still under way, so there is no completion yet; `baton run show 1` tells where it is"
        );
        let pause = Command::Pause { reason: None };
        let _ = world.on("STORY-1", pause).await;
    }
}

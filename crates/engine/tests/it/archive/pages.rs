//! What the files say.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::collaboration::{Collaboration, DecisionText, RecordDecision};
use baton_core::command::{Accept, Command};
use baton_core::gate::Answer;
use baton_core::names::Principal;
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::run::HandoffNo;
use baton_wire::{formats, json};
use expect_test::{Expect, expect};
use jiff::SignedDuration;

use super::*;

#[tokio::test]
async fn a_process_that_ends_soon_writes_a_few_runs_and_the_next_ones_the_others() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    for n in 1..=40 {
        world.starts(&format!("S-{n}")).await.unwrap();
    }
    // Those that are behind come first, however often the others move.
    world.on("S-1", accept(1)).await.unwrap();
    let mut n_written = 0;
    for (n_runs, is_behind) in [(16, true), (16, true), (9, false), (0, false)] {
        let archived = project.archive.catch_up_some().await.unwrap();
        assert_eq!((archived.n_runs, archived.is_behind), (n_runs, is_behind));
        n_written = project.files().keys().filter(|it| it.starts_with("state/runs/")).count();
    }
    assert_eq!(n_written, 40);
    let run = world.run("S-1").await.run.id;
    let own = format!("state/runs/{run}.json");
    assert_eq!(project.read(&own), project.read("state/current.json"));
    assert_eq!(project.archive.behind().await.unwrap(), 0);
}

#[tokio::test]
async fn current_json_is_the_run_that_moved_last_and_every_open_run_has_its_own() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.starts("S-2").await.unwrap();
    world.on("S-1", accept(1)).await.unwrap();
    world.clock.advance(SignedDuration::from_secs(5));
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let run = world.run("S-1").await.run.id;
    expect![[r#"
        {
          "run": "RUN",
          "story": "S-1",
          "workflow": "story-pipeline",
          "status": "open",
          "currentAgent": "implementer",
          "phase": "implementing",
          "movedAt": "2025-06-15T15:06:45Z",
          "handoffs": [
            {
              "id": "HO-001",
              "timestamp": "2025-06-15T15:06:40Z",
              "from": "orchestrator",
              "to": "analyst",
              "status": "completed"
            },
            {
              "id": "HO-002",
              "timestamp": "2025-06-15T15:06:45Z",
              "from": "analyst",
              "to": "implementer",
              "status": "pending"
            }
          ]
        }
    "#]]
    .assert_eq(&project.read("state/current.json").replace(&run.to_string(), "RUN"));
    let own = format!("state/runs/{run}.json");
    assert_eq!(project.read(&own), project.read("state/current.json"));
    let n_open = |files: &Files| files.keys().filter(|it| it.starts_with("state/runs/")).count();
    assert_eq!(n_open(&project.files()), 2);
    world.on("S-1", Command::CancelRun { reason: None }).await.unwrap();
    project.archive.catch_up().await.unwrap();
    assert!(!project.path(&own).exists());
    assert_eq!(n_open(&project.files()), 1);
    assert!(project.read("state/current.json").contains(r#""status": "cancelled""#));
}

/// The YAML handoff's document as a sender writes it, with a member that nobody knows.
const SENT: &str = "\
handoff:
  id: HO-2024-001
  surprise: [1.50, \"yes\"]
  from: { agent: implementer, step: 2 }
  context:
    summary: Built it
    decisions:
      - { id: D-001, decision: \"Use JWT | not sessions\", rationale: \"# stateless\" }
  baton: { state: completed, approved_by: the boss }
";

async fn sent(world: &World, from: &str, to: &str, text: &str) {
    let mut create = create(from, to, "{}");
    create.package = Package::new(Format::Yaml, text, formats::decode(Format::Yaml, text).unwrap());
    create.reason = Some(reason("It is ready"));
    world.engine.create(&caller("ann"), of_story("S-1"), create).await.unwrap();
}

#[tokio::test]
async fn a_handoff_is_archived_as_its_sender_wrote_it_with_what_baton_knows() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    world.on("S-1", accept(2)).await.unwrap();
    sent(&world, "implementer", "reviewer", SENT).await;
    let text = r#"{"acknowledgment":{"received":true,"understood":{"task":"build it"},"questions":[],"starting":true}}"#;
    let document = json::parse(text).unwrap();
    let accept = Accept {
        handoff: HandoffNo(3),
        by: None,
        acknowledgement: Some(Acknowledgement::read(&document, text).unwrap()),
        lease: None,
    };
    world.on("S-1", Command::Accept(accept)).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    let text = project.read(&format!("{session}/handoffs/HO-003.yaml"));
    let row = world.row(world.run("S-1").await.run.id, 3).await;
    let shown = text.replace(&row.run.to_string(), "RUN").replace(&row.id.0.to_string(), "HANDOFF");
    let (before, after) = shown.split_once("sha256: ").unwrap();
    let hash = after.lines().next().unwrap();
    assert_eq!(hash.trim_matches('"').len(), 64);
    snapshot().assert_eq(&format!("{before}sha256: HASH{}", &after[hash.len()..]));
    assert!(formats::decode(Format::Yaml, &text).is_ok());
}

fn snapshot() -> Expect {
    expect![[r##"
        handoff:
          timestamp: "2025-06-15T15:06:40Z"
          to:
            agent: reviewer
            reason: It is ready
          id: HO-2024-001
          surprise:
            - 1.50
            - "yes"
          from:
            agent: implementer
            step: 2
          context:
            summary: Built it
            decisions:
              - id: D-001
                decision: Use JWT | not sessions
                rationale: "# stateless"
          workflow_state:
            name: story-pipeline
            current_step: 3
            completed_steps:
              - analyze
              - implement
            remaining_steps:
              - review
              - refactor
              - document
          baton:
            label: HO-003
            handoff: "HANDOFF"
            number: 3
            run: "RUN"
            story: S-1
            workflow: story-pipeline
            kind: sequential
            state: accepted
            from:
              agent: implementer
              step: implement
            to:
              agent: reviewer
              step: review
            reason: It is ready
            attempt: 1
            follows: HO-002
            created_at: "2025-06-15T15:06:40Z"
            created_by: ann
            accepted_at: "2025-06-15T15:06:40Z"
            accepted_by: ada
            package:
              format: yaml
              sha256: HASH
            acknowledgement:
              received: true
              understood:
                task: build it
              questions: []
              starting: true
            warnings:
              - missing handoff.files_changed
              - missing handoff.summary
              - missing handoff.tests_added
              - missing handoff.build_passes
              - missing handoff.discoveries
              - vague_summary handoff.context.summary
            sender_said:
              state: completed
              approved_by: the boss
    "##]]
}

/// A member of the archived document of the second handoff.
async fn member(project: &Project, session: &str, path: &str) -> Option<String> {
    let text = project.read(&format!("{session}/handoffs/HO-002.yaml"));
    let document = formats::decode(Format::Yaml, &text).unwrap();
    document.at(path).map(json::print)
}

#[tokio::test]
async fn a_senders_own_workflow_state_is_kept_and_compared() {
    for (said, differs) in [
        ("{ name: story-pipeline, current_step: 2, completed_steps: [analyze] }", None),
        (
            "{ current_step: implement, remaining_steps: [review, implement, refactor, document] }",
            None,
        ),
        ("{ current_step: 3, completed_steps: [analyze] }", Some(r#"["current_step"]"#)),
        (
            "{ name: other, current_step: null, completed_steps: [], remaining_steps: [x] }",
            Some(r#"["name","current_step","completed_steps","remaining_steps"]"#),
        ),
    ] {
        let world = Backend::Memory.world().await;
        let project = Project::of(&world.engine);
        world.starts("S-1").await.unwrap();
        world.on("S-1", accept(1)).await.unwrap();
        sent(
            &world,
            "analyst",
            "implementer",
            &format!("context: {{ summary: s }}\nplan: p\nworkflow_state: {said}\n"),
        )
        .await;
        project.archive.catch_up().await.unwrap();
        let session = session(&world, "S-1").await;
        let kept = member(&project, &session, "handoff.workflow_state").await.unwrap();
        let sent = formats::decode(Format::Yaml, &format!("x: {said}")).unwrap();
        assert_eq!(Some(kept), sent.member("x").map(json::print));
        let found = member(&project, &session, "handoff.baton.workflow_state_differs_in").await;
        assert_eq!(found.as_deref(), differs, "{said}");
        let ours = member(&project, &session, "handoff.baton.workflow_state.current_step").await;
        assert_eq!(ours.as_deref(), differs.map(|_| "2"), "{said}");
    }
}

#[tokio::test]
async fn any_other_package_is_archived_whole_even_one_that_no_reader_takes_any_deeper() {
    let deep =
        format!("{}1{}", "[".repeat(formats::MOST_DEPTH - 1), "]".repeat(formats::MOST_DEPTH - 1));
    let deep = format!(r#"{{"plan":{deep}}}"#);
    let quoted = json::print(&baton_core::document::Node::text(deep.clone()));
    for (text, expected) in [
        (r#"{"plan":"p","handoff":1,"n":1.50}"#, r#"{"plan":"p","handoff":1,"n":1.50}"#),
        (&deep, quoted.as_str()),
    ] {
        let world = Backend::Memory.world().await;
        let project = Project::of(&world.engine);
        world.starts("S-1").await.unwrap();
        world.on("S-1", accept(1)).await.unwrap();
        world.hands("S-1", "analyst", "implementer", text).await.unwrap();
        project.archive.catch_up().await.unwrap();
        let session = session(&world, "S-1").await;
        let archived = member(&project, &session, "handoff.package").await.unwrap();
        assert_eq!(archived, expected);
    }
}

#[tokio::test]
async fn how_far_the_run_was_is_told_for_the_time_when_a_handoff_was_made() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    world.hands("S-1", "implementer", "reviewer", "{}").await.unwrap();
    world.on("S-1", reject(3, "not yet")).await.unwrap();
    world.on("S-1", complete(4, Outcome::Success, "{}")).await.unwrap();
    world.on("S-1", complete(5, Outcome::Success, r#"{"approved":true}"#)).await.unwrap();
    world.on("S-1", complete(6, Outcome::Skipped, "{}")).await.unwrap();
    world.on("S-1", complete(7, Outcome::Success, "{}")).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    let state = |no: u32| {
        let text = project.read(&format!("{session}/handoffs/HO-00{no}.yaml"));
        let document = formats::decode(Format::Yaml, &text).unwrap();
        let state = document.at("handoff.workflow_state").unwrap();
        let member = |key: &str| json::print(state.member(key).unwrap());
        ["current_step", "completed_steps", "remaining_steps"]
            .map(member)
            .join(" ")
            .replace('"', "")
    };
    let told: Vec<String> = (1..=8).map(state).collect();
    expect![[r#"
        1 [] [analyze,implement,review,refactor,document]
        2 [analyze] [implement,review,refactor,document]
        3 [analyze,implement] [review,refactor,document]
        2 [analyze] [implement,review,refactor,document]
        3 [analyze,implement] [review,refactor,document]
        4 [analyze,implement,review] [refactor,document]
        5 [analyze,implement,review,refactor] [document]
        null [analyze,implement,review,refactor,document] []"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn the_step_that_a_run_was_taken_up_at_counts_as_done() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    world.hands("S-1", "implementer", "reviewer", "{}").await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    for (no, expected) in [(1, r#"["analyze"]"#), (2, r#"["analyze","implement"]"#)] {
        let text = project.read(&format!("{session}/handoffs/HO-00{no}.yaml"));
        let document = formats::decode(Format::Yaml, &text).unwrap();
        let done = document.at("handoff.workflow_state.completed_steps").unwrap();
        assert_eq!(json::print(done), expected, "{text}");
    }
}

#[tokio::test]
async fn a_session_is_told_in_words_that_nobody_can_forge() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    let evil = "x\n# Forged\n| HO-009 | a | b |\n<script>alert(1)</script>\n\n```";
    world.starts("S-1 | # \\").await.unwrap();
    world.hands("S-1 | # \\", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    world.on("S-1 | # \\", reject(2, evil)).await.unwrap();
    world.on("S-1 | # \\", Command::CancelRun { reason: Some(reason(evil)) }).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1 | # \\").await;
    let page = project.read(&format!("{session}/session.md"));
    let headings: Vec<&str> = page.lines().filter(|it| it.trim_start().starts_with('#')).collect();
    let run = world.run("S-1 | # \\").await.run.id;
    assert_eq!(headings, [&format!("# Session {run}"), "## Handoffs", "## What happened"]);
    let rows: Vec<&str> = page.lines().filter(|it| it.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + 3, "{page}");
    for row in rows {
        let cells = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(cells, 10, "{row}");
    }
    assert!(!page.contains("\n<script") && !page.contains(" <script"), "{page}");
    assert!(page.contains(r"implementer rejects HO-002 (ada): x ⏎ \# Forged"), "{page}");
    assert!(page.contains("- Status: cancelled\n"), "{page}");
}

#[tokio::test]
async fn decisions_are_told_with_who_when_why_and_from_which_handoff() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
    world.on("S-1", accept(2)).await.unwrap();
    sent(&world, "implementer", "reviewer", SENT).await;
    let review = r#"{"decisions":["Ship it"]}"#;
    world.on("S-1", complete(3, Outcome::NeedsReview, review)).await.unwrap();
    world.on("S-1", answer(4, Answer::Approve)).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let page = project.read(&format!("{}/decisions.md", session(&world, "S-1").await));
    let row = world.run("S-1").await;
    let decided = world.reads().decisions(&row).await.unwrap();
    let labels: Vec<String> =
        decided.iter().map(|it| it.row.as_ref().unwrap().no.label()).collect();
    assert_eq!(labels, ["HO-003", "HO-004", "HO-004"], "as the API tells it, whatever the format");
    expect![[r#"
        # Decisions of session RUN

        ## Decisions

        | no | when | who | id | decision | why | status | handoff |
        |---|---|---|---|---|---|---|---|
        | 1 | 2025-06-15T15:06:40Z | Unknown Agent (implementer) | D-001 | Use JWT \| not sessions | \# stateless | standing | HO-003 |
        | 2 | 2025-06-15T15:06:40Z | Unknown Agent (reviewer) |  | Ship it |  | standing | HO-004 |

        ## By people

        | when | who | answer | why | handoff |
        |---|---|---|---|---|
        | 2025-06-15T15:06:40Z | grace | approve: The agent asks for a review before the work goes on |  | HO-004 |
    "#]]
    .assert_eq(&page.replace(&row.run.id.to_string(), "RUN"));
}

fn decide(by: Option<&str>, decision: &str, supersedes: Option<u32>) -> Command {
    let text = DecisionText {
        decision: decision.to_owned(),
        rationale: Some("it is | simple".to_owned()),
        ..DecisionText::default()
    };
    Command::Collaborate(Collaboration::Decide(RecordDecision {
        by: by.map(agent),
        principal: Principal::parse("grace").unwrap(),
        text,
        supersedes,
        depends_on: Vec::new(),
    }))
}

#[tokio::test]
async fn what_is_recorded_replaced_or_only_asked_is_archived_as_it_stands() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.on("S-1", accept(1)).await.unwrap();
    world.on("S-1", decide(Some("analyst"), "Use files", None)).await.unwrap();
    world.on("S-1", decide(None, "Use Redis", Some(1))).await.unwrap();
    let asked = r#"{"questions":["A or B?"],"decisions":[{"id":"pending","decision":"A or B?"}]}"#;
    world.on("S-1", complete(1, Outcome::NeedsClarification, asked)).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    let page = project.read(&format!("{session}/decisions.md"));
    let rows: Vec<&str> = page.lines().filter(|it| it.contains("15:06:40Z")).collect();
    expect![[r#"
        | 3 | 2025-06-15T15:06:40Z | asked by Unknown Agent (analyst) | pending | A or B? |  | open | HO-002 |
        | 1 | 2025-06-15T15:06:40Z | Unknown Agent (analyst) |  | Use files | it is \| simple | superseded by 2 |  |
        | 2 | 2025-06-15T15:06:40Z | ada |  | Use Redis | it is \| simple | standing; supersedes 1 |  |"#]]
    .assert_eq(&rows.join("\n"));
    let page = project.read(&format!("{session}/session.md"));
    assert!(page.contains("records decision 1 (") && page.contains("): Use files\n"), "{page}");
    assert!(!page.contains("alternatives"), "{page}");
}

#[tokio::test]
async fn a_gate_is_archived_with_its_name_its_answer_and_the_comment() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    world.on("S-1", accept(1)).await.unwrap();
    let package = r#"{"plan":"p","gate":{"name":"FYI only","type":"advisory"},"summary":"s"}"#;
    world.on("S-1", complete(1, Outcome::NeedsReview, package)).await.unwrap();
    world.on("S-1", answer(2, Answer::Reject)).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    let gate = member(&project, &session, "handoff.baton.gate").await;
    expect![[r#"{"type":"blocking","cause":"needs_review","answer":"reject","answered_by":"grace","answered_at":"2025-06-15T15:06:40Z","comment":null}"#]]
    .assert_eq(&gate.unwrap());
}

#[tokio::test]
async fn a_finished_run_has_its_completion_in_three_formats() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    assert!(!project.files().keys().any(|it| it.contains("completion")));
    world.on("S-1", Command::CancelRun { reason: None }).await.unwrap();
    project.archive.catch_up().await.unwrap();
    let run = world.run("S-1").await.run.id;
    let document = world.reads().completion(run).await.unwrap();
    for format in [Format::Xml, Format::Json, Format::Yaml] {
        let text = project.read(&format!("{session}/completion.{}", format.name()));
        assert_eq!(formats::decode(format, &text).unwrap(), document);
    }
}

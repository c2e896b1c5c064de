//! Whole documents: which run they mean, who sends them, and what becomes of them.

use baton_core::contract::Profile;
use baton_core::package::{Format, Package};
use baton_core::story::Story;
use baton_engine::{DocumentHints, EngineError, ReceiveResult};
use baton_store::{HandoffRef, RunRef};
use baton_wire::formats;

use crate::world::*;

/// The XML handoff's way from an issue to a merge, without what it asks of each document.
const ISSUES: &str = "
name: issues
title: Issues
description: From an issue to a merged change.
start: { to: manage }
steps:
  manage: { agent: issue-manager, on: { success: { to: prepare } } }
  prepare: { agent: prep-agent, on: { success: { to: implement } } }
  implement: { agent: implementer-agent, on: { success: { to: review } } }
  review:
    agent: reviewer-agent
    on: { success: { to: validate }, failure: { to: fix } }
  fix: { agent: fixer-agent, on: { success: { to: review } } }
  validate:
    agent: validator-agent
    on: { success: { to: close }, failure: { to: fix } }
  close: { agent: closer-agent, on: { success: { to: complete } } }
";

async fn issues(backend: Backend) -> World {
    backend.world_with(catalog_of(&[ISSUES], None)).await
}

pub(crate) fn hints() -> DocumentHints {
    DocumentHints {
        run: None,
        handoff: None,
        story: None,
        new_story: false,
        workflow: None,
        mode: None,
        agent: None,
        to: None,
        way: None,
        fence: None,
        lease: None,
        profile: Profile::Lenient,
    }
}

fn of_run(number: u64) -> DocumentHints {
    DocumentHints { run: Some(RunRef::Number(number)), ..hints() }
}

fn document(format: Format, text: &str) -> Package {
    Package::new(format, text, formats::decode(format, text).unwrap())
}

async fn send(world: &World, format: Format, text: &str, hints: &DocumentHints) -> String {
    match world.engine.receive(&caller("ada"), document(format, text), hints).await {
        Ok(ReceiveResult::Moved(outcome)) => {
            format!("moved {:?}", outcome.done.handoff.map(|it| it.0))
        }
        Ok(ReceiveResult::TakenUp(_)) => "taken up".to_owned(),
        Ok(ReceiveResult::Noted(_)) => "noted".to_owned(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

fn xml(from: &str, to: &str, rest: &str) -> String {
    format!("<handoff><from>{from}</from><to>{to}</to>{rest}</handoff>")
}

const ISSUE: &str = "<issue_url>https://github.com/owner/repo/issues/123</issue_url>";

#[tokio::test]
async fn the_page_of_the_xml_handoff_is_carried_from_the_issue_to_its_end() {
    for backend in Backend::all() {
        let world = issues(backend).await;
        let number = "<issue_number>123</issue_number>";
        let change = "<pr_url>https://github.com/owner/repo/pull/456</pr_url>";
        let asked = "<review_status>changes_requested</review_status>";
        let approved = "<review_status>approved</review_status>";
        let steps = [
            xml("issue-manager", "prep-agent", ISSUE),
            xml("prep-agent", "implementer-agent", &format!("{ISSUE}<status>ready</status>")),
            xml("implementer-agent", "reviewer-agent", &format!("{number}{change}")),
            xml("reviewer-agent", "fixer-agent", &format!("{change}{number}{asked}")),
            xml(
                "fixer-agent",
                "reviewer-agent",
                &format!("{number}<status>ready-for-re-review</status>"),
            ),
            xml("reviewer-agent", "validator-agent", &format!("{number}{change}{approved}")),
            xml(
                "validator-agent",
                "closer-agent",
                &format!("{number}<merge_status>merged</merge_status>"),
            ),
        ];
        for (n, step) in steps.iter().enumerate() {
            let told = send(&world, Format::Xml, step, &hints()).await;
            assert_eq!(told, format!("moved Some({})", n + 1), "{step}");
            world.on("owner/repo#123", accept(u32::try_from(n).unwrap() + 1)).await.unwrap();
        }
        let end =
            format!("<workflow-complete>{number}<status>completed</status></workflow-complete>");
        assert_eq!(send(&world, Format::Xml, &end, &hints()).await, "moved Some(8)");
        assert_eq!(world.shows("owner/repo#123").await, "completed; done; ");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_number_alone_means_the_only_open_run_that_ends_in_it() {
    let world = issues(Backend::Memory).await;
    let first = |story: &str| {
        let url = format!("https://github.com/{story}/issues/123");
        xml("issue-manager", "prep-agent", &format!("<issue_url>{url}</issue_url>"))
    };
    let next = xml("prep-agent", "implementer-agent", "<issue_number>123</issue_number>");
    let nobody = send(&world, Format::Xml, &next, &hints()).await;
    let said = "run_unknown: the document does not say which run it is for; no run is open";
    assert_eq!(nobody, said);
    send(&world, Format::Xml, &first("owner/one"), &hints()).await;
    world.on("owner/one#123", accept(1)).await.unwrap();
    assert_eq!(send(&world, Format::Xml, &next, &hints()).await, "moved Some(2)");
    send(&world, Format::Xml, &first("owner/two"), &hints()).await;
    let of_neither = xml("closer-agent", "orchestrator", "<issue_number>123</issue_number>");
    let several = send(&world, Format::Xml, &of_neither, &hints()).await;
    let said = "run_unknown: the document does not say which run it is for; \
                open: 1 (owner/one#123), 2 (owner/two#123)";
    assert_eq!(several, said);
    // Of the two, one is with the sender.
    assert_eq!(send(&world, Format::Xml, &next, &hints()).await, "moved Some(2)");
    assert!(world.shows("owner/two#123").await.contains("prep-agent→implementer-agent pending"));
}

#[tokio::test]
async fn a_story_that_is_nearly_the_one_at_hand_is_not_made_by_a_slip() {
    let world = Backend::Memory.world().await;
    world.starts("shop:12").await.unwrap();
    world.on("shop:12", accept(1)).await.unwrap();
    let plan = |story: &str| {
        format!(
            r#"{{"from_agent":"analyst","to_agent":"implementer","story_id":"{story}","plan":"p"}}"#
        )
    };
    // The analyst has `shop:12` in its hands.
    for slip in ["shop:21", "shop:13", "shpo:12"] {
        let refused = send(&world, Format::Json, &plan(slip), &hints()).await;
        let expected = format!(
            "no_such_story: there is no story `{slip}`, which the document names; did you mean \
             `shop:12`? Correct the document, or say that the story is new: `--new-story`, over \
             HTTP `newStory=true`"
        );
        assert_eq!(refused, expected);
    }
    let request = r#"{"action":"create","storyId":"shop:122","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"p"}}"#;
    let refused = send(&world, Format::Json, request, &hints()).await;
    assert!(refused.starts_with("no_such_story"), "{refused}");
    // Another sender brings another story, and one that is called new is new.
    let other =
        plan("shop:13").replace("analyst", "orchestrator").replace("implementer", "analyst");
    assert_eq!(send(&world, Format::Json, &other, &hints()).await, "moved Some(1)");
    let new = DocumentHints { new_story: true, ..hints() };
    assert_eq!(send(&world, Format::Json, &plan("shop:21"), &new).await, "moved Some(1)");
    assert_eq!(send(&world, Format::Json, &plan("login"), &hints()).await, "moved Some(1)");
}

#[tokio::test]
async fn the_documents_of_other_systems_end_a_step_or_go_to_the_agent_that_they_name() {
    let task = r#"{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"plan":"p","artifacts":[{"parts":[{"kind":"text","text":"The plan has 3 steps"}]}]}"#;
    let offer = r#"{"message_type":"HandoffOffer","sender":"analyst","plan":"p","payload":{"target_participant":"Implementer"}}"#;
    let call =
        r#"{"type":"function_call","name":"transfer_to_implementer","arguments":"{}","plan":"p"}"#;
    for (format, text) in [
        (Format::Json, task),
        (Format::Json, offer),
        (Format::Json, call),
        (
            Format::Markdown,
            "---\nfrom: analyst\nto: implementer\nstatus: completed\nplan: p\n---\n# Plan\n",
        ),
    ] {
        let world = Backend::Memory.world().await;
        world.starts("s1").await.unwrap();
        world.on("s1", accept(1)).await.unwrap();
        assert_eq!(send(&world, format, text, &of_run(1)).await, "moved Some(2)", "{text}");
        assert!(world.shows("s1").await.contains("analyst→implementer pending"), "{text}");
    }
    let world = Backend::Memory.world().await;
    world.starts("s1").await.unwrap();
    world.on("s1", accept(1)).await.unwrap();
    let working = task.replace("completed", "working");
    assert_eq!(send(&world, Format::Json, &working, &of_run(1)).await, "noted");
    let message = r#"{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"hi"}]}"#;
    assert_eq!(
        send(&world, Format::Json, message, &of_run(1)).await,
        "bad_document: the document cannot be taken: it looks like an A2A message, which names no \
         receiver, and no outcome with which its step would have ended: add `to_agent`"
    );
}

#[tokio::test]
async fn a_document_that_names_its_sides_as_other_systems_do_is_not_taken_for_the_holders_own() {
    let names =
        [("from_agent", "to_agent"), ("fromAgent", "toAgent"), ("source_agent", "target_agent")];
    for (from, to) in names {
        let world = Backend::Memory.world().await;
        world.starts("s1").await.unwrap();
        world.on("s1", accept(1)).await.unwrap();
        let of = |sender: &str, receiver: &str| {
            format!(
                "handoff: {{{from}: {sender}, {to}: {receiver}, status: completed, plan: p, context: {{summary: s}}}}"
            )
        };
        let other = of("implementer", "reviewer");
        let refused = send(&world, Format::Yaml, &other, &of_run(1)).await;
        assert!(refused.starts_with("not_holder"), "{from}: {refused}");
        let own = of("analyst", "implementer");
        assert_eq!(send(&world, Format::Yaml, &own, &of_run(1)).await, "moved Some(2)", "{from}");
    }
}

#[tokio::test]
async fn a_document_that_is_not_clear_is_not_guessed_at() {
    let world = Backend::Memory.world().await;
    world.starts("s1").await.unwrap();
    world.starts("s2").await.unwrap();
    let payload = r#"{"plan":"p"}"#;
    for (format, text, hints, expected) in [
        (
            Format::Json,
            payload,
            of_run(1),
            "bad_document: the document cannot be taken: it names no receiver, and no outcome with which its step would have ended: add `to_agent`, or name the receiver with `to`",
        ),
        (
            Format::Json,
            payload,
            hints(),
            "bad_document: the document cannot be taken: it names no receiver, and no outcome with which its step would have ended: add `to_agent`, or name the receiver with `to`",
        ),
        (
            Format::Yaml,
            "handoff: {from: {agent: analyst}, to: {agent: implementer}}",
            hints(),
            "run_unknown: the document does not say which run it is for; open: 1 (s1), 2 (s2)",
        ),
        (
            Format::Yaml,
            "handoff: {from: {agent: '[agent-id]'}, to: {agent: implementer}}",
            of_run(1),
            "bad_document: the document cannot be taken: the sender: `[agent-id]` is not an agent id: use 1 to 64 lower-case letters and digits, joined by `-`",
        ),
        (
            Format::Xml,
            "<handoff><from>analyst</from><to>implementer</to><status>success|failure|blocked</status></handoff>",
            of_run(1),
            "bad_document: the document cannot be taken: its status `success|failure|blocked` is none of success, failure, blocked, needs_review, needs_clarification, skipped",
        ),
        (
            Format::Yaml,
            "handoff: {to: {agent: implementer}, context: {summary: s}}",
            of_run(1),
            "sender_unknown: the document does not say who sends it, and no agent holds the work; name the sending agent",
        ),
        (
            Format::Yaml,
            "acknowledgment: {received: true, understood: {task: Plan it}}",
            hints(),
            "run_unknown: the document does not say which run it is for; open: 1 (s1), 2 (s2)",
        ),
        (
            Format::Yaml,
            "acknowledgment: {received: false, understood: {task: Plan it}}",
            of_run(1),
            "bad_document: the document cannot be taken: received: must be true: reject what did not arrive",
        ),
    ] {
        assert_eq!(send(&world, format, text, &hints).await, expected, "{text}");
    }
    assert_eq!(world.shows("s1").await, "open; offered; HO-001 orchestrator→analyst pending");
}

#[tokio::test]
async fn a_document_without_an_id_means_the_only_run_that_its_sender_has_to_move() {
    for backend in Backend::all() {
        let world = issues(backend).await;
        let first = |n: u32| {
            let url = format!("https://github.com/owner/repo/issues/{n}");
            xml("issue-manager", "prep-agent", &format!("<issue_url>{url}</issue_url>"))
        };
        let error =
            "<status>failure</status><error><type>E</type><message>it broke</message></error>";
        let error = xml("prep-agent", "orchestrator", error);
        let nobody = send(&world, Format::Xml, &error, &hints()).await;
        assert_eq!(
            nobody,
            "run_unknown: the document does not say which run it is for; no run is open"
        );
        send(&world, Format::Xml, &first(1), &hints()).await;
        send(&world, Format::Xml, &first(2), &hints()).await;
        let several = send(&world, Format::Xml, &error, &hints()).await;
        let said = "run_unknown: the document does not say which run it is for; \
                    open: 1 (owner/repo#1), 2 (owner/repo#2)";
        assert_eq!(several, said);
        world.on("owner/repo#1", accept(1)).await.unwrap();
        let on = xml("prep-agent", "implementer-agent", "<issue_number>1</issue_number>");
        assert_eq!(send(&world, Format::Xml, &on, &hints()).await, "moved Some(2)");
        // The sender has one run left, and the number of another issue is none of it.
        let other = xml("prep-agent", "implementer-agent", "<issue_number>7</issue_number>");
        let told = send(&world, Format::Xml, &other, &hints()).await;
        assert!(told.starts_with("run_unknown: "), "{told}");
        world.on("owner/repo#2", accept(1)).await.unwrap();
        assert_eq!(send(&world, Format::Xml, &error, &hints()).await, "moved Some(2)");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn the_only_open_run_is_meant_where_neither_run_nor_sender_is_named() {
    let world = Backend::Memory.world().await;
    world.starts("s1").await.unwrap();
    let taken = "acknowledgment: {received: true, understood: {task: Plan it}, starting: true}";
    assert_eq!(send(&world, Format::Yaml, taken, &hints()).await, "taken up");
    let phase = r#"{"status":"complete","phase":"architecture","summary":"Planned it in 3 steps","plan":"p",
        "handoff":{"next_phase":"implementation","next_agent":"implementer","context":"c"}}"#;
    assert_eq!(send(&world, Format::Json, phase, &hints()).await, "moved Some(2)");
}

#[tokio::test]
async fn whoever_is_done_and_names_nobody_ends_its_step() {
    let world = Backend::Memory.world().await;
    let feature = "2025-12-30-dashboard";
    world.engine.add_story(&caller("ada"), &Story::named(key(feature))).await.unwrap();
    world.starts(feature).await.unwrap();
    world.on(feature, accept(1)).await.unwrap();
    let metadata = |status: &str| {
        format!(
            r#"{{"agent":"analyst","output_type":"plan","feature_directory":".out/{feature}",
                "status":"{status}","plan":"1. Look.","handoff":{{"next_agent":null,"context":"c"}}}}"#
        )
    };
    let note = send(&world, Format::Json, &metadata("in-progress"), &hints()).await;
    assert_eq!(note, "noted");
    assert_eq!(world.shows(feature).await, "open; held; HO-001 orchestrator→analyst accepted");
    let markdown =
        format!("# Plan\n\nLooked.\n\n## Metadata\n\n```json\n{}\n```\n", metadata("complete"));
    assert_eq!(send(&world, Format::Markdown, &markdown, &hints()).await, "moved Some(2)");
    assert_eq!(world.shows(feature).await, "open; offered; HO-002 analyst→implementer pending");
    // The text is the sender's, to the letter.
    let row = world.row(world.run(feature).await.run.id, 2).await;
    let texts = world.reads().texts_of(std::slice::from_ref(&row)).await.unwrap();
    assert_eq!(row.package.and_then(|it| texts.get(it).whole()), Some(markdown.as_str()));
}

#[tokio::test]
async fn an_acknowledgement_takes_the_handoff_up_or_asks_about_it() {
    for (text, state) in [
        (
            "acknowledgment: {received: true, understood: {task: Plan it}, starting: true}",
            "held; HO-001 orchestrator→analyst accepted",
        ),
        (
            "acknowledgment: {received: true, understood: partial, blockers: [What for?], action: request_clarification}",
            "offered; HO-001 orchestrator→analyst clarification, HO-002 analyst→human pending",
        ),
    ] {
        for by in ["run", "handoff"] {
            let world = Backend::Memory.world().await;
            world.starts("s1").await.unwrap();
            let hints = match by {
                "run" => of_run(1),
                _ => DocumentHints { handoff: Some(HandoffRef::Number(1)), ..hints() },
            };
            assert_eq!(send(&world, Format::Yaml, text, &hints).await, "taken up");
            assert_eq!(world.shows("s1").await, format!("open; {state}"));
        }
    }
}

#[tokio::test]
async fn the_holder_is_the_sender_where_nobody_is_named_and_the_same_key_is_the_same_answer() {
    let world = Backend::Memory.world().await;
    world.starts("s1").await.unwrap();
    world.on("s1", accept(1)).await.unwrap();
    let phase = r#"{"status":"complete","phase":"architecture","summary":"Planned it in 3 steps","plan":"p",
        "handoff":{"next_phase":"implementation","next_agent":"implementer","context":"c"}}"#;
    let sent = document(Format::Json, phase);
    let caller = keyed("k", 1);
    for _ in 0..2 {
        let told = world.engine.receive(&caller, sent.clone(), &of_run(1)).await.unwrap();
        let ReceiveResult::Moved(outcome) = told else { panic!("it moves") };
        assert_eq!(outcome.done.handoff.map(|it| it.0), Some(2));
    }
    assert_eq!(world.shows("s1").await, "open; offered; HO-002 analyst→implementer pending");
    let other = world.engine.receive(&keyed("k", 2), sent, &of_run(1)).await;
    assert!(matches!(other, Err(EngineError::KeyReused)));
}

#[tokio::test]
async fn an_error_goes_to_the_orchestrator_as_a_failure() {
    let world = issues(Backend::Memory).await;
    send(&world, Format::Xml, &xml("prep-agent", "implementer-agent", ISSUE), &hints()).await;
    world.on("owner/repo#123", accept(1)).await.unwrap();
    let error = "<status>failure</status><error><type>BuildError</type><message>TypeScript \
                 compilation failed</message><recoverable>true</recoverable></error>";
    let error = xml("implementer-agent", "orchestrator", error);
    assert_eq!(send(&world, Format::Xml, &error, &of_run(1)).await, "moved Some(2)");
    let row = world.row(world.run("owner/repo#123").await.run.id, 1).await;
    assert_eq!(row.outcome.map(|it| it.name()), Some("failure"));
    world.is_sound().await;
}

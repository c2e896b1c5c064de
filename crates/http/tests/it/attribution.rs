//! Who did what: the members that the workflow API promises, and history that later edits of an agent's
//! file do not rewrite.

use std::collections::BTreeSet;
use std::sync::Arc;

use baton_core::names::WorkflowName;
use baton_core::registry::Agents;
use baton_engine::{Catalog, Entry};
use baton_http::ServerLimits;
use baton_wire::{agent_file, builtin, workflow_file};
use serde_json::{Value, json};

use crate::client::{Heard, Listener};
use crate::world::*;

const ATTRIBUTION: [&str; 6] = [
    "agentId",
    "agentName",
    "agentDescription",
    "agentAvatarUrl",
    "capabilities",
    "currentStepResponsibility",
];
const HANDOFF: [&str; 6] =
    ["fromAgent", "toAgent", "timestamp", "stepName", "workflowStep", "reason"];

#[track_caller]
fn has_exactly(document: &Value, expected: &[&str]) {
    let members: BTreeSet<&str> =
        document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, expected.iter().copied().collect(), "{document}");
}

const DONE: &str = r#"{"outcome":"success","package":{"plan":["x"],"decisions":[
    {"id":"D-1","decision":"Use SQLite","rationale":"one file"}]},"profile":"lenient"}"#;

/// The analyst speaks, decides twice, and hands over to the implementer.
async fn worked() -> World {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let said = r#"{"text":"I have read it","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/messages", said).await.is(200);
    let decided = r#"{"decision":"Use files","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/decisions", decided).await.is(201);
    world.post("/api/v1/handoffs/1/complete", DONE).await.is(200);
    world
}

#[tokio::test]
async fn handoffs_have_the_members_of_the_workflow_api_and_no_others() {
    let world = worked().await;
    let trail = world.get("/api/v1/workflows/s-1/handoffs").await.is(200);
    let status = world.get("/api/v1/workflows/s-1/status").await.is(200);
    let items = trail["items"].as_array().unwrap();
    assert_eq!((items.len(), status["recentHandoffs"].as_array().unwrap().len()), (2, 2));
    for handoff in items.iter().chain(status["recentHandoffs"].as_array().unwrap()) {
        has_exactly(handoff, &HANDOFF);
        has_exactly(&handoff["fromAgent"], &ATTRIBUTION);
        has_exactly(&handoff["toAgent"], &ATTRIBUTION);
    }
    has_exactly(&status["currentAgent"], &ATTRIBUTION);
    let to = items.iter().find(|it| it["toAgent"]["agentId"] == "implementer").unwrap();
    assert_eq!(to["toAgent"]["currentStepResponsibility"], "Implement");
    assert_eq!(to["fromAgent"]["currentStepResponsibility"], "Analyze");
    // What else is known of them.
    let audit = world.get("/api/v1/audit?run=s-1").await.is(200);
    assert_eq!(texts(&audit, "label"), ["HO-001", "HO-002"]);
    assert_eq!(texts(&audit, "state"), ["completed", "pending"]);
}

#[tokio::test]
async fn an_agent_is_drawn_by_its_initials_in_its_colour() {
    let world = worked().await;
    let analyst = world.get("/api/v1/agents/analyst").await.is(200);
    assert_eq!(analyst["avatar"]["initials"], "A");
    assert_eq!(analyst["avatar"]["color"], analyst["color"]);
    assert_eq!(analyst["avatar"]["symbol"], "🔍");
    assert_eq!(
        (&analyst["avatar"]["url"], &analyst["agentAvatarUrl"]),
        (&Value::Null, &Value::Null)
    );
    let agents = world.get("/api/v1/agents").await.is(200);
    let orchestrator = &agents["items"][0];
    assert_eq!(
        (&orchestrator["color"], &orchestrator["avatar"]["initials"]),
        (&Value::Null, &json!("O"))
    );
    assert!(orchestrator["avatar"]["color"].is_string(), "{orchestrator}");
    let talk = world.get("/api/v1/runs/s-1/conversation").await.is(200);
    let said = talk["items"].as_array().unwrap().iter().find(|it| it["kind"] == "message").unwrap();
    assert_eq!(said["agent"]["avatar"], analyst["avatar"]);
}

/// The built-in files, with another title for the analyst.
fn renamed() -> Catalog {
    let entries = builtin::workflows().iter().map(|(_, text)| Entry {
        workflow: Arc::new(workflow_file::parse(text).unwrap()),
        text: (*text).to_owned(),
    });
    let agents = builtin::agents().iter().map(|(_, text)| {
        let mut agent = agent_file::parse(text).unwrap().agent;
        if agent.id.as_str() == "analyst" {
            "Renamed".clone_into(&mut agent.name);
        }
        agent
    });
    let agents: Vec<_> = agents.filter(|it| it.id.as_str() != "implementer").collect();
    let default = WorkflowName::parse("story-pipeline").unwrap();
    Catalog::new(entries, Agents::new(agents), Some(default))
}

#[tokio::test]
async fn a_renamed_agent_keeps_its_name_in_what_it_did_before() {
    let world = worked().await;
    let world = world_with(world.stop().await, ServerLimits::default(), renamed()).await;
    world.post("/api/v1/handoffs/2/reject", r#"{"reason":"unclear"}"#).await.is(200);
    let said = r#"{"text":"I begin again","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/messages", said).await.is(200);
    let decided = r#"{"decision":"Use a server","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/decisions", decided).await.is(201);
    let audit = world.get("/api/v1/audit?run=s-1").await.is(200);
    let name = |label: &str, side: &str| {
        let items = audit["items"].as_array().unwrap();
        items.iter().find(|it| it["label"] == label).unwrap()[format!("{side}Name")].clone()
    };
    assert_eq!(
        (name("HO-001", "toAgent"), name("HO-002", "fromAgent")),
        (json!("Analyst"), json!("Analyst"))
    );
    assert_eq!(name("HO-003", "toAgent"), "Renamed");
    // No file describes it any more; the run knows what it was.
    assert_eq!(
        (name("HO-002", "toAgent"), name("HO-003", "fromAgent")),
        (json!("Implementer"), json!("Implementer"))
    );
    let trail = world.get("/api/v1/workflows/s-1/handoffs").await.is(200);
    let mut receivers: Vec<&str> = trail["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["toAgent"]["agentName"].as_str().unwrap())
        .collect();
    // All of them were made at one time.
    receivers.sort_unstable();
    assert_eq!(receivers, ["Analyst", "Implementer", "Renamed"]);
    let talk = world.get("/api/v1/runs/s-1/conversation").await.is(200);
    let speakers = talk["items"].as_array().unwrap().iter().filter(|it| it["kind"] == "message");
    let speakers: Vec<&Value> = speakers.map(|it| &it["agent"]["agentName"]).collect();
    assert_eq!(speakers, ["Analyst", "Renamed"]);
    let decisions = world.get("/api/v1/runs/s-1/decisions?all=true").await.is(200);
    let deciders = decisions["items"].as_array().unwrap().iter();
    let deciders: Vec<(&Value, &Value)> =
        deciders.map(|it| (&it["decision"], &it["decidedBy"]["agentName"])).collect();
    let expected =
        [("Use files", "Analyst"), ("Use SQLite", "Analyst"), ("Use a server", "Renamed")];
    for (decision, name) in expected {
        assert!(deciders.contains(&(&json!(decision), &json!(name))), "{deciders:?}");
    }
    let attributions = texts(&decisions, "attribution").join("\n");
    assert!(attributions.contains("Decided by Analyst at"), "{attributions}");
    assert!(attributions.contains("Decided by Renamed at"), "{attributions}");
    let page = world.get("/runs/1").await.text;
    assert!(page.contains("<bdi>Analyst</bdi>") && page.contains("<bdi>Renamed</bdi>"), "{page}");
    let shown = world.get("/api/v1/handoffs/1").await.is(200);
    assert_eq!(shown["toName"], "Analyst");
}

#[tokio::test]
async fn a_message_after_an_edit_does_not_rewrite_the_handoff_before_it() {
    let world = worked().await;
    let world = world_with(world.stop().await, ServerLimits::default(), renamed()).await;
    let said = r#"{"text":"I look again","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/messages", said).await.is(200);
    let audit = world.get("/api/v1/audit?run=s-1").await.is(200);
    assert_eq!(texts(&audit, "toAgentName"), ["Analyst", "Implementer"]);
    assert_eq!(texts(&audit, "fromAgentName")[1], "Analyst");
    let trail = world.get("/api/v1/workflows/s-1/handoffs").await.is(200);
    let names = trail["items"].to_string();
    assert!(!names.contains("Renamed"), "{names}");
    let talk = world.get("/api/v1/runs/s-1/conversation").await.is(200);
    let said = talk["items"].as_array().unwrap().iter().filter(|it| it["kind"] == "message");
    let speakers: Vec<&Value> = said.map(|it| &it["agent"]["agentName"]).collect();
    assert_eq!(speakers, ["Analyst", "Renamed"]);
}

/// What live events say, from the beginning to the analyst's second decision.
async fn told(world: &World) -> Vec<Heard> {
    let is_last = |it: &Heard| {
        let inner = it.data.get("data").unwrap_or(&it.data);
        inner["decision"] == 2
    };
    let mut told = Vec::new();
    for path in ["/api/events", "/api/v1/events"] {
        let mut listener = Listener::from_the_beginning(world.client.address, path).await;
        told.extend(listener.until(is_last).await);
    }
    told
}

#[tokio::test]
async fn an_event_that_is_sent_again_has_the_names_of_its_time() {
    let world = worked().await;
    let first = told(&world).await;
    let lines: Vec<&Value> = first.iter().map(|it| &it.data["attribution"]).collect();
    assert!(lines.contains(&&json!("Decided by Analyst at 2025-06-15T15:06:40Z")), "{lines:?}");
    let world = world_with(world.stop().await, ServerLimits::default(), renamed()).await;
    assert_eq!(told(&world).await, first, "after an edit");
    let said = r#"{"text":"I look again","agent":"analyst"}"#;
    world.post("/api/v1/runs/s-1/messages", said).await.is(200);
    assert_eq!(told(&world).await, first, "after the run has recorded the new name");
}

#[tokio::test]
async fn an_agent_that_no_file_described_then_stays_unknown() {
    let place = world().await.stop().await;
    let world = world_with(place, ServerLimits::default(), renamed()).await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/complete", DONE).await.is(200);
    let names = async |world: &World| {
        let audit = world.get("/api/v1/audit?run=s-1").await.is(200);
        let talk = world.get("/api/v1/runs/s-1/conversation").await.is(200);
        (texts(&audit, "toAgentName"), texts(&talk, "line"))
    };
    let before = names(&world).await;
    assert_eq!(before.0, ["Renamed", "Unknown Agent"]);
    let world = world_at(world.stop().await, ServerLimits::default()).await;
    assert_eq!(names(&world).await, before, "although a file describes it now");
}

#[tokio::test]
async fn the_agent_that_was_asked_is_shown_as_it_was_then() {
    let world = worked().await;
    let asked = r#"{"agent":"implementer","to":"analyst","question":"Which database?"}"#;
    world.post("/api/v1/runs/s-1/questions", asked).await.is(201);
    let world = world_with(world.stop().await, ServerLimits::default(), renamed()).await;
    let questions = world.get("/api/v1/runs/s-1/questions").await.is(200);
    let question = &questions["items"][0];
    assert_eq!(question["to"]["agentName"], "Analyst");
    assert_eq!(question["from"]["agentName"], "Implementer");
}

#[tokio::test]
async fn who_decides_or_speaks_has_the_step_that_it_had_then() {
    let world = worked().await;
    let decisions = world.get("/api/v1/runs/s-1/decisions").await.is(200);
    for it in decisions["items"].as_array().unwrap() {
        assert_eq!(it["decidedBy"]["currentStepResponsibility"], "Analyze", "{it}");
    }
    let page = world.get("/runs/1").await.text;
    let (_, talk) = page.split_once("class=\"messages\"").unwrap();
    let n_steps = talk.matches("responsible for Analyze").count();
    assert!(n_steps >= 3, "a message, a decision and a handoff: {talk}");
}

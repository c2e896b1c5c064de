//! What happens.

use std::process::Stdio;

use cucumber::{given, when};
use serde_json::{Value, json};

use super::{FeatureWorld, STORY};

#[given(expr = "{string} hands off to {string}")]
#[when(expr = "{string} hands off to {string}")]
fn hand_off(world: &mut FeatureWorld, from: String, to: String) {
    world.found = world.hand_off(STORY, &from, &to, json!({}));
}

#[when(expr = "{string} hands off to {string} and decides {string} because {string}")]
fn hand_off_deciding(
    world: &mut FeatureWorld,
    from: String,
    to: String,
    decision: String,
    why: String,
) {
    let decisions = json!([{"id": "ARCH-1", "decision": decision, "rationale": why}]);
    world.hand_off(STORY, &from, &to, json!({"decisions": decisions}));
    let time = world.trail().last().unwrap()["timestamp"].clone();
    world.found = json!({"at": time});
}

#[when(expr = "{string} decides {string} because {string}")]
fn decide(world: &mut FeatureWorld, agent: String, decision: String, why: String) {
    let body = json!({"decision": decision, "rationale": why, "agent": agent});
    let made = world.post(&format!("/api/v1/runs/{STORY}/decisions"), &body);
    let events = world.get(&format!("/api/v1/runs/{STORY}/events?limit=500"));
    let recorded = events["items"].as_array().unwrap().iter().rev();
    let at =
        recorded.into_iter().find(|it| it["name"] == "decision.recorded").unwrap()["at"].clone();
    world.found = json!({"at": at, "made": made});
}

#[when(expr = "I decide {string} because {string}")]
fn decide_myself(world: &mut FeatureWorld, decision: String, why: String) {
    let body = json!({"decision": decision, "rationale": why});
    world.post(&format!("/api/v1/runs/{STORY}/decisions"), &body);
}

#[when(expr = "{string} says {string}")]
fn say(world: &mut FeatureWorld, agent: String, text: String) {
    world.post(&format!("/api/v1/runs/{STORY}/messages"), &json!({"text": text, "agent": agent}));
}

#[when(expr = "I say {string}")]
fn say_myself(world: &mut FeatureWorld, text: String) {
    world.post(&format!("/api/v1/runs/{STORY}/messages"), &json!({"text": text}));
}

#[when("I query the handoffs of the workflow")]
fn query(world: &mut FeatureWorld) {
    world.found = world.get(&format!("/api/v1/workflows/{STORY}/handoffs"));
}

#[when(expr = "I query the handoffs of the workflow with {string}")]
fn query_with(world: &mut FeatureWorld, query: String) {
    world.found = world.get(&format!("/api/v1/workflows/{STORY}/handoffs?{query}"));
}

#[when("my connection is lost")]
fn lose_connection(world: &mut FeatureWorld) {
    world.last_event = world.listener().last.clone();
    assert!(world.last_event.is_some(), "the snapshot has an id");
    world.listener = None;
}

#[when("I connect again")]
fn connect_again(world: &mut FeatureWorld) {
    world.listen();
}

#[when("the server is killed and started again")]
fn restart(world: &mut FeatureWorld) {
    lose_connection(world);
    world.server.take().unwrap().kill();
    world.serve();
}

#[when("the work is handed from step to step without a pause")]
fn hand_all_on(world: &mut FeatureWorld) {
    let agents = ["analyst", "implementer"];
    for at in 0..world.n_steps - 1 {
        world.hand_off(STORY, agents[at % 2], agents[(at + 1) % 2], json!({}));
    }
}

#[when("the first handoff of each of them is made at the same time")]
fn hand_off_at_once(world: &mut FeatureWorld) {
    let url = format!("{}/api/v1/handoffs", world.server().url);
    let clients: Vec<_> = (1..=world.n_steps)
        .map(|number| {
            let body = json!({"run": format!("story-{number}"), "fromAgent": "product-manager",
                "toAgent": "architect", "profile": "lenient",
                "package": {"summary": "sessions", "confidence": 0.9}});
            let mut curl = std::process::Command::new("curl");
            curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}"]);
            curl.args(["-H", "content-type: application/json", "-d", &body.to_string(), &url]);
            curl.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for client in clients {
        let output = client.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "201");
    }
}

#[when("the run is handed through all its steps")]
fn hand_through(world: &mut FeatureWorld) {
    for (from, to) in [
        ("product-manager", "architect"),
        ("architect", "developer"),
        ("developer", "reviewer"),
        ("reviewer", "orchestrator"),
    ] {
        let done: Value = world.hand_off(STORY, from, to, json!({}));
        assert_eq!(done["success"], true, "{done}");
    }
}

//! A gate holds on every API: what was refused leaves the run where it was.

use serde_json::json;

use crate::world::*;

const BUILT: &str = r#"{"context":{"summary":"Built it, 3 files"}}"#;

/// A run of `gated-project` whose first handoff was cancelled: its baton lies loose.
async fn loose() -> World {
    let world = world().await;
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    let start = r#"{"story":"s-1","workflow":"gated-project"}"#;
    world.post("/api/v1/runs", start).await.is(201);
    world.post("/api/v1/handoffs/1/cancel", "{}").await.is(200);
    world
}

#[tokio::test]
async fn a_loose_baton_is_not_taken_up_behind_a_gate_on_any_api() {
    let world = loose().await;
    let seed = format!(
        r#"{{"action":"create","storyId":"s-1","fromAgent":"implementation","toAgent":"orchestrator","payload":{BUILT}}}"#
    );
    let refused = world.client.send("POST", "/api/handoffs", &[], &seed).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("Budget approved"), "{}", refused.text);
    for profile in ["lenient", "strict"] {
        let native = format!(
            r#"{{"story":"s-1","newStory":true,"fromAgent":"implementation","toAgent":"orchestrator","package":{BUILT},"profile":"{profile}"}}"#
        );
        let refused = world.post("/api/v1/handoffs", &native).await;
        let code = if profile == "lenient" { "behind_gate" } else { "not_holder" };
        refused.refuses(409, code);
        let forward =
            native.replace("implementation", "architecture").replace("orchestrator", "estimation");
        world.post("/api/v1/handoffs", &forward).await.refuses(409, code);
    }
    let document = r#"{"handoff":{"from":"implementation","to":"orchestrator","story_id":"s-1","summary":"Built it, 3 files"}}"#;
    let path = "/api/v1/documents?profile=lenient";
    world.post(path, document).await.refuses(409, "behind_gate");
    let run = world.get("/api/v1/runs/s-1").await.is(200);
    assert_eq!(
        (&run["status"], &run["baton"], &run["visited"]),
        (&json!("open"), &json!("loose"), &json!([]))
    );
}

#[tokio::test]
async fn a_run_is_not_begun_behind_a_gate_on_the_pipeline_api() {
    let world = world().await;
    let seed = format!(
        r#"{{"action":"create","storyId":"new","workflow":"gated-project","fromAgent":"implementation","toAgent":"orchestrator","payload":{BUILT}}}"#
    );
    let refused = world.client.send("POST", "/api/handoffs", &[], &seed).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert_eq!(world.get("/api/v1/runs").await.is(200)["items"], json!([]));
}

#[tokio::test]
async fn a_start_at_a_step_is_recorded_as_a_waiver() {
    let world = loose().await;
    let at = r#"{"story":"s-1","at":"implementation"}"#;
    world.post("/api/v1/runs", at).await.refuses(400, "missing_field");
    let no_story = r#"{"at":"implementation","reason":"agreed"}"#;
    world.post("/api/v1/runs", no_story).await.refuses(400, "missing_field");
    let nowhere = r#"{"story":"s-1","at":"nowhere","reason":"agreed"}"#;
    world.post("/api/v1/runs", nowhere).await.refuses(422, "no_such_step");
    let at = r#"{"story":"s-1","at":"implementation","reason":"agreed by mail"}"#;
    let told = world.post("/api/v1/runs", at).await.is(201);
    assert_eq!(told["handoff"]["toAgent"], "implementation");
    let events = world.events("s-1").await;
    assert!(texts(&events, "name").contains(&"gate.waived".to_owned()), "{events:?}");
}

#[tokio::test]
async fn a_run_lists_the_gates_that_it_has_passed_with_who_and_when() {
    let world = world().await;
    let done =
        r#"{"outcome":"success","package":{"summary":"x","deliverable":"y"},"profile":"lenient"}"#;
    world.started("s-1", GATED).await;
    let gates = async || world.get("/api/v1/runs/s-1").await.is(200)["passedGates"].clone();
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/complete", done).await.is(200);
    assert_eq!(gates().await, json!(null), "it is open, not passed");
    world.clock.advance(jiff::SignedDuration::from_mins(1));
    let answer = "/api/v1/inbox/s-1%2FHO-002/answer";
    world.post_with(answer, &[("baton-as", "ada")], r#"{"answer":"approve"}"#).await.is(200);
    let approved = json!({
        "name": "Specification validated", "fromStep": "specification",
        "toStep": "architecture", "how": "answered", "by": "ada", "at": "2025-06-15T15:07:40Z",
    });
    assert_eq!(gates().await, json!([approved]));

    world.post("/api/v1/handoffs/s-1%2FHO-003/cancel", "{}").await.is(200);
    let at = r#"{"story":"s-1","at":"implementation","reason":"the budget was approved by mail"}"#;
    let started = world.post_with("/api/v1/runs", &[("baton-as", "bea")], at).await;
    assert!(matches!(started.status, 200 | 201), "{}", started.text);
    let listed = gates().await;
    assert_eq!(listed[0], approved);
    let waived = ["name", "how", "by"].map(|it| listed[1][it].as_str().unwrap().to_owned());
    assert_eq!(waived, ["Budget approved", "waived", "bea"]);

    // Work that goes back before a gate has to pass it again.
    let back = r#"{"step":"specification","reason":"it has changed"}"#;
    world.post("/api/v1/runs/s-1/goto", back).await.is(200);
    let back = world.get("/api/v1/runs/s-1").await.is(200)["currentHandoff"].clone();
    let accept = format!("/api/v1/handoffs/s-1%2F{}/accept", back.as_str().unwrap());
    world.post(&accept, "{}").await.is(200);
    assert_eq!(gates().await, json!(null));
}

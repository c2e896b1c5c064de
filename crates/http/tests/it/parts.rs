//! A part of held work: delegated, given back, asked of a person; and who is alive.

use jiff::SignedDuration;
use serde_json::json;

use crate::world::*;

const DONE: &str = r#"{"outcome":"success","package":{"summary":"x","deliverable":"y"},
    "profile":"lenient"}"#;

/// A run of the gated project whose architecture is held.
async fn designing() -> World {
    let world = world().await;
    world.started("s-1", GATED).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let told = world.post("/api/v1/handoffs/1/complete", DONE).await.is(200);
    let gate = told["gate"]["number"].as_u64().unwrap_or_else(|| panic!("{told}"));
    let approve = format!("/api/v1/inbox/{gate}/answer");
    let told = world.post(&approve, r#"{"answer":"approve"}"#).await.is(200);
    assert_eq!(told["run"]["currentAgent"], "architecture", "{told}");
    world.post("/api/v1/handoffs/s-1%2FHO-003/accept", "{}").await.is(200);
    world
}

#[tokio::test]
async fn a_part_is_delegated_and_comes_back() {
    let world = designing().await;
    let delegate = "/api/v1/handoffs/1%2FHO-003/delegate";
    let part = r#"{"toAgent":"security-check","package":{"summary":"x","deliverable":"y"},"profile":"lenient"}"#;
    let made = world.post(delegate, part).await;
    let told = made.is(201);
    assert_eq!(
        (&told["handoff"]["kind"], &told["handoff"]["toAgent"]),
        (&json!("delegation"), &json!("security-check"))
    );
    assert!(made.header("location").is_some());
    world.post(delegate, part).await.refuses(409, "duplicate");
    let complete = "/api/v1/handoffs/1%2FHO-003/complete";
    world.post(complete, DONE).await.refuses(409, "frame_open");
    let give_back = "/api/v1/handoffs/1%2FHO-004/return";
    world.post("/api/v1/handoffs/1%2FHO-004/accept", "{}").await.is(200);
    let told = world.post(give_back, DONE).await.is(201);
    assert_eq!(
        (&told["handoff"]["kind"], &told["handoff"]["toAgent"]),
        (&json!("return"), &json!("architecture"))
    );
    let unknown = r#"{"toAgent":"nobody"}"#;
    world.post(delegate, unknown).await.refuses(400, "unknown_agent");
}

#[tokio::test]
async fn nobody_gives_back_what_nobody_waits_for() {
    let world = designing().await;
    let path = "/api/v1/handoffs/1%2FHO-003/return";
    world.post(path, r#"{"outcome":"success"}"#).await.refuses(409, "not_in_frame");
}

#[tokio::test]
async fn a_person_is_asked_and_the_answer_comes_back() {
    let world = designing().await;
    let path = "/api/v1/handoffs/1%2FHO-003/escalate";
    let told = world
        .post(
            path,
            r#"{"reason":"cloud or not?","package":{"deliverable":"y"},"profile":"lenient"}"#,
        )
        .await
        .is(201);
    assert_eq!(told["handoff"]["toAgent"], "human");
    let number = told["handoff"]["number"].as_u64().unwrap();
    let answer = format!("/api/v1/inbox/{number}/answer");
    world.post(&answer, r#"{"answer":"answer"}"#).await.refuses(422, "comment_required");
    let told = world.post(&answer, r#"{"answer":"answer","comment":"not"}"#).await.is(200);
    assert_eq!(told["run"]["currentAgent"], "architecture");
    let shown = world.get(&format!("/api/v1/handoffs/{number}")).await.is(200);
    assert_eq!(
        (&shown["question"]["answer"], &shown["question"]["comment"]),
        (&json!("answer"), &json!("not"))
    );
}

#[tokio::test]
async fn a_holder_says_that_it_is_alive() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let alive = "/api/v1/handoffs/1/heartbeat";
    world.post("/api/v1/handoffs/1/accept", r#"{"leaseSeconds":20}"#).await.is(200);
    world.clock.advance(SignedDuration::from_secs(10));
    let told = world.post(alive, r#"{"fence":1}"#).await.is(200);
    assert_eq!(told, json!({"leaseUntil": "2025-06-15T15:07:10Z"}));
    world.post(alive, r#"{"fence":7}"#).await.refuses(409, "stale_fence");
    world.post(alive, "{}").await.refuses(400, "missing_field");
    world.post(alive, r#"{"fence":-1}"#).await.refuses(400, "wrong_type");
    world
        .post("/api/v1/handoffs/9/heartbeat", r#"{"fence":1}"#)
        .await
        .refuses(404, "no_such_handoff");
}

#[tokio::test]
async fn a_specialists_rejected_result_is_not_counted_as_the_steps_own() {
    let world = designing().await;
    let part = r#"{"toAgent":"security-check","package":{"summary":"x","deliverable":"y"},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1%2FHO-003/delegate", part).await.is(201);
    world.post("/api/v1/handoffs/1%2FHO-004/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1%2FHO-004/return", DONE).await.is(201);
    let no = r#"{"reason":"too thin"}"#;
    world.post("/api/v1/handoffs/1%2FHO-005/reject", no).await.is(200);
    let page = world.get("/runs/1").await.text;
    assert!(!page.contains("class=\"returned\""), "{page}");
}

#[tokio::test]
async fn what_a_rejected_part_decided_is_not_decided_however_often_it_is_handed_around() {
    let world = designing().await;
    let decisions = async || {
        let decided = world.get("/api/v1/runs/1/decisions").await.is(200);
        let items = decided["items"].as_array().unwrap().clone();
        let is_agents = |it: &&serde_json::Value| it["decision"] == "Use bcrypt";
        items.iter().filter(is_agents).count()
    };
    let part = r#"{"toAgent":"security-check","package":{"summary":"x","deliverable":"y"},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1%2FHO-003/delegate", part).await.is(201);
    world.post("/api/v1/handoffs/1%2FHO-004/accept", "{}").await.is(200);
    let done = r#"{"outcome":"success","package":{"summary":"x","deliverable":"y",
        "decisions":[{"id":"SEC-1","decision":"Use bcrypt"}]},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1%2FHO-004/return", done).await.is(201);
    assert_eq!(decisions().await, 1);
    // The caller refuses it: the specialist has its own package back, to do it again.
    let reject = r#"{"reason":"not for this data"}"#;
    world.post("/api/v1/handoffs/1%2FHO-005/reject", reject).await.is(200);
    assert_eq!(decisions().await, 0);
    world.post("/api/v1/handoffs/1%2FHO-006/accept", "{}").await.is(200);
    assert_eq!(decisions().await, 0);
    // What it brings then is another package, and counts.
    world.post("/api/v1/handoffs/1%2FHO-006/return", done).await.is(201);
    assert_eq!(decisions().await, 1);
}

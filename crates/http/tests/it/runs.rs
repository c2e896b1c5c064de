//! Runs: started, shown, steered.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn a_run_is_started_and_found_by_every_name() {
    let world = world().await;
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    let started = world.post("/api/v1/runs", r#"{"story":"s-1"}"#).await;
    let told = started.is(201);
    assert_eq!(told["handoff"]["label"], "HO-001");
    assert_eq!(told["handoff"]["toAgent"], "analyst");
    assert_eq!(told["handoff"]["package"]["story_id"], "s-1");
    assert_eq!(told["run"]["baton"], "offered");
    let id = told["run"]["id"].as_str().unwrap();
    assert_eq!(started.header("location"), Some(format!("/api/v1/runs/{id}").as_str()));
    for name in [id, "1", "s-1"] {
        let run = world.get(&format!("/api/v1/runs/{name}")).await;
        assert_eq!(run.is(200), told["run"]);
        let version = told["run"]["version"].as_u64().unwrap();
        assert_eq!(run.header("etag"), Some(format!("\"{version}\"").as_str()));
    }
    world.get("/api/v1/runs/9").await.refuses(404, "no_such_run");
    world.post("/api/v1/runs", r#"{"story":"s-1"}"#).await.refuses(409, "already_open");
    world.post("/api/v1/runs", r#"{"story":"s-2"}"#).await.refuses(404, "no_such_story");
    let unknown = world.post("/api/v1/runs", r#"{"story":"s-1","workflow":"none"}"#).await;
    assert_eq!(unknown.status, 409, "the story comes first: {}", unknown.text);
}

#[tokio::test]
async fn the_next_story_is_the_one_that_was_next_when_a_key_was_first_sent() {
    let world = world().await;
    let key = [("idempotency-key", "k-1")];
    world.post("/api/v1/runs", "{}").await.refuses(409, "nothing_ready");
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    let first = world.post_with("/api/v1/runs", &key, "{}").await.is(201);
    // Nothing is ready any more, and still it is the same request.
    let again = world.post_with("/api/v1/runs", &key, "{}").await.is(201);
    assert_eq!((&first["isRepeat"], &again["isRepeat"]), (&json!(false), &json!(true)));
    assert_eq!(first["run"]["id"], again["run"]["id"]);
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let why = r#"{"reason":"lunch"}"#;
    let paused = world.post("/api/v1/runs/1/pause", why).await.is(200);
    assert_eq!(paused["run"]["status"], "paused");
    world.post("/api/v1/runs/1/pause", why).await.refuses(409, "paused");
    world.post("/api/v1/handoffs/1/accept", "{}").await.refuses(409, "paused");
    // Nothing has to be said, and so a body may be left out.
    let resumed = world.client.send("POST", "/api/v1/runs/s-1/resume", &[], "").await.is(200);
    assert_eq!(resumed["run"]["status"], "open");
    world.post("/api/v1/runs/1/resume", "{}").await.refuses(409, "not_paused");
    let cancelled = world.post("/api/v1/runs/1/cancel", "{}").await.is(200);
    assert_eq!(cancelled["cancelled"], json!(["HO-001"]));
    world.post("/api/v1/runs/1/cancel", "{}").await.refuses(409, "run_finished");
}

#[tokio::test]
async fn a_run_is_sent_back_and_a_step_is_skipped() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let why = r#"{"reason":"no need"}"#;
    world.post("/api/v1/runs/1/skip", why).await.refuses(422, "not_optional");
    world.post("/api/v1/runs/1/skip", "{}").await.refuses(400, "missing_field");
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let plan = r#"{"outcome":"success","package":{"plan":["do it"]},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1/complete", plan).await.is(200);
    let back = r#"{"step":"analyze","reason":"the story has changed"}"#;
    let told = world.post("/api/v1/runs/1/goto", back).await.is(200);
    assert_eq!(told["handoff"]["toAgent"], "analyst");
    let nowhere = r#"{"step":"document","reason":"hurry"}"#;
    world.post("/api/v1/runs/1/goto", nowhere).await.refuses(422, "not_visited");
}

#[tokio::test]
async fn a_clean_up_cancels_what_is_pending() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let told = world.post("/api/v1/runs/1/cleanup", "{}").await.is(200);
    assert_eq!(told["cancelled"], json!(["HO-001"]));
    assert_eq!(told["run"]["baton"], "loose");
    world.post("/api/v1/runs/2/cleanup", "{}").await.refuses(404, "no_such_run");
    // On a loose baton, start hands in again.
    let again = world.post("/api/v1/runs", r#"{"story":"s-1"}"#).await.is(201);
    assert_eq!(again["handoff"]["label"], "HO-002");
}

#[tokio::test]
async fn the_log_of_a_run_is_read_page_by_page() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.started("s-2", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let all = world.events("s-1").await;
    let names = texts(&all, "name");
    assert_eq!(names[..2], ["run.started", "handoff.created"]);
    assert!(names.contains(&"handoff.accepted".to_owned()), "{names:?}");
    assert_eq!(all["items"][0]["body"]["type"], "run.started");
    let mut seen = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = world.get(&format!("/api/v1/runs/1/events?limit=1&after={after}")).await.is(200);
        seen.extend(texts(&page, "name"));
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(seen, names);
    world.get("/api/v1/runs/9/events").await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn decisions_are_told_with_who_made_them() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let done = r#"{"outcome":"success","package":{"plan":["x"],"decisions":[
        {"id":"D-1","decision":"JWT","rationale":"stateless"},"SQLite"]},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1/complete", done).await.is(200);
    let decided = world.get("/api/v1/runs/1/decisions").await.is(200);
    assert_eq!(texts(&decided, "decision"), ["JWT", "SQLite"]);
    let first = &decided["items"][0];
    assert_eq!(first["attribution"], "Decided by Analyst at 2025-06-15T15:06:40Z");
    assert_eq!((&first["rationale"], &first["handoff"]), (&json!("stateless"), &json!("HO-002")));
    let page = world.get("/api/v1/runs/1/decisions?limit=1&after=1").await.is(200);
    assert_eq!((texts(&page, "decision"), &page["next"]), (vec!["SQLite".into()], &json!(null)));
    // What was rejected is not decided.
    world.post("/api/v1/handoffs/2/reject", r#"{"reason":"unclear"}"#).await.is(200);
    let decided = world.get("/api/v1/runs/1/decisions").await.is(200);
    assert_eq!(texts(&decided, "decision"), [""; 0]);
    world.get("/api/v1/runs/9/decisions").await.refuses(404, "no_such_run");
}

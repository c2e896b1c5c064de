//! Sending twice, sending too late, and only rehearsing.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn the_same_key_gets_the_same_answer_and_takes_effect_once() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let key = [("idempotency-key", "k-1")];
    let accept = async |path: &str, body: &str| world.post_with(path, &key, body).await;
    let first = accept("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let events = world.events("1").await;
    let again = accept("/api/v1/handoffs/1/accept", "{}").await.is(200);
    assert_eq!((&first["isRepeat"], &again["isRepeat"]), (&json!(false), &json!(true)));
    assert_eq!((&first["handoff"], &first["fence"]), (&again["handoff"], &again["fence"]));
    assert_eq!(world.events("1").await, events);

    // Another body, or another handoff, is another request.
    let other = accept("/api/v1/handoffs/1/accept", r#"{"agent":"analyst"}"#).await;
    other.refuses(422, "key_reused");
    world.started("s-2", PIPELINE).await;
    accept("/api/v1/handoffs/2/accept", "{}").await.refuses(422, "key_reused");
    // The same key on another route is another key.
    accept("/api/v1/handoffs/1/release", "{}").await.is(200);
    // It is the answer that was given then, to the byte but for `isRepeat`, whatever happened since.
    let late = accept("/api/v1/handoffs/1/accept", "{}").await;
    let tag = late.header("etag").map(str::to_owned);
    let mut late = late.is(200);
    assert_eq!((&late["isRepeat"], &late["run"]["baton"]), (&json!(true), &json!("held")));
    late["isRepeat"] = json!(false);
    assert_eq!(late, first);
    assert_eq!(tag, Some(format!("\"{}\"", first["run"]["version"])));
}

#[tokio::test]
async fn one_request_with_a_key_may_be_several_commands() {
    let world = world().await;
    for story in ["s-1", "s-2", "s-3"] {
        world.started(story, PIPELINE).await;
    }
    let statuses = async || {
        let runs = world.get("/api/v1/runs").await.is(200);
        texts(&runs, "status")
    };
    for (action, status) in [("stop", "paused"), ("continue", "open")] {
        for _ in 0..2 {
            let body = json!({ "action": action }).to_string();
            let key = [("idempotency-key", action)];
            world.post_with("/api/run", &key, &body).await.is(200);
            assert_eq!(statuses().await, [status; 3], "{action}");
        }
    }
}

#[tokio::test]
async fn a_parameter_that_the_pipeline_api_would_not_look_at_is_refused() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for (path, body) in [
        ("/api/handoffs", r#"{"action":"accept","handoffId":1}"#),
        ("/api/run", r#"{"action":"stop"}"#),
        ("/api/signal", r#"{"storyId":"s-1","action":"pass"}"#),
    ] {
        let refused = world.post(&format!("{path}?dryRun=true"), body).await;
        refused.refuses(400, "unknown_field");
    }
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!((&run["status"], &run["baton"]), (&json!("open"), &json!("offered")));
}

#[tokio::test]
async fn nobody_calls_in_the_name_of_a_part_of_baton() {
    let world = world().await;
    let forged = [("baton-as", "baton:sweeper")];
    world.client.send("GET", "/api/v1/runs", &forged, "").await.refuses(400, "bad_name");
    world.post_with("/api/run", &forged, r#"{"action":"stop"}"#).await.refuses(400, "bad_name");
}

#[tokio::test]
async fn a_key_has_to_be_a_key() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for key in [" ", &"x".repeat(201)] {
        let headers = [("idempotency-key", key)];
        let reply = world.post_with("/api/v1/handoffs/1/accept", &headers, "{}").await;
        reply.refuses(400, "bad_key");
    }
}

#[tokio::test]
async fn a_run_that_has_moved_is_left_alone() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let run = world.get("/api/v1/runs/1").await;
    let seen = run.header("etag").unwrap().to_owned();
    let accepted = world.post("/api/v1/handoffs/1/accept", "{}").await;
    let now = accepted.header("etag").unwrap().to_owned();
    assert_ne!(seen, now);

    let late = world.post_with("/api/v1/runs/1/cancel", &[("if-match", &seen)], "{}").await;
    let problem = late.refuses(412, "outdated");
    let version = |etag: &str| etag.trim_matches('"').parse::<u64>().unwrap();
    assert_eq!(problem["expectedVersion"], version(&seen));
    assert_eq!(problem["actualVersion"], version(&now));
    assert_eq!(world.get("/api/v1/runs/1").await.is(200)["status"], "open");

    for (path, body) in [
        ("/api/v1/handoffs/1/release", "{}"),
        ("/api/v1/handoffs/1/escalate", "{}"),
        ("/api/v1/handoffs", r#"{"run":"1","fromAgent":"analyst","toAgent":"implementer"}"#),
    ] {
        let late = world.post_with(path, &[("if-match", &seen)], body).await;
        late.refuses(412, "outdated");
    }
    let any = world.post_with("/api/v1/runs/1/pause", &[("if-match", "*")], "{}").await;
    let now = any.header("etag").unwrap().to_owned();
    any.is(200);
    world.post_with("/api/v1/runs/1/resume", &[("if-match", &now)], "{}").await.is(200);
}

#[tokio::test]
async fn a_run_that_is_not_there_yet_is_at_no_version() {
    let world = world().await;
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    let start = r#"{"story":"s-1"}"#;
    let late = world.post_with("/api/v1/runs", &[("if-match", "\"3\"")], start).await;
    late.refuses(412, "outdated");
}

#[tokio::test]
async fn what_took_effect_is_told_again_even_if_the_run_has_moved() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let seen = world.get("/api/v1/runs/1").await.header("etag").unwrap().to_owned();
    let headers = [("if-match", seen.as_str()), ("idempotency-key", "k-1")];
    world.post_with("/api/v1/runs/1/pause", &headers, "{}").await.is(200);
    let again = world.post_with("/api/v1/runs/1/pause", &headers, "{}").await.is(200);
    assert_eq!(again["isRepeat"], true);
}

#[tokio::test]
async fn a_rehearsal_changes_nothing() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let run = world.get("/api/v1/runs/1").await.is(200);
    let events = world.events("1").await;
    let version = run["version"].as_u64().unwrap();
    for (path, body) in [
        ("/api/v1/runs/1/pause", "{}"),
        ("/api/v1/runs/1/cancel", "{}"),
        ("/api/v1/runs/1/cleanup", "{}"),
        ("/api/v1/handoffs/1/reject", r#"{"reason":"x"}"#),
        (
            "/api/v1/handoffs/1/complete",
            r#"{"outcome":"success","package":{"plan":1},"profile":"lenient"}"#,
        ),
        ("/api/v1/handoffs/1/timeout", "{}"),
        ("/api/v1/handoffs/1/clarify", r#"{"question":"x"}"#),
        ("/api/v1/handoffs/1/release", "{}"),
        ("/api/v1/handoffs/1/escalate", "{}"),
        ("/api/v1/handoffs/1/evidence", r#"{"check":"x","verdict":"passed"}"#),
        (
            "/api/v1/handoffs",
            r#"{"run":"1","fromAgent":"analyst","toAgent":"implementer","package":{"plan":1},"profile":"lenient"}"#,
        ),
    ] {
        let reply = world.post(&format!("{path}?dryRun=true"), body).await;
        let would = reply.is(200);
        assert_eq!(would["dryRun"], true, "{path}");
        assert!(would["version"].as_u64().unwrap() >= version, "{path}: {would}");
        assert_eq!(reply.header("location"), None, "{path}");
        assert_eq!(world.get("/api/v1/runs/1").await.is(200), run, "{path}");
        assert_eq!(world.events("1").await, events, "{path}");
    }
    let would = world.post("/api/v1/handoffs/1/release?dryRun=true", "{}").await.is(200);
    assert_eq!(would["handoffs"], json!([{"label": "HO-001", "state": "pending"}]));
    // A rehearsal is refused as the thing itself would be.
    let again = world.post("/api/v1/handoffs/1/accept?dryRun=true", "{}").await;
    again.refuses(409, "already_accepted");
    world.post("/api/v1/stories", r#"{"key":"s-2"}"#).await.is(201);
    let started = world.post("/api/v1/runs?dryRun=true", r#"{"story":"s-2"}"#).await.is(200);
    assert_eq!(started["handoffs"], json!([{"label": "HO-001", "state": "pending"}]));
    world.get("/api/v1/runs/s-2").await.refuses(404, "no_such_run");
    world.post("/api/v1/runs/1/pause?dryRun=maybe", "{}").await.refuses(400, "wrong_type");
}

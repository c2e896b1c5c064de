//! Handoffs: made, shown, answered in every way.

use serde_json::{Value, json};

use crate::world::*;

const CREATE: &str = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer",
    "package":{"b":1.50,"a":[ 1e3 ],"plan":["x"]},"reason":"ready","profile":"lenient"}"#;

#[tokio::test]
async fn a_handoff_is_made_and_found_by_every_name() {
    let world = world().await;
    let made = world.post("/api/v1/handoffs", CREATE).await;
    let told = made.is(201);
    // The baton was nobody's: the analyst has it, and hands on.
    let handoff = &told["handoff"];
    let id = handoff["id"].as_str().unwrap();
    assert_eq!(made.header("location"), Some(format!("/api/v1/handoffs/{id}").as_str()));
    assert_eq!(
        (&handoff["fromAgent"], &handoff["toAgent"], &handoff["state"], &handoff["reason"]),
        (&json!("analyst"), &json!("implementer"), &json!("pending"), &json!("ready"))
    );
    let label = handoff["label"].as_str().unwrap();
    let number = &handoff["number"].to_string();
    let path = |name: &str| format!("/api/v1/handoffs/{name}");
    let by_run = path(&format!("s-1%2F{label}"));
    let by_query = path(&format!("{label}?run=1"));
    for path in [path(id), path(number), by_run, by_query] {
        let one = world.get(&path).await;
        assert_eq!(one.is(200)["id"], id, "{path}");
        let version = told["run"]["version"].as_u64().unwrap();
        assert_eq!(one.header("etag"), Some(format!("\"{version}\"").as_str()));
    }
    world.get(&path(label)).await.refuses(400, "which_run");
    world.get(&path("99")).await.refuses(404, "no_such_handoff");
    world.get(&path("nonsense")).await.refuses(404, "no_such_handoff");
    world.get(&path("9%2FHO-001")).await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn a_package_comes_back_as_it_was_written() {
    let world = world().await;
    let made = world.post("/api/v1/handoffs", CREATE).await;
    let number = made.is(201)["handoff"]["number"].to_string();
    let package = world.get(&format!("/api/v1/handoffs/{number}/package")).await;
    assert_eq!((package.status, package.header("content-type")), (200, Some("application/json")));
    assert_eq!(package.text, r#"{"b":1.50,"a":[ 1e3 ],"plan":["x"]}"#);
    assert_eq!(package.header("etag").map(str::len), Some(66));
    let one = world.get(&format!("/api/v1/handoffs/{number}")).await;
    assert!(one.text.contains(r#""package":{"b":1.50,"a":[ 1e3 ],"plan":["x"]}"#), "{}", one.text);
    world.get("/api/v1/handoffs/99/package").await.refuses(404, "no_such_handoff");
}

#[tokio::test]
async fn contracts_are_kept_strictly_unless_asked_otherwise() {
    let world = world().await;
    let create = |profile: &str| {
        format!(
            r#"{{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{{"plan":[1]}}{profile}}}"#
        )
    };
    let problem = world.post("/api/v1/handoffs", &create("")).await.refuses(422, "contract");
    assert_eq!(problem["problems"][0]["path"], "files_to_modify");
    assert_eq!(problem["skeleton"]["plan"], json!([1]), "what is good is kept");
    let lenient = create(r#","profile":"lenient""#);
    let told = world.post("/api/v1/handoffs", &lenient).await.is(201);
    assert!(!told["warnings"].as_array().unwrap().is_empty(), "{told}");
    let other = create(r#","profile":"loose""#);
    world.post("/api/v1/handoffs", &other).await.refuses(400, "wrong_type");
}

#[tokio::test]
async fn what_cannot_be_handed_off_is_refused() {
    let world = world().await;
    let check = async |body: &str, status, code| {
        world.post("/api/v1/handoffs", body).await.refuses(status, code)
    };
    let neither = r#"{"fromAgent":"analyst","toAgent":"implementer"}"#;
    check(neither, 400, "missing_field").await;
    let unknown = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"nobody"}"#;
    let problem = check(unknown, 400, "unknown_agent").await;
    assert!(problem["detail"].as_str().unwrap().contains("reviewer"), "{problem}");
    check(r#"{"story":"s-1","newStory":true,"fromAgent":"analyst"}"#, 400, "missing_field").await;
    let no_edge = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"documenter","profile":"lenient"}"#;
    check(no_edge, 422, "not_an_edge").await;
    let no_run = r#"{"run":"7","fromAgent":"analyst","toAgent":"implementer"}"#;
    check(no_run, 404, "no_such_run").await;
    let outcome = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","outcome":"meh"}"#;
    check(outcome, 400, "unknown_outcome").await;
    world.post("/api/v1/handoffs", CREATE).await.is(201);
    let problem = check(CREATE, 409, "duplicate").await;
    assert_eq!(problem["handoff"]["state"], "pending");
}

#[tokio::test]
async fn a_handoff_is_accepted_once_and_the_holder_is_named() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let accept = r#"{"agent":"analyst","acknowledgement":"I plan it"}"#;
    let told = world.post("/api/v1/handoffs/1/accept", accept).await.is(200);
    assert_eq!(told["handoff"]["state"], "accepted");
    assert_eq!(told["handoff"]["acknowledgement"], "I plan it");
    assert_eq!(told["fence"], 1);
    let problem = world.post("/api/v1/handoffs/1/accept", "{}").await;
    let problem = problem.refuses(409, "already_accepted");
    assert_eq!(
        (&problem["holder"], &problem["handoff"]["label"]),
        (&json!("analyst"), &json!("HO-001"))
    );
    let other = r#"{"agent":"reviewer"}"#;
    world.started("s-2", PIPELINE).await;
    world.post("/api/v1/handoffs/2/accept", other).await.refuses(409, "not_yours");
    world.post("/api/v1/handoffs/9/accept", "{}").await.refuses(404, "no_such_handoff");
    let lease = r#"{"leaseSeconds":0}"#;
    world.post("/api/v1/handoffs/2/accept", lease).await.refuses(400, "wrong_type");
    let partial = r#"{"acknowledgement":{"received":false}}"#;
    world.post("/api/v1/handoffs/2/accept", partial).await.refuses(400, "bad_acknowledgement");
}

#[tokio::test]
async fn a_handoff_is_rejected_and_comes_back() {
    let world = world().await;
    world.post("/api/v1/handoffs", CREATE).await.is(201);
    let number = number_of(&world, "implementer").await;
    let reject = format!("/api/v1/handoffs/{number}/reject");
    world.post(&reject, "{}").await.refuses(400, "missing_field");
    let told = world.post(&reject, r#"{"reason":"no tests"}"#).await.is(200);
    assert_eq!(
        (&told["handoff"]["state"], &told["handoff"]["endedReason"]),
        (&json!("rejected"), &json!("no tests"))
    );
    assert_eq!(told["returnHandoff"]["toAgent"], "analyst");
    assert_eq!(told["returnHandoff"]["kind"], "return");
    world.post(&reject, r#"{"reason":"again"}"#).await.refuses(409, "finished");
}

#[tokio::test]
async fn a_handoff_is_completed_and_the_next_one_waits() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let done = r#"{"outcome":"success","package":{"plan":["x"]},"profile":"lenient"}"#;
    let complete = "/api/v1/handoffs/1/complete";
    let strict = r#"{"outcome":"success","package":{"plan":["x"]}}"#;
    world.post(complete, strict).await.refuses(409, "accept_first");
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post(complete, r#"{"outcome":"success"}"#).await.refuses(422, "contract");
    world.post(complete, r#"{"outcome":"meh"}"#).await.refuses(400, "unknown_outcome");
    let told = world.post(complete, done).await.is(200);
    assert_eq!(told["handoff"]["toAgent"], "implementer");
    let first = world.get("/api/v1/handoffs/1").await.is(200);
    assert_eq!((&first["state"], &first["outcome"]), (&json!("completed"), &json!("success")));
}

#[tokio::test]
async fn a_handoff_is_taken_away_or_given_up() {
    let world = world().await;
    for (story, command, state) in [("s-1", "cancel", "cancelled"), ("s-2", "timeout", "timed_out")]
    {
        world.started(story, PIPELINE).await;
        let path = format!("/api/v1/handoffs/{story}%2FHO-001/{command}");
        let told = world.post(&path, r#"{"reason":"too slow"}"#).await.is(200);
        assert_eq!(told["run"]["baton"], "loose", "{command}");
        assert_eq!(told["handoff"]["state"], state);
        world.post(&path, "{}").await.refuses(409, "finished");
    }
}

#[tokio::test]
async fn a_question_is_asked_and_answered() {
    let world = world().await;
    world.post("/api/v1/handoffs", CREATE).await.is(201);
    let number = number_of(&world, "implementer").await;
    let clarify = format!("/api/v1/handoffs/{number}/clarify");
    let answer = format!("/api/v1/handoffs/{number}/answer");
    world.post(&answer, r#"{"answer":"?"}"#).await.refuses(409, "not_a_question");
    world.post(&clarify, r#"{"question":" "}"#).await.refuses(400, "bad_text");
    let told = world.post(&clarify, r#"{"question":"which port?"}"#).await.is(200);
    assert_eq!(told["question"]["toAgent"], "analyst");
    let told = world.post(&answer, r#"{"answer":"any"}"#).await.is(200);
    assert_eq!(told["run"]["currentAgent"], "implementer");
    let shown = world.get(&format!("/api/v1/handoffs/{number}")).await.is(200);
    assert_eq!(shown["questions"][0]["question"], "which port?");
    assert_eq!(shown["questions"][0]["answer"], "any");
    assert_eq!(shown["state"], "pending");
}

#[tokio::test]
async fn work_is_released_and_checks_are_recorded() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/release", "{}").await.refuses(409, "wrong_state");
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let passed = r#"{"check":"lint","verdict":"passed"}"#;
    world.post("/api/v1/handoffs/1/evidence", passed).await.is(200);
    let shown = world.get("/api/v1/handoffs/1").await.is(200);
    assert_eq!(shown["evidence"], json!([{"check": "lint", "verdict": "passed", "by": "local"}]));
    let bad = r#"{"check":"Lint","verdict":"passed"}"#;
    world.post("/api/v1/handoffs/1/evidence", bad).await.refuses(400, "bad_name");
    let told = world.post("/api/v1/handoffs/1/release", r#"{"reason":"tired"}"#).await.is(200);
    assert_eq!(told["handoff"]["state"], "pending");
}

#[tokio::test]
async fn what_may_be_done_is_what_the_rules_say() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let allowed = async || {
        let shown = world.get("/api/v1/handoffs/1").await.is(200);
        let can = shown["can"].as_array().unwrap().clone();
        assert!(can.iter().all(|it| it["allowed"] == it["why"].is_null()), "{shown}");
        let allowed = can.into_iter().filter(|it| it["allowed"] == true);
        allowed.map(|it| it["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let pending = ["accept", "reject", "cancel", "timeout", "clarify", "evidence"];
    assert_eq!(allowed().await, pending);
    world.post("/api/v1/handoffs/1/accept", r#"{"leaseSeconds":20}"#).await.is(200);
    let held = [
        "reject",
        "complete",
        "timeout",
        "clarify",
        "release",
        "heartbeat",
        "escalate",
        "evidence",
    ];
    assert_eq!(allowed().await, held);
    // What is allowed is what works: each is rehearsed.
    for (command, body) in [
        ("reject", r#"{"reason":"x"}"#),
        ("complete", r#"{"outcome":"success","package":{"plan":[1]},"profile":"lenient"}"#),
        ("clarify", r#"{"question":"x"}"#),
        ("release", "{}"),
        ("escalate", "{}"),
        ("evidence", r#"{"check":"x","verdict":"failed"}"#),
    ] {
        let path = format!("/api/v1/handoffs/1/{command}?dryRun=true");
        let reply = world.post(&path, body).await;
        assert_eq!(reply.status, 200, "{command}: {}", reply.text);
    }
    world.post("/api/v1/runs/1/cancel", "{}").await.is(200);
    assert_eq!(allowed().await, [""; 0]);
}

/// The number of what waits for an agent.
async fn number_of(world: &World, agent: &str) -> u64 {
    let list = world.get(&format!("/api/v1/handoffs?agent={agent}&state=pending")).await.is(200);
    list["items"][0]["number"].as_u64().unwrap_or_else(|| panic!("{list:?}: {}", Value::Null))
}

#[tokio::test]
async fn a_handoff_of_another_run_is_not_taken_for_one_of_this() {
    let world = world().await;
    for story in ["s-1", "s-2"] {
        world.started(story, PIPELINE).await;
    }
    // HO-001 of both: 1 is the first run's, 2 the second's.
    let create = |more: &str| {
        format!(
            r#"{{"story":"s-2","newStory":true,"fromAgent":"orchestrator","toAgent":"analyst","package":{{"story_id":"s-2"}},"profile":"lenient",{more}}}"#
        )
    };
    let path = "/api/v1/handoffs";
    let supersedes = world.post(path, &create(r#""supersedes":"1""#)).await;
    let problem = supersedes.refuses(404, "no_such_handoff");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("it is of the run `00000000-0000-0000-0000-000000000001`"),
        "{problem}"
    );
    let token = create(r#""token":{"handoff":"1","fence":1}"#);
    world.post(path, &token).await.refuses(404, "no_such_handoff");
    let seed = r#"{"action":"create","storyId":"s-2","fromAgent":"orchestrator","toAgent":"analyst","payload":{"story_id":"s-2"},"supersedes":1}"#;
    world.post("/api/handoffs", seed).await.refuses(404, "no_such_handoff");
    let reject = r#"{"reason":"no"}"#;
    world.post("/api/v1/handoffs/1/reject?run=s-2", reject).await.refuses(404, "no_such_handoff");
    world.post("/api/v1/handoffs/1/reject?run=none", reject).await.refuses(404, "no_such_run");
    let done = r#"{"agent":"analyst","output_type":"plan","status":"complete","plan":"p","handoff":{"next_agent":null,"context":"c"}}"#;
    let other = "/api/v1/documents?run=s-2&handoff=1&profile=lenient";
    world.post(other, done).await.refuses(404, "no_such_handoff");
    let next = done.replace("null", "\"implementer\"");
    world.post(other, &next).await.refuses(404, "no_such_handoff");
    for number in [1, 2] {
        let row = world.get(&format!("/api/v1/handoffs/{number}")).await.is(200);
        assert_eq!(row["state"], "pending", "{row}");
    }
    world.post(path, &create(r#""supersedes":"2""#)).await.is(201);
}

#[tokio::test]
async fn a_fence_counts_in_a_document_too() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", r#"{"leaseSeconds":60}"#).await.is(200);
    world.post("/api/v1/handoffs/1/release", r#"{"fence":1}"#).await.is(200);
    let next = r#"{"agent":"analyst","output_type":"plan","status":"complete","plan":"p","handoff":{"next_agent":"implementer","context":"c"}}"#;
    let late = world.post("/api/v1/documents?run=s-1&fence=1&profile=lenient", next).await;
    late.refuses(409, "stale_fence");
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/documents?run=s-1&fence=2&profile=lenient", next).await.is(409);
    let held = world.get("/api/v1/handoffs/1").await.is(200);
    let path = format!("/api/v1/documents?run=s-1&fence={}&profile=lenient", held["fence"]);
    world.post(&path, next).await.is(201);
}

#[tokio::test]
async fn a_document_of_a_story_that_nobody_knows_is_told_which_runs_there_are() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let blocked = r#"{"agent":"analyst","output_type":"x","feature_directory":"out/elsewhere","status":"blocked",
        "blocked_reason":"unknown","attempted":["a"],"handoff":{"next_agent":null,"context":"c"}}"#;
    let problem = world.post("/api/v1/documents", blocked).await.refuses(422, "run_unknown");
    assert!(problem["detail"].as_str().unwrap().contains("1 (s-1)"), "{problem}");
}

#[tokio::test]
async fn a_create_adopts_an_unknown_story_and_a_start_refuses_it() {
    let world = world().await;
    let create = r#"{"action":"create","storyId":"login","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"p"}}"#;
    let made = world.post("/api/handoffs", create).await.is(200);
    assert_eq!(made["adopted"], true, "{made}");
    let accepted =
        world.post("/api/handoffs", r#"{"action":"accept","handoffId":1}"#).await.is(200);
    assert_eq!(accepted["adopted"], Value::Null, "{accepted}");
    let start = r#"{"action":"start","storyId":"logn"}"#;
    let refused = world.post("/api/run", start).await.refuses(404, "no_such_story");
    let said = "there is no story `logn`; did you mean `login`? `baton story add logn --title \"...\"` adds it";
    assert_eq!(refused["detail"], said, "{refused}");
    let typed = r#"{"story":"logn","fromAgent":"analyst","toAgent":"implementer","package":{"plan":"p"},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs", typed).await.refuses(404, "no_such_story");
    let document = r#"{"agent":"analyst","status":"complete","plan":"p","handoff":{"next_agent":"implementer","context":"c"}}"#;
    world.post("/api/v1/documents?story=logn", document).await.refuses(404, "no_such_story");
    let stories = world.get("/api/v1/stories").await.is(200);
    assert_eq!(stories["items"].as_array().map(Vec::len), Some(1), "{stories}");
    let own_id = document.replace("\"plan\"", "\"feature_directory\":\"out/search\",\"plan\"");
    let made = world.post("/api/v1/documents?profile=lenient", &own_id).await.is(201);
    assert_eq!((&made["adopted"], &made["run"]["story"]), (&json!(true), &json!("search")));
    let typed = typed.replace("\"logn\"", "\"logn\",\"newStory\":true");
    assert_eq!(world.post("/api/v1/handoffs", &typed).await.is(201)["adopted"], true);
    let unknown = r#"{"action":"create","storyId":"x","fromAgent":"analist","toAgent":"complete"}"#;
    let told = world.post("/api/handoffs", unknown).await.refuses(400, "unknown_agent");
    assert_eq!(told["detail"], "there is no agent `analist`; did you mean `analyst`?", "{told}");
}

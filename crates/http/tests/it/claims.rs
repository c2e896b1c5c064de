//! Claims of a runner, and the tokens of its attempts.

use baton_http::RunnerKey;
use serde_json::{Value, json};

use crate::world::*;

impl World {
    async fn claims(&self, body: &Value) -> Reply {
        let bearer = format!("Bearer {}", RunnerKey::new(SECRET).credential());
        let headers = [("authorization", bearer.as_str())];
        self.post_with("/api/v1/claims", &headers, &body.to_string()).await
    }

    /// What is free for this agent, under a lease of 20 seconds.
    async fn claimed(&self, agent: &str) -> Value {
        self.claims(&json!({ "agents": [agent] })).await.is(200)
    }

    async fn post_as(&self, claim: &Value, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {}", claim["token"].as_str().unwrap());
        self.post_with(path, &[("authorization", &bearer)], &body.to_string()).await
    }
}

fn create(story: &str, from: &str, to: &str) -> Value {
    let payload = json!({ "plan": "Add a form, then check it" });
    json!({ "action": "create", "storyId": story, "fromAgent": from, "toAgent": to, "payload": payload })
}

#[tokio::test]
async fn a_runner_claims_the_most_urgent_work_and_its_agent_hands_on_with_the_token() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let urgent = r#"{"key":"s2","priority":5}"#;
    world.post("/api/v1/stories", urgent).await.is(201);
    world.post("/api/v1/runs", r#"{"story":"s2"}"#).await.is(201);

    let claim = world.claimed("analyst").await;
    assert_eq!(claim["handoff"]["story"], "s2", "it has the higher priority");
    assert_eq!((&claim["fence"], &claim["leaseSeconds"]), (&json!(1), &json!(20)));
    assert_eq!(claim["handoff"]["state"], "accepted");

    let accept = json!({ "action": "accept", "handoffId": claim["handoff"]["number"] });
    let accepted = world.post_as(&claim, "/api/handoffs", &accept).await.is(200);
    assert_eq!(accepted["handoff"]["status"], "accepted", "its own handoff, which it holds");
    world.post("/api/handoffs", &accept.to_string()).await.refuses(409, "already_accepted");

    let on = create("s2", "analyst", "implementer");
    let created = world.post_as(&claim, "/api/handoffs", &on).await.is(200);
    assert_eq!(created["handoff"]["to_agent"], "implementer");
    let events = world.events("s2").await.to_string();
    assert!(events.contains("agent:analyst") && events.contains("baton:runner"), "{events}");
    world.post_as(&claim, "/api/handoffs", &on).await.refuses(409, "duplicate");
    assert_eq!(world.claimed("analyst").await["handoff"]["story"], "s1");
}

#[tokio::test]
async fn a_token_opens_its_own_handoff_and_nothing_else() {
    let world = world().await;
    for story in ["s1", "s2"] {
        world.started(story, PIPELINE).await;
    }
    let claim = world.claimed("analyst").await;
    assert_eq!(claim["handoff"]["number"], 1);
    for (path, body) in [
        ("/api/v1/handoffs/2/accept", json!({})),
        ("/api/v1/handoffs/2/reject", json!({ "reason": "Not mine" })),
        ("/api/v1/handoffs/2/complete", json!({ "outcome": "failure" })),
        ("/api/v1/handoffs/1/cancel", json!({})),
        ("/api/v1/handoffs/1/timeout", json!({})),
        ("/api/v1/runs/1/cancel", json!({})),
        ("/api/v1/runs/1/pause", json!({})),
        ("/api/v1/runs/1/resume", json!({})),
        ("/api/v1/runs/1/goto", json!({ "step": "review", "reason": "Faster" })),
        ("/api/v1/runs/1/skip", json!({ "reason": "Faster" })),
        ("/api/v1/runs/1/cleanup", json!({})),
        ("/api/v1/archive/rebuild", json!({})),
        ("/api/v1/runs/1/redactions", json!({ "handoff": "HO-001", "reason": "Shame" })),
        ("/api/v1/inbox/1/answer", json!({ "answer": "approve" })),
        ("/api/v1/inbox/1/delegate", json!({ "to": "ana" })),
        ("/api/run", json!({ "action": "start", "storyId": "s3" })),
        ("/api/run", json!({ "action": "stop" })),
        ("/api/run", json!({ "action": "reset" })),
        ("/api/v1/runs/2/messages", json!({ "text": "Hello" })),
        ("/api/v1/runs", json!({ "story": "s3", "newStory": true })),
        ("/api/v1/stories", json!({ "key": "s3" })),
        ("/api/v1/handoffs/2/heartbeat", json!({ "fence": 1 })),
        ("/api/handoffs", create("s2", "analyst", "implementer")),
        ("/api/handoffs", create("s1", "reviewer", "refactorer")),
        ("/api/handoffs", create("s9", "analyst", "implementer")),
        ("/api/handoffs", json!({ "action": "timeout", "handoffId": 1 })),
        ("/api/handoffs", json!({ "action": "cleanup", "storyId": "s1" })),
    ] {
        let before = (world.events("s1").await, world.events("s2").await);
        world.post_as(&claim, path, &body).await.refuses(403, "other_attempt");
        assert_eq!((world.events("s1").await, world.events("s2").await), before, "{path} {body}");
    }
    let elsewhere = json!({ "agents": ["analyst"] });
    world.post_as(&claim, "/api/v1/claims", &elsewhere).await.refuses(403, "not_a_runner");
    let said = json!({ "text": "Under way" });
    world.post_as(&claim, "/api/v1/runs/1/messages", &said).await.is(200);
    let messages = world.get("/api/v1/runs/1/messages").await.is(200);
    assert_eq!(messages["items"][0]["agent"], "analyst");
}

#[tokio::test]
async fn a_token_is_dead_once_the_work_was_given_back() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let first = world.claimed("analyst").await;
    let release = json!({ "reason": "Later" });
    world.post_as(&first, "/api/v1/handoffs/1/release", &release).await.is(200);
    let second = world.claimed("analyst").await;
    assert!(second["fence"].as_u64() > first["fence"].as_u64());
    for (path, body) in [
        ("/api/handoffs", create("s1", "analyst", "implementer")),
        ("/api/v1/handoffs/1/accept", json!({})),
        ("/api/v1/handoffs/1/reject", json!({ "reason": "Unclear" })),
        ("/api/v1/runs/1/messages", json!({ "text": "Still here" })),
        ("/api/v1/handoffs/1/evidence", json!({ "check": "tests", "verdict": "passed" })),
    ] {
        world.post_as(&first, path, &body).await.refuses(409, "stale_fence");
    }
    // Not even by the number of the newer holding.
    let fence = second["fence"].clone();
    let package = create("s1", "analyst", "implementer")["payload"].clone();
    let document = format!("/api/v1/documents?handoff=1&fence={fence}");
    for (path, body) in [
        ("/api/v1/handoffs/1/heartbeat", json!({ "fence": fence })),
        (
            "/api/v1/handoffs/1/complete",
            json!({ "outcome": "success", "package": package, "fence": fence }),
        ),
        ("/api/v1/handoffs/1/reject", json!({ "reason": "Unclear", "fence": fence })),
        ("/api/v1/handoffs/1/clarify", json!({ "question": "Which form?", "fence": fence })),
        ("/api/v1/handoffs/1/release", json!({ "reason": "Later", "fence": fence })),
        (
            &document,
            json!({ "handoff": { "from": "analyst", "to": "implementer", "plan": "Add a form" } }),
        ),
    ] {
        let before = world.events("s1").await;
        world.post_as(&first, path, &body).await.refuses(409, "stale_fence");
        assert_eq!(world.events("s1").await, before, "{path} {body}");
    }
    let create = create("s1", "analyst", "implementer");
    world.post_as(&second, "/api/handoffs", &create).await.is(200);
}

/// Messages, packages, reasons, questions and documents of every format: nothing that is read later has it.
#[tokio::test]
async fn a_token_that_an_agent_repeats_is_masked_before_it_is_stored() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let claim = world.claimed("analyst").await;
    let token = claim["token"].as_str().unwrap().to_owned();
    let runner = RunnerKey::new(SECRET).credential();
    let words = json!({ "text": format!("I am {token}, and was started by {runner}.") });
    world.post_as(&claim, "/api/v1/runs/1/messages", &words).await.is(200);
    let said = world.get("/api/v1/runs/1/messages").await.is(200)["items"][0]["text"].clone();
    assert_eq!(said, "I am baton-attempt.masked, and was started by baton-runner.masked.");

    let asked = json!({ "question": format!("May I show {token}?") });
    world.post_as(&claim, "/api/v1/handoffs/1/clarify", &asked).await.is(200);
    let answer = json!({ "answer": format!("No: {token} is yours") });
    world.post("/api/v1/handoffs/1/answer", &answer.to_string()).await.is(200);
    let claim = world.claimed("analyst").await;
    let token = claim["token"].as_str().unwrap().to_owned();
    let mut on = create("s1", "analyst", "implementer");
    on["payload"]["plan"] = format!("Call it with {token}").into();
    on["payload"][&token] = "as a key".into();
    world.post_as(&claim, "/api/handoffs", &on).await.is(200);
    let yaml = format!(
        "handoff:\n  from: implementer\n  to: reviewer\n  summary: {token}\n  files_changed: [a.rs]\n"
    );
    let held = world.claimed("implementer").await;
    let bearer = format!("Bearer {}", held["token"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/yaml")];
    let sent =
        world.client.send("POST", "/api/v1/documents?profile=lenient", &headers, &yaml).await;
    assert_eq!(sent.status, 201, "{}", sent.text);

    let escaped = format!(r#"{{"text":"{}"}}"#, token.replacen('b', r"\u0062", 1));
    let before = world.events("s1").await;
    world.post("/api/v1/runs/1/messages", &escaped).await.refuses(400, "credential_in_text");
    let keyed = [("idempotency-key", token.as_str())];
    let fine = r#"{"text":"fine"}"#;
    world
        .post_with("/api/v1/runs/1/messages", &keyed, fine)
        .await
        .refuses(400, "credential_in_text");
    let named = format!("/api/v1/stories/{token}");
    world.put(&named, r#"{"title":"x"}"#).await.refuses(400, "credential_in_text");
    assert_eq!(world.events("s1").await, before);

    let dir = world.stop().await;
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        for secret in [&claim, &held].map(|it| it["token"].as_str().unwrap()) {
            assert!(!text.contains(secret));
        }
        assert!(!text.contains(&runner));
    }
}

#[tokio::test]
async fn a_claim_waits_for_work_and_the_same_key_gives_the_same_claim() {
    let world = world().await;
    assert_eq!(world.claims(&json!({ "agents": ["analyst"] })).await.status, 204);
    let wait = json!({ "agents": ["analyst", "implementer"], "waitSeconds": 50 });
    let (claim, ()) = tokio::join!(world.claims(&wait), world.started("s1", PIPELINE));
    assert_eq!(claim.is(200)["handoff"]["number"], 1);

    world.started("s2", PIPELINE).await;
    let bearer = format!("Bearer {}", RunnerKey::new(SECRET).credential());
    let keyed = [("authorization", bearer.as_str()), ("idempotency-key", "k1")];
    let body = r#"{"agents":["analyst"],"waitSeconds":1}"#;
    let first = world.post_with("/api/v1/claims", &keyed, body).await.is(200);
    let again = world.post_with("/api/v1/claims", &keyed, body).await.is(200);
    assert_eq!(first["token"], again["token"]);
    for body in [r#"{"agents":[]}"#, r#"{"agents":["human"]}"#, r#"{"agents":["nobody"]}"#] {
        assert_eq!(world.post_with("/api/v1/claims", &keyed[..1], body).await.status, 400);
    }
}

#[tokio::test]
async fn an_attempt_without_a_result_is_tried_again_and_then_asked_of_a_person() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let bearer = format!("Bearer {}", RunnerKey::new(SECRET).credential());
    let headers = [("authorization", bearer.as_str())];
    for attempt in 1..=3 {
        world.clock.advance(jiff::SignedDuration::from_secs(10));
        let claim = world.claimed("analyst").await;
        assert_eq!(claim["handoff"]["attempt"], attempt);
        let path = format!("/api/v1/handoffs/{}/lost", claim["handoff"]["number"]);
        let lost = json!({ "fence": claim["fence"], "reason": "failure: exited at once" });
        world.post_as(&claim, &path, &lost).await.refuses(403, "not_a_runner");
        world.post_with(&path, &headers, &lost.to_string()).await.is(200);
        let row =
            world.get(&format!("/api/v1/handoffs/{}", claim["handoff"]["number"])).await.is(200);
        assert_eq!((&row["state"], &row["endedReason"]), (&json!("timed_out"), &lost["reason"]));
    }
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!(run["currentAgent"], "human");
}

#[tokio::test]
async fn a_question_is_claimed_and_answered_like_work() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let analyst = world.claimed("analyst").await;
    let create = create("s1", "analyst", "implementer");
    world.post_as(&analyst, "/api/handoffs", &create).await.is(200);
    let implementer = world.claimed("implementer").await;
    let asked = json!({ "question": "Which form?" });
    world.post_as(&implementer, "/api/v1/handoffs/2/clarify", &asked).await.is(200);
    let question = world.claimed("analyst").await;
    assert_eq!(question["handoff"]["kind"], "question");
    let answer = json!({ "answer": "The one on the first page" });
    world.post_as(&question, "/api/v1/handoffs/2/answer", &answer).await.is(200);
    assert_eq!(world.claimed("implementer").await["handoff"]["number"], 2);
}

/// What the program of an agent used is recorded with its token, counts for the budget of the run, and is
/// shown by attempt, by agent and in the metrics.
#[tokio::test]
async fn usage_is_reported_with_the_token_and_counts_for_the_budget() {
    let world = world().await;
    let start = r#"{"story":"s1","newStory":true,"budget":"1000tokens"}"#;
    world.post("/api/v1/runs", start).await.is(201);
    world.started("s2", PIPELINE).await;
    let claim = world.claimed("analyst").await;
    assert_eq!(claim["budget"], json!({ "tokens": 1000, "microUsd": null, "workMs": null }));
    let number = &claim["handoff"]["number"];
    let path = format!("/api/v1/handoffs/{number}/usage");
    let report = json!({ "fence": 1, "executor": "claude", "inputTokens": 300, "cachedTokens": 100,
        "outputTokens": 50, "microUsd": 41_700, "workMs": 1200 });

    world.post(&path, &report.to_string()).await.refuses(403, "not_a_runner");
    let other = world.claimed("analyst").await;
    let refused = world.post_as(&other, &path, &report).await;
    assert_eq!(refused.status, 403, "the token of another handoff: {}", refused.text);
    let mut wrong = report.clone();
    wrong["cachedTokens"] = 301.into();
    world.post_as(&claim, &path, &wrong).await.refuses(400, "wrong_type");
    wrong["cachedTokens"] = (-1).into();
    assert_eq!(world.post_as(&claim, &path, &wrong).await.status, 400);
    let unused = world.get("/api/v1/runs/s1").await.is(200);
    assert_eq!(unused["usage"]["total"]["inputTokens"], 0, "nothing of it counted");

    world.post_as(&claim, &path, &report).await.is(200);
    world.post_as(&claim, &path, &report).await.is(200);
    let run = world.get("/api/v1/runs/s1").await.is(200);
    let both = json!({ "inputTokens": 600, "cachedTokens": 200, "outputTokens": 100,
        "microUsd": 83_400, "workMs": 2400 });
    assert_eq!(run["usage"]["total"], both);
    assert_eq!(run["usage"]["budget"]["tokens"], 1000);
    let agent = &run["usage"]["agents"][0];
    assert_eq!((&agent["agent"], &agent["step"]), (&json!("analyst"), &json!("analyze")));
    let attempts = world.get("/api/v1/runs/s1/usage?limit=1").await.is(200);
    assert_eq!(attempts["items"][0]["executor"], "claude");
    let next = attempts["next"].as_str().expect("there is a second page");
    let second = world.get(&format!("/api/v1/runs/s1/usage?limit=1&after={next}")).await.is(200);
    assert_eq!((second["items"].as_array().unwrap().len(), &second["next"]), (1, &Value::Null));
    let metrics = world.get("/metrics").await.text;
    for line in [
        "baton_agent_tokens_total{agent=\"analyst\",kind=\"input\"} 600",
        "baton_agent_tokens_total{agent=\"analyst\",kind=\"cached\"} 200",
        "baton_agent_tokens_total{agent=\"analyst\",kind=\"output\"} 100",
        "baton_agent_cost_microdollars_total{agent=\"analyst\"} 83400",
        "baton_agent_work_milliseconds_total{agent=\"analyst\"} 2400",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }

    // The agent hands on, and the receiver has used up what is left: no agent gets the work then.
    let on = create("s1", "analyst", "implementer");
    world.post_as(&claim, "/api/handoffs", &on).await.is(200);
    let held = world.claimed("implementer").await;
    assert_eq!(held["budget"]["tokens"], 300);
    let path = format!("/api/v1/handoffs/{}/usage", held["handoff"]["number"]);
    world.post_as(&held, &path, &report).await.is(200);
    let payload = json!({ "summary": "A form", "files_changed": ["a.rs"] });
    let mut on = create("s1", "implementer", "reviewer");
    on["payload"] = payload;
    world.post_as(&held, "/api/handoffs", &on).await.is(200);
    let run = world.get("/api/v1/runs/s1").await.is(200);
    assert_eq!(run["currentAgent"], "human", "{run}");
    let inbox = world.get("/api/v1/inbox").await.is(200).to_string();
    assert!(inbox.contains("The run has used 1050 tokens; its budget is 1000 tokens"), "{inbox}");
}

const CAPPED: &str = "name: capped
start: { to: build }
steps:
  build:
    agents: [builder, mason]
    at_once: 2
    on: { success: { to: look } }
  look: { agent: looker, on: { success: { to: complete }, failure: { to: build, back: true } } }
";

#[tokio::test]
async fn a_step_has_no_more_runs_at_work_than_it_says() {
    let world = world_of(&[CAPPED]).await;
    for (story, agent) in
        [("s1", "builder"), ("s2", "mason"), ("s3", "builder"), ("s4", "mason"), ("s5", "builder")]
    {
        let start =
            json!({ "story": story, "newStory": true, "workflow": "capped", "toAgent": agent });
        world.post("/api/v1/runs", &start.to_string()).await.is(201);
    }
    let first = world.claimed("builder").await;
    let second = world.claimed("mason").await;
    let both = json!({ "agents": ["builder", "mason"] });
    assert_eq!(world.claims(&both).await.status, 204, "two are at work, whoever they are");

    let done = json!({ "outcome": "success", "package": { "summary": "Laid 3 rows of bricks" } });
    let path = format!("/api/v1/handoffs/{}/complete", first["handoff"]["number"]);
    world.post_as(&first, &path, &done).await.is(200);
    assert_eq!(world.claims(&both).await.is(200)["handoff"]["story"], "s3", "one place is free");
    assert_eq!(world.claims(&both).await.status, 204);

    let number = |it: &Value| it["handoff"]["number"].clone();
    let release = json!({ "reason": "Later" });
    let path = format!("/api/v1/handoffs/{}/release", number(&second));
    world.post_as(&second, &path, &release).await.is(200);
    world.post("/api/v1/handoffs/4/accept", "{}").await.is(200);
    assert_eq!(world.claims(&both).await.status, 204, "a person who accepts by name counts");
    world.post("/api/v1/handoffs/5/accept", "{}").await.is(200);
    assert_eq!(world.claimed("looker").await["handoff"]["story"], "s1", "another step is free");
}

/// Of many claims at once only as many succeed as there are places.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_at_once_do_not_take_the_last_place_of_a_step_twice() {
    let world = std::sync::Arc::new(world_of(&[CAPPED]).await);
    for n in 0..8 {
        let story = format!("s{n}");
        let start =
            json!({ "story": story, "newStory": true, "workflow": "capped", "toAgent": "builder" });
        world.post("/api/v1/runs", &start.to_string()).await.is(201);
    }
    let claims: Vec<_> = (0..8)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(
                async move { world.claims(&json!({ "agents": ["builder"] })).await.status },
            )
        })
        .collect();
    let mut n_claimed = 0;
    for claim in claims {
        n_claimed += u32::from(claim.await.unwrap() == 200);
    }
    assert_eq!(n_claimed, 2);
}

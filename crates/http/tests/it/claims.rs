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
    let create = create("s1", "analyst", "implementer");
    world.post_as(&second, "/api/handoffs", &create).await.is(200);
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

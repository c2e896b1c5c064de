//! What waits for a person, and what they say; what blocks.

use serde_json::json;

use crate::world::*;

const DONE: &str = r#"{"outcome":"success","package":{"summary":"x"},"profile":"lenient"}"#;

#[tokio::test]
async fn a_gate_waits_in_the_inbox_with_what_each_answer_leads_to() {
    let world = world().await;
    assert_eq!(world.get("/api/v1/inbox").await.is(200), json!({"items": [], "next": null}));
    world.started("s-1", GATED).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/complete", DONE).await.is(200);
    let inbox = world.get("/api/v1/inbox").await.is(200);
    let item = &inbox["items"][0];
    assert_eq!(
        (&item["cause"], &item["kind"], &item["handoff"]),
        (&json!("declared"), &json!("blocking"), &json!("HO-002"))
    );
    assert_eq!(item["name"], "Specification validated");
    let approve = &item["choices"][0];
    assert_eq!((&approve["choice"], &approve["needsWords"]), (&json!("approve"), &json!(false)));
    assert_eq!(approve["then"], "HO-003 goes to architecture, for the step architecture");
    assert_eq!(texts(&json!({"items": item["trail"]}), "label"), ["HO-001", "HO-002"]);

    let answer = format!("/api/v1/inbox/{}/answer", item["handoffId"].as_str().unwrap());
    world.post(&answer, r#"{"answer":"continue"}"#).await.refuses(422, "not_a_choice");
    world.post(&answer, r#"{"answer":"yes"}"#).await.refuses(400, "wrong_type");
    world.post(&answer, r#"{"answer":"hand_to"}"#).await.refuses(400, "missing_field");
    world.post(&answer, r#"{"answer":"modify"}"#).await.refuses(422, "package_required");
    let told = world.post(&answer, r#"{"answer":"approve","comment":"fine"}"#).await.is(200);
    assert_eq!(told["run"]["currentAgent"], "architecture");
    world.post(&answer, r#"{"answer":"approve"}"#).await.refuses(409, "finished");
    assert_eq!(texts(&world.get("/api/v1/inbox").await.is(200), "handoff"), [""; 0]);
    world.post("/api/v1/inbox/1/answer", r#"{"answer":"approve"}"#).await.refuses(409, "finished");
}

#[tokio::test]
async fn the_inbox_is_read_run_by_run() {
    let world = world().await;
    for story in ["s-1", "s-2", "s-3"] {
        world.started(story, PIPELINE).await;
        world.post(&format!("/api/v1/runs/{story}/cleanup"), "{}").await.is(200);
    }
    let mut seen = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = world.get(&format!("/api/v1/inbox?limit=1&after={after}")).await.is(200);
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|it| it["run"]["story"].as_str().unwrap().to_owned()));
        assert!(items.iter().all(|it| it["cause"] == "loose" && it["handoff"].is_null()));
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(seen, ["s-1", "s-2", "s-3"]);
}

#[tokio::test]
async fn what_blocks_is_listed_until_it_is_settled() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let blocked =
        r#"{"outcome":"blocked","package":{"blockers":["no access"]},"profile":"lenient"}"#;
    let told = world.post("/api/v1/handoffs/1/complete", blocked).await.is(200);
    let list = world.get("/api/v1/blockers").await.is(200);
    let blocker = &list["items"][0];
    assert_eq!((&blocker["words"], &blocker["by"]), (&json!("no access"), &json!("analyst")));
    assert_eq!(world.get("/api/v1/blockers?run=s-1").await.is(200), list);
    let number = told["gate"]["number"].as_u64().unwrap_or_else(|| panic!("{told}"));
    let path = format!("/api/v1/inbox/{number}/answer");
    world.post(&path, r#"{"answer":"continue","comment":"here is the key"}"#).await.is(200);
    assert_eq!(texts(&world.get("/api/v1/blockers").await.is(200), "words"), [""; 0]);
    world.get("/api/v1/blockers?run=9").await.refuses(404, "no_such_run");
}

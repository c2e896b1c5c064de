//! The approvals of several people, over the API.

use serde_json::{Value, json};

use crate::world::*;

const RELEASE: &str = "\
name: release
start: build
steps:
  build:
    agent: implementer
    on:
      success: { to: document, raise: { cost: 500 } }
  document:
    agent: documenter
    on:
      success: { to: complete, gate: { type: blocking, name: Release, approvers: { need: 2, of: [ana, ben] } } }
";

/// Handoff 2 is held by the documenter.
async fn at_release() -> World {
    let world = world_of(&[RELEASE]).await;
    world.started("s-1", "release").await;
    for (path, body) in [
        ("/api/v1/handoffs/1/accept", "{}"),
        (
            "/api/v1/handoffs/1/complete",
            r#"{"outcome":"success","package":{"summary":"Built the invoice form in src/pay.rs, 3 files"}}"#,
        ),
        ("/api/v1/handoffs/2/accept", "{}"),
    ] {
        world.post_with(path, &[("baton-as", "dora")], body).await.is(200);
    }
    world
}

async fn complete(world: &World, by: &str, no: u32, summary: &str) {
    let body = json!({ "outcome": "success", "package": { "summary": summary } }).to_string();
    let path = format!("/api/v1/handoffs/{no}/complete");
    world.post_with(&path, &[("baton-as", by)], &body).await.is(200);
}

async fn says(world: &World, by: &str, no: u32, body: &Value) -> Reply {
    let path = format!("/api/v1/inbox/{no}/answer");
    world.post_with(&path, &[("baton-as", by)], &body.to_string()).await
}

async fn asked(world: &World) -> Value {
    world.get("/api/v1/inbox").await.is(200)["items"][0].clone()
}

#[tokio::test]
async fn two_of_two_people_approve_the_package_that_they_saw() {
    let world = at_release().await;
    complete(&world, "dora", 2, "Documented the invoice form in docs/pay.md, 2 pages").await;
    let approve = json!({ "answer": "approve" });
    says(&world, "dora", 3, &approve).await.refuses(409, "own_work");
    says(&world, "eve", 3, &approve).await.refuses(409, "not_an_approver");
    let hash = asked(&world).await["contentHash"].as_str().unwrap().to_owned();
    let seen = json!({ "answer": "approve", "comment": "read it", "contentHash": hash });
    says(&world, "ana", 3, &seen).await.is(200);
    says(&world, "ana", 3, &approve).await.refuses(409, "already_approved");
    let approvals = asked(&world).await["approvals"].clone();
    assert_eq!(approvals["need"], 2);
    assert_eq!(approvals["open"], json!(["ben"]));
    assert_eq!(approvals["author"], "dora");
    let given = &approvals["given"][0];
    assert_eq!((&given["by"], &given["comment"]), (&json!("ana"), &json!("read it")));
    assert_eq!(given["authenticated"], false);
    let shown = world.get("/api/v1/handoffs/3").await.is(200);
    assert_eq!(shown["question"]["approvals"], approvals);
    assert_eq!(shown["question"]["contentHash"], hash.as_str());
    let last = says(&world, "ben", 3, &seen).await.is(200);
    assert_eq!(last["run"]["status"], "completed", "{last}");
    let shown = world.get("/api/v1/handoffs/3").await.is(200);
    let approvals = json!({ "items": shown["question"]["approvals"] });
    assert_eq!(texts(&approvals, "by"), ["ana", "ben"]);
}

#[tokio::test]
async fn an_answer_about_another_package_is_refused() {
    let world = at_release().await;
    complete(&world, "dora", 2, "Documented the invoice form in docs/pay.md, 2 pages").await;
    let before = asked(&world).await["contentHash"].as_str().unwrap().to_owned();
    says(&world, "ana", 3, &json!({ "answer": "approve" })).await.is(200);
    says(&world, "ben", 3, &json!({ "answer": "reject", "comment": "a third" })).await.is(200);
    world.post("/api/v1/handoffs/4/accept", "{}").await.is(200);
    complete(&world, "dora", 4, "Documented the invoice form in docs/pay.md, 3 pages").await;
    let events = world.events("s-1").await;
    let stale = json!({ "answer": "approve", "contentHash": before });
    let refused = says(&world, "ben", 5, &stale).await.refuses(409, "package_changed");
    assert!(refused["detail"].as_str().unwrap().contains(&before), "{refused}");
    says(&world, "ben", 3, &stale).await.refuses(409, "finished");
    says(&world, "ben", 5, &json!({ "answer": "approve", "contentHash": "x" }))
        .await
        .refuses(400, "bad_text");
    assert_eq!(world.events("s-1").await, events, "nothing was recorded");
    assert_eq!(asked(&world).await["approvals"]["given"], json!([]));
}

#[tokio::test]
async fn a_vote_is_passed_on_once() {
    let world = at_release().await;
    complete(&world, "dora", 2, "Documented the invoice form in docs/pay.md, 2 pages").await;
    let path = "/api/v1/inbox/3/delegate";
    for (by, to, status, code) in [
        ("eve", "emil", 409, "not_an_approver"),
        ("ana", "dora", 422, "bad_delegate"),
        ("ana", "ANA", 422, "bad_delegate"),
        ("ana", "ben", 422, "bad_delegate"),
        ("ana", "baton:sweeper", 400, "bad_name"),
        ("ana", "implementer", 409, "not_a_person"),
    ] {
        let body = json!({ "to": to }).to_string();
        world.post_with(path, &[("baton-as", by)], &body).await.refuses(status, code);
    }
    let to_emil = json!({ "to": "emil" }).to_string();
    world.post_with(path, &[("baton-as", "ana")], &to_emil).await.is(200);
    world.post_with(path, &[("baton-as", "ana")], &to_emil).await.refuses(409, "not_an_approver");
    says(&world, "emil", 3, &json!({ "answer": "approve" })).await.is(200);
    let approvals = asked(&world).await["approvals"].clone();
    assert_eq!(approvals["given"][0]["onBehalfOf"], "ana");
    assert_eq!(approvals["delegated"], json!([["ana", "emil"]]));
    let page = world.get("/").await;
    let at = "1 of 2 approvals: emil for ana at <span class=\"times\"><time datetime=";
    assert!(page.text.contains(at), "one date format: {}", page.text);
}

#[tokio::test]
async fn what_the_package_says_raises_a_gate_with_the_reason() {
    let world = world_of(&[RELEASE]).await;
    world.started("s-1", "release").await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let costly = r#"{"outcome":"success","package":{"summary":"Built the invoice form in src/pay.rs, 3 files","cost_usd":800}}"#;
    world.post("/api/v1/handoffs/1/complete", costly).await.is(200);
    let item = asked(&world).await;
    assert_eq!((&item["cause"], &item["kind"]), (&json!("raised"), &json!("blocking")));
    assert_eq!(item["words"], "A person is asked because the cost is 800 (`cost_usd`), over 500");
    assert_eq!(item.get("wordsBy"), None, "they are Baton's own");
    world.client.send("GET", "/", &[], "").await;
}

const CHOICE: &str = r#"{"outcome":"success","package":{"summary":"Documented the form in docs/pay.md",
    "decisions":[{"id":"pending","decision":"A (fast) or B (robust)?","rationale":"depends"}]}}"#;

/// The gate of the release, with a choice that its package leaves open.
async fn at_a_choice() -> World {
    let world = at_release().await;
    let by = [("baton-as", "dora")];
    world.post_with("/api/v1/handoffs/2/complete", &by, CHOICE).await.is(200);
    world
}

async fn decisions(world: &World) -> Vec<Value> {
    let all = world.get("/api/v1/runs/s-1/decisions?all=true").await.is(200);
    let members = |it: &Value| json!([it["decision"], it["person"], it["rationale"], it["status"]]);
    all["items"].as_array().unwrap().iter().map(members).collect()
}

#[tokio::test]
async fn the_choice_is_made_by_the_approver_who_wrote_it_whoever_opens_the_gate() {
    let world = at_a_choice().await;
    let chosen = json!({ "answer": "approve", "comment": "B, robust" });
    says(&world, "ana", 3, &chosen).await.is(200);
    says(&world, "ben", 3, &json!({ "answer": "approve" })).await.is(200);
    assert_eq!(
        decisions(&world).await,
        [
            json!(["approve: Release", "ben", null, null]),
            json!(["A (fast) or B (robust)?", "ana", "B, robust", "answered"]),
        ]
    );
}

#[tokio::test]
async fn approvers_who_wrote_different_things_are_both_quoted() {
    let world = at_a_choice().await;
    for (by, words) in [("ana", "B, robust"), ("ben", "A")] {
        let chosen = json!({ "answer": "approve", "comment": words });
        says(&world, by, 3, &chosen).await.is(200);
    }
    let both = "The approvers wrote different things:\nana: B, robust\nben: A";
    assert_eq!(
        decisions(&world).await,
        [json!(["A (fast) or B (robust)?", "ana", both, "answered"])]
    );
}

#[tokio::test]
async fn a_choice_that_no_approver_wrote_about_stays_open() {
    let world = at_a_choice().await;
    for by in ["ana", "ben"] {
        says(&world, by, 3, &json!({ "answer": "approve" })).await.is(200);
    }
    let open = json!(["A (fast) or B (robust)?", null, "depends", "open"]);
    assert!(decisions(&world).await.contains(&open), "{:?}", decisions(&world).await);
}

#[tokio::test]
async fn a_caller_without_a_name_is_asked_for_one_where_people_are_counted() {
    let world = at_release().await;
    complete(&world, "dora", 2, "Documented the invoice form in docs/pay.md, 2 pages").await;
    let approve = r#"{"answer":"approve"}"#;
    world.post("/api/v1/inbox/3/answer", approve).await.refuses(409, "unnamed_caller");
    says(&world, "runner", 3, &json!({ "answer": "approve" })).await.refuses(409, "unnamed_caller");
}

#[tokio::test]
async fn who_held_the_work_made_its_package_where_the_caller_states_no_name() {
    let world = world_of(&[&RELEASE.replace("of: [ana, ben]", "of: [dora, ben, ana]")]).await;
    world.started("s-1", "release").await;
    for (no, summary) in
        [(1, "Built the invoice form in src/pay.rs"), (2, "Documented it in docs/pay.md, 2 pages")]
    {
        let accept = format!("/api/v1/handoffs/{no}/accept");
        world.post_with(&accept, &[("baton-as", "dora")], "{}").await.is(200);
        let body = json!({ "outcome": "success", "package": { "summary": summary } });
        let path = format!("/api/v1/handoffs/{no}/complete");
        world.post(&path, &body.to_string()).await.is(200);
    }
    says(&world, "dora", 3, &json!({ "answer": "approve" })).await.refuses(409, "own_work");
}

//! A run in several branches: each is one item of the inbox, and who has the work of several says
//! which is meant.

use serde_json::{Value, json};

use crate::world::*;

/// What blocks for security goes to `security-check`.
pub(crate) const FAN: &str = "
name: fan
start: plan
domain: backend
routing: { reasons: { security_concern: security-check } }
steps:
  plan: { agent: planner, on: { success: { to: [a, b], join: merge } } }
  a: { agent: coder, on: { success: merge } }
  b: { agent: tester, on: { success: merge } }
  merge: { agent: merger, on: { success: complete } }
";

const DONE: &str =
    r#"{"outcome":"success","package":{"summary":"Did a part of it"},"profile":"lenient"}"#;

/// `HO-002` and `HO-003` are offered.
pub(crate) async fn fanned_out(world: &World) {
    world.started("s", "fan").await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/complete", DONE).await.is(200);
}

pub(crate) async fn blocked(world: &World, no: u64, attempted: &str) {
    let package = json!({"blocked_reason": "security_concern", "attempted": [attempted],
        "blockers": [format!("not without {attempted}")]});
    let body = json!({"outcome": "blocked", "package": package, "profile": "lenient"});
    world.post(&format!("/api/v1/handoffs/{no}/accept"), "{}").await.is(200);
    let complete = format!("/api/v1/handoffs/{no}/complete");
    world.post(&complete, &body.to_string()).await.is(200);
}

fn one_agent() -> String {
    FAN.replace("coder", "worker").replace("tester", "worker")
}

async fn agents(world: &World) -> Value {
    world.get("/api/v1/runs/s").await.is(200)["currentAgents"].clone()
}

#[tokio::test]
async fn who_has_the_work_of_several_branches_says_which_is_handed_on() {
    let world = world_of(&[&one_agent()]).await;
    fanned_out(&world).await;
    let document = "<handoff><from>worker</from><to>merger</to><status>success</status>\
        <summary>Wrote part B</summary></handoff>";
    let xml = [("content-type", "application/xml")];
    let sends = async |path: &str| world.client.send("POST", path, &xml, document).await;
    let problem = sends("/api/v1/documents").await.refuses(422, "which_handoff");
    let expected = "`worker` has the work of several branches: handoff 2 (HO-002) in the branch `a`, \
        handoff 3 (HO-003) in the branch `b`; say which one is meant with `--handoff`, over HTTP `handoff`";
    assert!(problem["detail"].as_str().unwrap().starts_with(expected), "{problem}");
    let create = |more: &str| {
        format!(
            r#"{{"action":"create","storyId":"s","fromAgent":"worker","toAgent":"merger","payload":{{"summary":"Wrote part B"}}{more}}}"#
        )
    };
    let refused = world.post("/api/handoffs", &create("")).await.is(422);
    assert_eq!(refused["code"], "which_handoff", "{refused}");
    let body = r#"{"run":"s","fromAgent":"worker","toAgent":"merger","package":{"summary":"Wrote part B"}}"#;
    world.post("/api/v1/handoffs", body).await.refuses(422, "which_handoff");

    sends("/api/v1/documents?handoff=3&dryRun=true&profile=lenient").await.is(200);
    let named = body.replace("{\"run\"", "{\"handoff\":\"HO-003\",\"profile\":\"lenient\",\"run\"");
    world.post("/api/v1/handoffs?dryRun=true", &named).await.is(200);
    world.post("/api/handoffs", &create(r#","handoff":3"#)).await.is(200);
    let row = world.get("/api/v1/handoffs/3").await.is(200);
    assert_eq!(row["state"], "completed", "{row}");
    // Only one is left, and is meant.
    sends("/api/v1/documents?profile=lenient").await.is(201);
    assert_eq!(agents(&world).await, json!(["merger"]));
}

#[tokio::test]
async fn blockers_of_several_branches_are_consolidated_or_named() {
    let world = world_of(&[FAN]).await;
    fanned_out(&world).await;
    blocked(&world, 2, "a key").await;
    blocked(&world, 3, "a token").await;
    assert_eq!(agents(&world).await, json!(["security-check", "security-check"]));
    let reroute = async |to: &str, cause: &str, more: &str| {
        let body = format!(r#"{{"to":"{to}","cause":"{cause}","reason":"one of them"{more}}}"#);
        world.post("/api/v1/runs/s/reroute", &body).await
    };
    let problem = reroute("architecture", "outside_phase", "").await;
    let problem = problem.refuses(422, "which_handoff");
    let expected = "agents are resolving blockers of several branches: handoff 4 (HO-004) in the \
        branch `a`, handoff 5 (HO-005) in the branch `b`";
    assert!(problem["detail"].as_str().unwrap().starts_with(expected), "{problem}");
    let one = r#","handoff":"HO-005""#;
    reroute("architecture", "outside_phase", one).await.is(200);
    assert_eq!(agents(&world).await, json!(["security-check", "architecture"]));
    // The one that is there already stays.
    reroute("architecture", "consolidate", "").await.is(200);
    assert_eq!(agents(&world).await, json!(["architecture", "architecture"]));
    reroute("architecture", "consolidate", "").await.refuses(422, "not_an_edge");
    reroute("specification", "consolidate", "").await.is(200);
    assert_eq!(agents(&world).await, json!(["specification", "specification"]));
}

#[tokio::test]
async fn a_gate_in_one_branch_shows_only_its_own_blockers() {
    let world = world_of(&[FAN]).await;
    fanned_out(&world).await;
    blocked(&world, 2, "a key").await;
    blocked(&world, 3, "a token").await;
    let body = r#"{"to":"human","cause":"major_decision","reason":"decide","handoff":"HO-005"}"#;
    world.post("/api/v1/runs/s/reroute", body).await.is(200);
    let inbox = world.get("/api/v1/inbox").await.is(200);
    assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
    assert_eq!(inbox["items"][0]["blockers"], json!(["not without a token"]));
}

#[tokio::test]
async fn each_loose_branch_is_an_item_of_its_own_with_a_start_of_its_own() {
    let fan = FAN
        .replace("to: [a, b]", "to: [a, b, c]")
        .replace("  merge: {", "  c: { agent: writer, on: { success: merge } }\n  merge: {");
    let world = world_of(&[&fan]).await;
    fanned_out(&world).await;
    world.post("/api/v1/handoffs/2/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/2/complete", DONE).await.is(200);
    world.post("/api/v1/runs/s/cleanup", "{}").await.is(200);
    let inbox = world.get("/api/v1/inbox").await.is(200);
    let items = inbox["items"].as_array().unwrap();
    let shown = |it: &Value| {
        assert_eq!(it["sender"], json!([]), "the words of branch `a` are not about this one");
        let start = &it["choices"][0];
        [&it["why"], &start["command"], &start["then"]].map(|it| it.as_str().unwrap().to_owned())
    };
    let expected = |branch: &str, agent: &str, no: &str| {
        [
            format!(
                "The baton of the branch `{branch}` lies loose at plan: {no} to {agent} was \
                 cancelled, and no agent has the work"
            ),
            format!("baton run start s --to {agent}"),
            format!("HO-006 goes to {agent}, for the step {branch}"),
        ]
    };
    let shown: Vec<_> = items.iter().map(shown).collect();
    assert_eq!(shown, [expected("b", "tester", "HO-003"), expected("c", "writer", "HO-004")]);
    world.post("/api/v1/runs", r#"{"story":"s","toAgent":"writer"}"#).await.is(201);
    assert_eq!(agents(&world).await, json!(["writer"]));
}

//! What an agent is told, and that the server takes what its commands send.

use baton_core::hash::Hash;

use crate::world::*;

/// The story `a/b#1` is with the analyst as handoff 1.
async fn started() -> World {
    let world = world().await;
    world.started("a/b#1", PIPELINE).await;
    world
}

async fn prompt(world: &World, handoff: u32) -> String {
    let reply = world.get(&format!("/api/v1/handoffs/{handoff}/prompt")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.text
}

/// Sends what the first command of a prompt with this in it would send.
async fn does(world: &World, prompt: &str, part: &str) {
    let mut commands = prompt.split("```sh\n").skip(1);
    let command = commands.find(|it| it.contains(part)).unwrap_or_else(|| panic!("{part}"));
    let (line, rest) = command.split_once(" <<'BATON'\n").unwrap();
    let (body, _) = rest.split_once("\nBATON\n").unwrap();
    let own = format!("http://{}", world.client.address);
    let path = line.split(' ').find_map(|it| it.strip_prefix(&own)).unwrap();
    world.post(path, &filled(body)).await.is(200);
}

/// The marks without quotes stand for values; those in quotes are texts as they are.
fn filled(body: &str) -> String {
    let line = |line: &str| match line.split_once("\": <") {
        Some((key, rest)) => {
            let (_, after) = rest.rsplit_once('>').unwrap();
            format!("{key}\": true{after}")
        }
        None => line.to_owned(),
    };
    body.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_prompt_is_plain_text_with_the_name_that_was_called() {
    let world = started().await;
    let reply = world.get("/api/v1/handoffs/1/prompt").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    let hash = Hash::of(reply.text.as_bytes()).to_string();
    assert_eq!(reply.header("x-baton-prompt-hash"), Some(hash.as_str()));
    let own = format!("http://{}", world.client.address);
    let top = format!("DASHBOARD_URL = {own}\nSTORY_ID = a/b#1\n");
    assert!(reply.text.starts_with(&top), "{}", reply.text);
    assert!(reply.text.contains(&format!("curl -sS -X POST {own}/api/handoffs")), "{}", reply.text);
}

#[tokio::test]
async fn a_prompt_is_found_by_every_name_of_its_handoff() {
    let world = started().await;
    for name in
        ["1/prompt", "1%2FHO-001/prompt", "a%2Fb%231%2FHO-001/prompt", "HO-001/prompt?run=1"]
    {
        assert_eq!(world.get(&format!("/api/v1/handoffs/{name}")).await.status, 200, "{name}");
    }
    let nobody = "00000000-0000-7000-8000-000000000000";
    for name in ["9", "1%2FHO-009", "1%2Fx", nobody] {
        let reply = world.get(&format!("/api/v1/handoffs/{name}/prompt")).await;
        reply.refuses(404, "no_such_handoff");
    }
}

#[tokio::test]
async fn a_face_and_a_budget_may_be_asked_for() {
    let world = started().await;
    let block = world.get("/api/v1/handoffs/1/prompt?face=block").await.text;
    assert!(block.contains("```baton\n") && !block.contains("-X POST http://127"), "{block}");
    let short = world.get("/api/v1/handoffs/1/prompt?budget=1").await.text;
    assert!(short.contains("[CUT HERE for length"), "{short}");
    for query in ["face=fax", "budget=-1", "budget=many", "colour=red"] {
        let reply = world.get(&format!("/api/v1/handoffs/1/prompt?{query}")).await;
        assert_eq!(reply.status, 400, "{query}: {}", reply.text);
    }
}

#[tokio::test]
async fn what_the_curl_lines_send_is_taken() {
    let world = started().await;
    let analyst = prompt(&world, 1).await;
    does(&world, &analyst, "\"action\": \"accept\"").await;
    does(&world, &analyst, "\"toAgent\": \"implementer\"").await;
    let implementer = prompt(&world, 2).await;
    does(&world, &implementer, "/clarify").await;
    does(&world, &prompt(&world, 3).await, "/answer").await;
    does(&world, &implementer, "\"action\": \"accept\"").await;
    does(&world, &implementer, "\"kind\": \"escalation\"").await;
    world.get("/api/v1/handoffs/4/prompt").await.refuses(422, "no_prompt");
    does(&world, &implementer, "\"action\": \"reject\"").await;
    world.get("/api/v1/handoffs/2/prompt").await.refuses(409, "finished");
}

/// The receiver takes a handoff and hands it to `to`, by its own prompt.
async fn passes_on(world: &World, handoff: u32, to: &str) {
    let told = prompt(world, handoff).await;
    does(world, &told, "\"action\": \"accept\"").await;
    does(world, &told, &format!("\"toAgent\": \"{to}\"")).await;
}

#[tokio::test]
async fn a_gated_project_goes_by_what_its_prompts_say() {
    let world = world().await;
    world.started("shop", GATED).await;
    let approve = |gate: u32| format!("/api/v1/inbox/{gate}/answer");
    let yes = r#"{"answer":"approve"}"#;
    passes_on(&world, 1, "architecture").await;
    world.post(&approve(2), yes).await.is(200);
    passes_on(&world, 3, "estimation").await;
    passes_on(&world, 5, "implementation").await;
    world.post(&approve(6), yes).await.is(200);
    let told = prompt(&world, 7).await;
    does(&world, &told, "\"action\": \"accept\"").await;
    for check in ["lint", "types", "tests", "build"] {
        let told = told.replace("\"lint\"", &format!("\"{check}\""));
        does(&world, &told, "/api/v1/handoffs/7/evidence").await;
    }
    does(&world, &told, "\"toAgent\": \"orchestrator\"").await;
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!(run["status"], "completed", "{run}");
}

/// Lists have the beginning of a long reason and say so; one handoff by itself has all of it.
#[tokio::test]
async fn a_long_reason_is_whole_where_a_handoff_is_shown_by_itself() {
    let world = started().await;
    let analyst = prompt(&world, 1).await;
    does(&world, &analyst, "\"action\": \"accept\"").await;
    does(&world, &analyst, "\"toAgent\": \"implementer\"").await;
    let reason = format!("{}The end.", "A point of the review. ".repeat(100));
    let reject = serde_json::json!({ "action": "reject", "handoffId": 2, "reason": reason });
    let rejected = world.post("/api/handoffs", &reject.to_string()).await.is(200);
    assert_eq!(rejected["returnHandoff"]["reason"], *reason);
    let list = world.get("/api/handoffs?storyId=a%2Fb%231").await.is(200);
    let excerpt = list["handoffs"][2]["reason"].as_str().unwrap();
    let cut = " … [cut here: the handoff by itself has the whole text]";
    let beginning = excerpt.strip_suffix(cut).unwrap();
    assert!(reason.starts_with(&format!("{beginning} ")), "{excerpt}");
    assert!((950..=1000).contains(&excerpt.chars().count()), "{excerpt}");
    assert_eq!(list["handoffs"][2]["reason_truncated"], true);
    assert_eq!(list["handoffs"][1]["rejection_reason"], *excerpt);
    assert_eq!(list["handoffs"][1]["ended_reason_truncated"], true);
    assert_eq!(list["handoffs"][0].get("reason_truncated"), None);
    let native = world.get("/api/v1/handoffs?run=1").await.is(200);
    assert_eq!(native["items"][2]["reasonTruncated"], true);
    let one = world.get("/api/v1/handoffs/3").await.is(200);
    assert_eq!(one["reason"], *reason);
    assert_eq!(one.get("reasonTruncated"), None);
    assert!(prompt(&world, 3).await.contains("The end."));
    let too_long = serde_json::json!({ "reason": "x".repeat(64 * 1024 + 1) });
    world.post("/api/v1/handoffs/3/reject", &too_long.to_string()).await.refuses(400, "bad_text");
}

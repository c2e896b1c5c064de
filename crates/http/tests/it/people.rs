//! What people and agents do is told as it was, and only people do what people may.

use serde_json::{Value, json};

use crate::world::*;

const GATED: &str = "\
name: gated
start: build
steps:
  build:
    agent: implementer
    on:
      success: { to: review, raise: { cost: 500 }, gate: { type: blocking, name: Plan, approvers: { need: 2, of: [ana, ben] } } }
  review:
    agent: reviewer
    on:
      success: { to: complete, raise: { cost: 500 } }
";

fn package(summary: &str) -> String {
    let decisions = json!([{ "id": "D-1", "decision": "Use SQLite", "rationale": "One file" }]);
    let package = json!({ "summary": summary, "decisions": decisions });
    json!({ "outcome": "success", "package": package }).to_string()
}

/// Handoff 2 is the gate before the review; `dora` made its package.
async fn at_gate() -> World {
    let world = world_of(&[GATED]).await;
    world.started("s-1", "gated").await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    done(&world, 1).await;
    world
}

async fn done(world: &World, no: u32) {
    let path = format!("/api/v1/handoffs/{no}/complete");
    let body = package("Built the invoice form in src/pay.rs, 3 files");
    world.post_with(&path, &[("baton-as", "dora")], &body).await.is(200);
}

async fn as_person(world: &World, by: &str, path: &str, body: &Value) -> Reply {
    world.post_with(path, &[("baton-as", by)], &body.to_string()).await
}

async fn get_as(world: &World, by: &str, path: &str) -> Reply {
    world.get_with(path, &[("baton-as", by)]).await
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|it| it[key] == value).unwrap()
}

#[tokio::test]
async fn no_name_of_an_agent_does_what_only_a_person_may() {
    let world = at_gate().await;
    let approve = json!({ "answer": "approve" });
    world.post("/api/v1/runs/1/decisions", r#"{"decision":"Use files"}"#).await.is(201);
    world.post("/api/v1/runs/1/decisions/2/lock", "{}").await.is(200);
    for name in ["agent:implementer", "AGENT:reviewer", "reviewer", "human", "orchestrator"] {
        let refused = as_person(&world, name, "/api/v1/inbox/2/answer", &approve).await;
        refused.refuses(409, "not_a_person");
        let to = json!({ "to": name });
        as_person(&world, "ana", "/api/v1/inbox/2/delegate", &to)
            .await
            .refuses(409, "not_a_person");
        let text = json!({ "handoff": "HO-001", "parts": ["reason"], "reason": "x" });
        let path = "/api/v1/runs/1/redactions";
        as_person(&world, name, path, &text).await.refuses(409, "not_a_person");
        let other = json!({ "decision": "Use MySQL" });
        let path = "/api/v1/runs/1/decisions/2/supersede";
        as_person(&world, name, path, &other).await.refuses(409, "decision_locked");
    }
    as_person(&world, "bat\u{43e}n:x", "/api/v1/inbox/2/answer", &approve)
        .await
        .refuses(400, "bad_name");
}

#[tokio::test]
async fn who_speaks_as_an_agent_is_recorded_as_a_reader_and_answers_for_no_other() {
    let world = at_gate().await;
    let path = "/api/v1/runs/1/context/api";
    world.put(path, r#"{"version":0,"text":"v1"}"#).await.is(201);
    for url in [path, "/api/v1/runs/1/context", "/api/v1/runs/1/context/api/history"] {
        get_as(&world, "agent:reviewer", url).await.is(200);
        let events = world.get("/api/v1/runs/1/events?limit=500").await.is(200);
        let last = events["items"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (&last["name"], &last["body"]["by"]),
            (&json!("context.read"), &json!("reviewer"))
        );
    }
    world.get(&format!("{path}/history?x=1")).await.refuses(400, "unknown_field");
    let ask = r#"{"agent":"reviewer","to":"implementer","question":"Which one?"}"#;
    world.post("/api/v1/runs/1/questions", ask).await.is(201);
    let human = r#"{"agent":"reviewer","to":"human","question":"Which one?"}"#;
    world.post("/api/v1/runs/1/questions", human).await.refuses(400, "unknown_agent");
    let said = json!({ "answer": "SQLite" });
    let path = "/api/v1/runs/1/questions/1/answer";
    as_person(&world, "agent:reviewer", path, &said).await.refuses(409, "not_asked");
    as_person(&world, "agent:implementer", path, &said).await.is(200);
}

#[tokio::test]
async fn a_persons_reject_is_told_as_one_and_counts_for_the_work() {
    let world = at_gate().await;
    let reject = json!({ "answer": "reject", "comment": "more tests" });
    as_person(&world, "ana", "/api/v1/inbox/2/answer", &reject).await.is(200);
    let shown = world.get("/api/v1/handoffs/2").await.is(200);
    assert_eq!(
        (&shown["question"]["answer"], &shown["question"]["by"]),
        (&json!("reject"), &json!("ana"))
    );
    assert_eq!(shown["outcome"], Value::Null, "a reject is no success");
    let audit = world.get("/api/v1/audit").await.is(200);
    let gate = find(&audit["items"], "label", "HO-002");
    assert_eq!((&gate["answer"], &gate["answeredBy"]), (&json!("reject"), &json!("ana")));
    assert_eq!((&gate["outcome"], &gate["approvedBy"]), (&Value::Null, &Value::Null));
    let csv = world.get("/api/v1/audit/export?format=csv").await.text;
    assert!(csv.contains(",reject,ana,"), "{csv}");
    let found = world.get("/api/v1/insights").await.is(200);
    let implementer = find(&found["agents"], "agent", "implementer");
    assert_eq!(
        (&implementer["firstPassYield"], &implementer["reworkRounds"]),
        (&json!(0.0), &json!(1))
    );
    assert_eq!(implementer["rejectedBy"]["person"], 1);
    let edge = find(&found["edges"], "to", "review");
    assert_eq!((&edge["from"], &edge["rejectedBy"]["person"]), (&json!("build"), &json!(1)));
    let reason = &found["rejectReasons"][0];
    assert_eq!(
        (&reason["reason"], &reason["from"], &reason["to"]),
        (&json!("more tests"), &json!("build"), &json!("review"))
    );
    // The same decision comes again with the work, and has its number.
    world.post("/api/v1/handoffs/3/accept", "{}").await.is(200);
    done(&world, 3).await;
    let all = world.get("/api/v1/runs/1/decisions").await.is(200);
    let decision = find(&all["items"], "decision", "Use SQLite");
    assert_eq!((&decision["number"], &decision["status"]), (&json!(1), &json!("standing")));
}

#[tokio::test]
async fn every_vote_is_shown_wherever_the_gate_is() {
    let world = at_gate().await;
    let approve = json!({ "answer": "approve", "comment": "read it twice" });
    as_person(&world, "ana", "/api/v1/inbox/2/answer", &approve).await.is(200);
    let to = json!({ "to": "emil", "comment": "I am away" });
    as_person(&world, "ben", "/api/v1/inbox/2/delegate", &to).await.is(200);
    let last = json!({ "answer": "approve", "comment": "fine" });
    as_person(&world, "emil", "/api/v1/inbox/2/answer", &last).await.is(200);
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!(run["passedGates"][0]["by"], "ana, emil");
    let shown = world.get("/api/v1/handoffs/2").await.is(200)["question"].clone();
    assert_eq!(shown["approvals"][1]["onBehalfOf"], "ben");
    assert_eq!(
        (&shown["delegated"][0]["by"], &shown["delegated"][0]["to"]),
        (&json!("ben"), &json!("emil"))
    );
    assert_eq!(world.get("/api/v1/handoffs/3").await.is(200)["approvedBy"], "ana, emil");
    let audit = world.get("/api/v1/audit").await.is(200);
    let onward = find(&audit["items"], "label", "HO-003");
    assert_eq!((&onward["approvedBy"], &onward["reasonBy"]), (&json!("ana, emil"), &json!("emil")));
    let talk = world.get("/api/v1/runs/1/conversation").await.is(200);
    let items = talk["items"].as_array().unwrap();
    let line = |it: &Value| {
        Some((
            it["by"].as_str()?.to_owned(),
            it["line"].as_str()?.to_owned(),
            it["text"].as_str().map(str::to_owned),
        ))
    };
    let answers: Vec<_> =
        items.iter().filter(|it| it["kind"] == "answer").filter_map(line).collect();
    let said = |by: &str, line: &str, text: Option<&str>| {
        (by.to_owned(), line.to_owned(), text.map(str::to_owned))
    };
    assert_eq!(
        answers,
        [
            said("ana", "ana approves", Some("read it twice")),
            said("ben", "ben passes the vote on to emil", Some("I am away")),
            said("emil", "emil approves for ben", Some("fine")),
            said("emil", "emil answers: approve", None),
        ]
    );
    let onward = items.iter().rfind(|it| it["kind"] == "handoff").unwrap();
    assert_eq!(onward["text"], Value::Null, "the words are emil's");
    let decided = world.get("/api/v1/runs/1/decisions").await.is(200);
    let people: Vec<&Value> =
        decided["items"].as_array().unwrap().iter().filter_map(|it| it.get("person")).collect();
    assert_eq!(people, ["ana", "emil"]);
    let page = world.get("/handoffs/2").await.text;
    for part in [
        "ana",
        "read it twice",
        "passed it on to <bdi>emil</bdi>",
        "for <bdi>ben</bdi>",
        "approve by <bdi>ana, emil</bdi>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = world.get("/handoffs/3").await.text;
    assert!(page.contains("<bdi>emil</bdi> says"), "{page}");
}

#[tokio::test]
async fn a_raised_gate_is_among_the_gates_that_were_passed() {
    let world = at_gate().await;
    for by in ["ana", "ben"] {
        let approve = json!({ "answer": "approve" });
        as_person(&world, by, "/api/v1/inbox/2/answer", &approve).await.is(200);
    }
    world.post("/api/v1/handoffs/3/accept", "{}").await.is(200);
    let done = r#"{"outcome":"success","package":{"summary":"Read all of src/pay.rs","cost":800}}"#;
    world.post("/api/v1/handoffs/3/complete", done).await.is(200);
    as_person(&world, "carl", "/api/v1/inbox/4/answer", &json!({ "answer": "approve" }))
        .await
        .is(200);
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!(texts(&json!({ "items": run["passedGates"] }), "name"), ["Plan", "raised"]);
    assert_eq!(texts(&json!({ "items": run["passedGates"] }), "by"), ["ana, ben", "carl"]);
}

#[tokio::test]
async fn an_open_decision_is_asked_until_a_person_decides_it() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let asked = json!([{ "id": "pending", "decision": "A or B?" }, { "id": "pending", "decision": "When?" }]);
    let body = json!({ "outcome": "needs_clarification", "package": { "questions": ["A or B?"], "decisions": asked }, "profile": "lenient" });
    world.post("/api/v1/handoffs/1/complete", &body.to_string()).await.is(200);
    let all = world.get("/api/v1/runs/1/decisions?all=true").await.is(200);
    assert_eq!(texts(&all, "status"), ["open", "open"]);
    assert!(
        texts(&all, "attribution").iter().all(|it| it.starts_with("Asked by Analyst")),
        "{all}"
    );
    let answer = json!({ "answer": "continue", "comment": "B, because it is cheaper" });
    as_person(&world, "ana", "/api/v1/inbox/2/answer", &answer).await.is(200);
    let first = world.get("/api/v1/runs/1/decisions/1").await.is(200);
    assert_eq!((&first["status"], &first["person"]), (&json!("answered"), &json!("ana")));
    assert_eq!(first["rationale"], "B, because it is cheaper");
    assert!(first["attribution"].as_str().unwrap().starts_with("Decided by ana at"), "{first}");
    assert_eq!(first["askedBy"]["agentId"], "analyst");
    let second = world.get("/api/v1/runs/1/decisions/2").await.is(200);
    assert_eq!(second["status"], "open", "one answer is to one question");
}

#[tokio::test]
async fn what_replaces_a_decision_is_about_the_same_and_who_wrote_it_down_is_shown() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let path = "/api/v1/runs/1/decisions";
    let first = r#"{"decision":"Use SQLite","subject":"storage","agent":"analyst"}"#;
    let made = world.post(path, first).await.is(201);
    assert_eq!(made["recordedBy"], "local");
    let next =
        world.post(&format!("{path}/1/supersede"), r#"{"decision":"Use MySQL"}"#).await.is(201);
    assert_eq!(next["subject"], "storage");
    let third = r#"{"decision":"Use Postgres","subject":"storage"}"#;
    assert_eq!(world.post(path, third).await.is(201)["conflictsWith"], json!([2]));
    let own =
        as_person(&world, "agent:analyst", path, &json!({ "decision": "No cache" })).await.is(201);
    assert_eq!((&own["decidedBy"]["agentId"], own.get("recordedBy")), (&json!("analyst"), None));
}

#[tokio::test]
async fn a_redacted_decision_says_so() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let path = "/api/v1/runs/1/decisions";
    world.post(path, r#"{"decision":"Pay Mr Smith"}"#).await.is(201);
    let events = world.get("/api/v1/runs/1/events?limit=500").await.is(200);
    let recorded = find(&events["items"], "name", "decision.recorded");
    let texts = json!({ "texts": [recorded["body"]["text"]], "reason": "a name" });
    as_person(&world, "ana", "/api/v1/runs/1/redactions", &texts).await.is(200);
    let shown = world.get(&format!("{path}/1")).await.is(200);
    assert_eq!(shown["decision"], "[redacted]");
    let talk = world.get("/api/v1/runs/1/conversation").await.is(200);
    let items = talk["items"].as_array().unwrap();
    let told: Vec<&Value> = items.iter().filter(|it| it["kind"] == "redaction").collect();
    assert_eq!(told.len(), 1, "the salt is nobody's text");
    assert_eq!(
        (&told[0]["line"], &told[0]["text"]),
        (&json!("ana redacts a text"), &json!("a name"))
    );
    let decision = items.iter().find(|it| it["kind"] == "decision").unwrap();
    assert_eq!(decision["decisions"][0]["decision"], "[redacted]");
}

#[tokio::test]
async fn the_page_follows_who_the_person_says_they_are() {
    let world = at_gate().await;
    let page = world.get("/").await.text;
    assert!(page.contains("id=\"you-name\""), "{page}");
    assert!(page.contains("baton approve 1/HO-002 --as NAME"), "{page}");
    let button = |page: &str, id: &str| {
        let at = page.find(&format!("id=\"{id}\"")).unwrap();
        page[at..].split_once('>').unwrap().0.to_owned()
    };
    assert!(button(&page, "approve-2").contains(" disabled"));
    let page = get_as(&world, "ana", "/").await.text;
    assert!(!button(&page, "approve-2").contains(" disabled"), "{page}");
    assert!(!button(&page, "pass-2").contains(" disabled"), "{page}");
    for part in [
        "value=\"ana\"",
        "baton approve 1/HO-002 --as ana",
        "baton delegate 2 --to PERSON --as ana",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("recorded as <code><bdi>ana</bdi></code>, unauthenticated"), "{page}");
}

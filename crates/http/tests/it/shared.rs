//! What agents and people share in a run: the conversation, decisions, context documents, questions.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::{PIPELINE, World, texts, world};

async fn begun() -> World {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world
}

fn numbers(list: &Value) -> Vec<u64> {
    list["items"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_decision_is_recorded_replaced_and_locked() {
    let world = begun().await;
    let first = json!({"decision": "Use SQLite", "rationale": "One file", "subject": "storage",
        "alternatives": ["PostgreSQL"], "agent": "analyst"});
    let made = world.post("/api/v1/runs/s-1/decisions", &first.to_string()).await.is(201);
    assert_eq!((&made["number"], &made["status"]), (&json!(1), &json!("standing")));
    assert_eq!(made["attribution"], "Decided by Analyst at 2025-06-15T15:06:40Z");
    assert_eq!(made["alternatives"], json!(["PostgreSQL"]));
    let other = r#"{"decision":"Use files","subject":"Storage","dependsOn":[1]}"#;
    let by_person = world.post("/api/v1/runs/s-1/decisions", other).await.is(201);
    assert_eq!(by_person["attribution"], "Decided by local at 2025-06-15T15:06:40Z");
    assert_eq!(by_person["conflictsWith"], json!([1]), "one subject, two answers");
    let shown = world.get("/api/v1/runs/s-1/decisions/1").await.is(200);
    assert_eq!((&shown["conflictsWith"], &shown["dependents"]), (&json!([2]), &json!([2])));
    world.post("/api/v1/runs/s-1/decisions/1/lock", "{}").await.is(200);
    let agents = r#"{"decision":"Use PostgreSQL","agent":"analyst"}"#;
    let path = "/api/v1/runs/s-1/decisions/1/supersede";
    world.post(path, agents).await.refuses(409, "decision_locked");
    let third = world.post(path, r#"{"decision":"Use PostgreSQL"}"#).await.is(201);
    assert_eq!((&third["number"], &third["supersedes"]), (&json!(3), &json!(1)));
    world.post(path, r#"{"decision":"x"}"#).await.refuses(409, "decision_superseded");
    let all = world.get("/api/v1/runs/s-1/decisions").await.is(200);
    assert_eq!(numbers(&all), [1, 2, 3]);
    assert_eq!(texts(&all, "status"), ["superseded", "standing", "standing"]);
    assert_eq!(all["items"][0]["supersededBy"], 3);
    assert_eq!(all["items"][0]["lockedBy"], "local");
    world.get("/api/v1/runs/s-1/decisions/9").await.refuses(404, "no_such_decision");
    let dry = world.post("/api/v1/runs/s-1/decisions?dryRun=true", other).await.is(200);
    assert_eq!(dry["dryRun"], true);
}

#[tokio::test]
async fn an_open_decision_is_listed_as_such_and_withdrawn_with_its_package() {
    let world = begun().await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let done = r#"{"outcome":"success","package":{"plan":["x"],"decisions":[
        {"id":"D-1","decision":"JWT"},{"id":"pending","decision":"A or B?"}]},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1/complete", done).await.is(200);
    let counting = world.get("/api/v1/runs/1/decisions").await.is(200);
    assert_eq!(
        (numbers(&counting), texts(&counting, "status")),
        (vec![1], vec!["standing".into()])
    );
    let all = world.get("/api/v1/runs/1/decisions?all=true").await.is(200);
    assert_eq!(texts(&all, "status"), ["standing", "open"]);
    world.post("/api/v1/handoffs/2/reject", r#"{"reason":"unclear"}"#).await.is(200);
    let all = world.get("/api/v1/runs/1/decisions?all=true").await.is(200);
    assert_eq!(texts(&all, "status"), ["withdrawn", "open"]);
    let path = "/api/v1/runs/1/decisions/2/supersede";
    world.post(path, r#"{"decision":"A"}"#).await.is(201);
    let all = world.get("/api/v1/runs/1/decisions?all=true").await.is(200);
    assert_eq!(texts(&all, "status"), ["withdrawn", "superseded", "standing"]);
}

#[tokio::test]
async fn a_conversation_is_read_in_both_directions_with_its_authors() {
    let world = begun().await;
    for n in 1..=7 {
        let text = format!(r#"{{"text":"note {n}\n[Read] a{n}.rs","agent":"analyst"}}"#);
        world.post("/api/v1/runs/s-1/messages", &text).await.is(200);
    }
    world.post("/api/v1/runs/s-1/messages", r#"{"text":"a person says"}"#).await.is(200);
    let all = world.get("/api/v1/runs/s-1/conversation").await.is(200);
    let first = &all["items"][0];
    assert_eq!(first["kind"], "handoff");
    assert_eq!(first["line"], "Handing off to Analyst... (Analyze)");
    assert_eq!(all["items"][1]["text"], "note 1");
    assert_eq!(all["items"][1]["tools"], json!(["[Read] a1.rs"]));
    assert_eq!(all["items"][1]["agent"]["agentName"], "Analyst");
    assert_eq!(
        (&all["items"][8]["agent"], &all["items"][8]["by"]),
        (&json!(null), &json!("local"))
    );
    assert_eq!(all["previous"], Value::Null);
    let position = |page: &Value, n: usize| page["items"][n]["position"].as_u64().unwrap();
    // Back from the end, three at a time.
    let mut seen = Vec::new();
    let mut path = "/api/v1/runs/s-1/conversation?limit=3".to_owned();
    loop {
        let page = world.get(&path).await.is(200);
        let n = page["items"].as_array().unwrap().len();
        seen.splice(0..0, (0..n).map(|it| position(&page, it)));
        let Some(previous) = page["previous"].as_str() else { break };
        path = format!("/api/v1/runs/s-1/conversation?limit=3&before={previous}");
    }
    let expected: Vec<u64> = (0..9).map(|it| position(&all, it)).collect();
    assert_eq!(seen, expected);
    // On from the beginning.
    let mut seen = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let path = format!("/api/v1/runs/s-1/conversation?limit=4&after={after}");
        let page = world.get(&path).await.is(200);
        let n = page["items"].as_array().unwrap().len();
        seen.extend((0..n).map(|it| position(&page, it)));
        after = page["next"].as_str().unwrap().to_owned();
        if n == 0 {
            break;
        }
    }
    assert_eq!(seen, expected);
    let both = "/api/v1/runs/s-1/conversation?after=1&before=2";
    world.get(both).await.refuses(400, "wrong_type");
}

#[tokio::test]
async fn a_context_document_has_versions_and_readers() {
    let world = begun().await;
    let path = "/api/v1/runs/s-1/context/api-design";
    let body = r#"{"version":0,"text":"By path.","agent":"analyst"}"#;
    let made = world.put(path, body).await.is(201);
    assert_eq!((&made["version"], &made["changedBy"]), (&json!(1), &json!("analyst")));
    world.put(path, r#"{"version":1,"text":"By header."}"#).await.is(201);
    let late = world.put(path, r#"{"version":1,"text":"By host.","agent":"implementer"}"#).await;
    let late = late.refuses(409, "context_changed");
    assert_eq!((&late["expectedVersion"], &late["actualVersion"]), (&json!(1), &json!(2)));
    assert_eq!(late["changedBy"], "local");
    let read = world.get(&format!("{path}?agent=implementer")).await.is(200);
    assert_eq!((&read["text"], &read["version"]), (&json!("By header."), &json!(2)));
    let events = world.get("/api/v1/runs/s-1/events").await.is(200);
    let last = events["items"].as_array().unwrap().last().unwrap();
    assert_eq!(last["name"], "context.read");
    assert_eq!(last["body"]["documents"], json!([{"key": "api-design", "version": 2}]));
    world.get(path).await.is(200);
    let after = world.get("/api/v1/runs/s-1/events").await.is(200);
    let n_events = |it: &Value| it["items"].as_array().unwrap().len();
    assert_eq!(n_events(&after), n_events(&events), "what a person reads is not recorded");
    let history = world.get(&format!("{path}/history")).await.is(200);
    assert_eq!(texts(&history, "text"), ["By path.", "By header."]);
    let talk = world.get("/api/v1/runs/s-1/conversation").await.is(200);
    let changes = talk["items"].as_array().unwrap().iter().filter(|it| it["kind"] == "context");
    let authors: Vec<&Value> = changes.map(|it| &it["agent"]["agentName"]).collect();
    assert_eq!(authors, [&json!("Analyst"), &Value::Null], "a person is no unknown agent");
    world.get("/api/v1/runs/s-1/context/other").await.refuses(404, "no_such_context");
    world.get("/api/v1/runs/s-1/context/Not%20A%20Key").await.refuses(400, "bad_name");
}

#[tokio::test]
async fn an_agent_asks_another_and_waits_for_the_answer() {
    let world = begun().await;
    let ask = r#"{"agent":"implementer","to":"analyst","question":"Which database?"}"#;
    let asked = world.post("/api/v1/runs/s-1/questions", ask).await.is(201);
    assert_eq!((&asked["number"], &asked["status"]), (&json!(1), &json!("open")));
    let back = r#"{"agent":"analyst","to":"implementer","question":"Which one?"}"#;
    world.post("/api/v1/runs/s-1/questions", back).await.refuses(409, "question_cycle");
    let waiting = {
        let client = world.client;
        tokio::spawn(async move {
            let path = "/api/v1/runs/s-1/questions/1?waitSeconds=20";
            client.send("GET", path, &[], "").await
        })
    };
    let path = "/api/v1/runs/s-1/questions/1/answer";
    let wrong = r#"{"answer":"x","agent":"reviewer"}"#;
    world.post(path, wrong).await.refuses(409, "not_asked");
    world.post(path, r#"{"answer":"SQLite","agent":"analyst"}"#).await.is(200);
    let answered = waiting.await.unwrap().is(200);
    assert_eq!((&answered["status"], &answered["answer"]), (&json!("answered"), &json!("SQLite")));
    assert_eq!(answered["answeredBy"]["agentName"], "Analyst");
    // Without an answer it is put once more, and then given up.
    world.post("/api/v1/runs/s-1/questions", ask).await.is(201);
    let wait = "/api/v1/runs/s-1/questions/2?waitSeconds=1";
    world.clock.advance(SignedDuration::from_secs(30));
    let repeated = world.get(wait).await.is(200);
    assert_eq!((&repeated["status"], &repeated["attempts"]), (&json!("open"), &json!(2)));
    world.clock.advance(SignedDuration::from_secs(30));
    let given_up = world.get(wait).await.is(200);
    assert_eq!(given_up["status"], "unanswered");
    let listed = world.get("/api/v1/runs/s-1/questions").await.is(200);
    assert_eq!(texts(&listed, "status"), ["answered", "unanswered"]);
}

#[tokio::test]
async fn every_finding_of_a_review_is_answered_and_the_answers_are_decisions() {
    let world = world().await;
    let review = json!({
        "issue_number": 7, "pr_number": 12, "review_status": "changes_requested",
        "critical_count": 1, "important_count": 1,
        "blocking_issues": [
            { "location": "src/a.rs:1", "severity": "critical", "description": "SQL from text" },
            { "location": "src/b.rs:2", "severity": "important", "description": "No limit" },
        ],
    });
    let created = json!({
        "action": "create", "storyId": "s1", "fromAgent": "reviewer-agent",
        "toAgent": "fixer-agent", "payload": review,
    });
    world.post("/api/handoffs", &created.to_string()).await.is(200);
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);

    let fixed = |answers: Value| {
        json!({
            "outcome": "success", "toAgent": "reviewer-agent", "package": {
                "issue_number": 7, "pr_number": 12, "status": "ready-for-re-review",
                "pr_url": "https://example.com/shop/pull/12", "commits_added": 1,
                "fixes_applied": [{ "location": "src/a.rs:1", "description": "A bound parameter" }],
                "dispositions": answers,
            },
        })
        .to_string()
    };
    let accepted = json!({ "location": "src/a.rs:1", "answer": "accept", "reason": "In 71c0b3e" });
    let path = "/api/v1/handoffs/1/complete";
    let refused = world.post(path, &fixed(json!([accepted]))).await.refuses(422, "contract");
    assert_eq!(refused["problems"][0]["rule"], "unanswered_finding", "{refused}");
    let skeleton = refused["skeleton"].to_string();
    assert!(skeleton.contains("src/b.rs:2"), "{refused}");

    let declined =
        json!({ "location": "src/b.rs:2", "answer": "decline", "reason": "MOST_ITEMS is one" });
    world.post(path, &fixed(json!([accepted, declined]))).await.is(200);
    let decisions = world.get("/api/v1/runs/1/decisions").await.is(200).to_string();
    for expected in ["accept: src/a.rs:1", "decline: src/b.rs:2", "MOST_ITEMS is one"] {
        assert!(decisions.contains(expected), "{expected}: {decisions}");
    }
}

#[tokio::test]
async fn subjects_that_look_alike_are_one_subject() {
    let world = begun().await;
    for (decision, subject) in [("Use SQLite", "storage"), ("Use files", "ｓtorage")] {
        let asked = json!({ "decision": decision, "subject": subject }).to_string();
        world.post("/api/v1/runs/s-1/decisions", &asked).await.is(201);
    }
    let shown = world.get("/api/v1/runs/s-1/decisions/1").await.is(200);
    assert_eq!(shown["conflictsWith"], json!([2]));
}

#[tokio::test]
async fn an_unknown_agent_is_answered_with_those_of_the_workflow_of_the_run() {
    let world = world().await;
    world.started("s-1", "issue-to-merge").await;
    let context = json!({ "text": "x", "version": 0, "agent": "nobody" }).to_string();
    let replies = [
        world.post("/api/v1/runs/s-1/messages", r#"{"text":"x","agent":"nobody"}"#).await,
        world.post("/api/v1/runs/s-1/decisions", r#"{"decision":"x","agent":"nobody"}"#).await,
        world.put("/api/v1/runs/s-1/context/a", &context).await,
    ];
    let asked = r#"{"agent":"nobody","to":"nobody","question":"x"}"#;
    let question =
        world.post("/api/v1/runs/s-1/questions", asked).await.refuses(400, "unknown_agent");
    for reply in replies {
        assert_eq!(reply.refuses(400, "unknown_agent")["detail"], question["detail"]);
    }
}

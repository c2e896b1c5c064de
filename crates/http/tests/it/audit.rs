//! The audit log over all runs, and its exports.

use baton_http::ServerLimits;
use baton_wire::project_file;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::store_place::StorePlace;
use crate::world::*;

/// Two runs, the second a day later; the first handoff of each is rejected with a hostile reason.
async fn two_runs() -> World {
    let world = world().await;
    for (run, story) in [(1, "s-1"), (2, "s-2")] {
        world.started(story, PIPELINE).await;
        let path = |command: &str| format!("/api/v1/handoffs/{run}%2FHO-001/{command}");
        world.post(&path("accept"), "{}").await.is(200);
        let done = r#"{"outcome":"success","package":{"plan":["x"]},"reason":"=1+1, \"done\"\nall","profile":"lenient"}"#;
        world.post(&path("complete"), done).await.is(200);
        world.clock.advance(SignedDuration::from_hours(24));
    }
    world
}

#[tokio::test]
async fn the_log_has_every_run_and_is_filtered() {
    let world = two_runs().await;
    let all = world.get("/api/v1/audit").await.is(200);
    assert_eq!(texts(&all, "label"), ["HO-001", "HO-002", "HO-001", "HO-002"]);
    assert_eq!(texts(&all, "story"), ["s-1", "s-1", "s-2", "s-2"]);
    let entry = &all["items"][1];
    assert_eq!(
        (&entry["fromAgent"], &entry["toAgentName"]),
        (&json!("analyst"), &json!("Implementer"))
    );
    assert_eq!(
        (&entry["workflowStep"], &entry["stepName"]),
        (&json!("implement"), &json!("Implement"))
    );
    assert_eq!((&entry["run"], &entry["workflow"]), (&json!(1), &json!("story-pipeline")));
    for (query, expected) in [
        ("order=newest&limit=1", &["4"][..]),
        ("limit=2", &["1", "2"]),
        ("after=2", &["3", "4"]),
        ("agent=orchestrator", &["1", "3"]),
        ("fromDate=2025-06-16", &["3", "4"]),
        ("toDate=2025-06-15T23:00:00Z", &["1", "2"]),
        ("run=s-2&agent=implementer", &["4"]),
        ("agent=nobody", &[]),
    ] {
        let page = world.get(&format!("/api/v1/audit?{query}")).await.is(200);
        let numbers = page["items"].as_array().unwrap().iter();
        let numbers: Vec<String> = numbers.map(|it| it["number"].to_string()).collect();
        assert_eq!(numbers, expected, "{query}");
    }
    for bad in ["agent=X", "fromDate=x", "page=1", "limit=501"] {
        assert_eq!(world.get(&format!("/api/v1/audit?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn an_export_has_a_row_for_each_handoff_in_each_format() {
    let world = two_runs().await;
    let csv = world.get("/api/v1/audit/export?format=csv").await;
    assert_eq!((csv.status, csv.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    let records: Vec<&str> = csv.text.split("\r\n").collect();
    assert_eq!(records.len(), 6, "{}", csv.text);
    assert!(records[0].starts_with("number,id,label,run,"));
    assert!(records[2].contains(r#","'=1+1, ""done""#), "{}", records[2]);

    let json: Value = world.get("/api/v1/audit/export?format=json").await.is(200);
    let json = json.as_array().unwrap().clone();
    let lines = world.get("/api/v1/audit/export?format=jsonl").await;
    let lines: Vec<Value> =
        lines.text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!((json.len(), &json), (4, &lines));
    assert_eq!(json[1]["reason"], "=1+1, \"done\"\nall");
    let some = world.get("/api/v1/audit/export?format=jsonl&run=1&agent=implementer").await;
    assert_eq!(some.text.lines().count(), 1);
    world.get("/api/v1/audit/export?format=xls").await.refuses(400, "wrong_type");
    world.get("/api/v1/audit/export").await.refuses(400, "missing_field");
}

#[tokio::test]
async fn insights_tell_how_handing_off_fares() {
    let world = two_runs().await;
    let found = world.get("/api/v1/insights").await.is(200);
    assert_eq!((&found["handoffs"], &found["isCut"]), (&json!(4), &json!(false)));
    let analyst = found["agents"].as_array().unwrap().iter().find(|it| it["agent"] == "analyst");
    let analyst = analyst.unwrap();
    assert_eq!((&analyst["handoffs"], &analyst["completed"]), (&json!(2), &json!(2)));
    assert_eq!((&analyst["acceptP50Ms"], &analyst["reworkRounds"]), (&json!(0), &json!(0)));
    let edges: Vec<&Value> = found["edges"].as_array().unwrap().iter().collect();
    assert_eq!(edges.len(), 2, "{found}");
    assert_eq!(found["workflows"][0]["workflow"], "story-pipeline");
    assert_eq!(found["weeks"].as_array().unwrap().len(), 2, "a Sunday and a Monday");
    let one = world.get("/api/v1/insights?days=1&workflow=story-pipeline").await.is(200);
    assert_eq!(one["handoffs"], 2, "the second run is a day old");
    world.get("/api/v1/insights?days=0").await.refuses(400, "wrong_type");
    let metrics = world.get("/metrics").await;
    assert!(
        metrics.text.contains("baton_handoffs_received{agent=\"analyst\"} 2"),
        "{}",
        metrics.text
    );
    let score = analyst["completenessScore"].as_f64().unwrap();
    assert!((1.0..=100.0).contains(&score), "{analyst}");
    assert_eq!((&analyst["cost"]["measured"], &analyst["cost"]["usd"]), (&json!(0), &Value::Null));
    let line = format!("baton_handoff_completeness{{agent=\"analyst\"}} {score}");
    assert!(metrics.text.contains(&line), "{}", metrics.text);
    let wait = "baton_handoff_accept_seconds{agent=\"analyst\",quantile=\"0.95\"} 0";
    assert!(metrics.text.contains(wait), "{}", metrics.text);
}

#[tokio::test]
async fn insights_tell_why_work_was_sent_back() {
    let world = world().await;
    for (run, reason) in
        [(1, "tests fail\\n- one\\n- two"), (2, "tests fail\\n- three"), (3, "no plan")]
    {
        world.started(&format!("s-{run}"), PIPELINE).await;
        let path =
            |label: &str, command: &str| format!("/api/v1/handoffs/{run}%2F{label}/{command}");
        world.post(&path("HO-001", "accept"), "{}").await.is(200);
        let done = r#"{"outcome":"success","package":{"plan":["x"]},"profile":"lenient"}"#;
        world.post(&path("HO-001", "complete"), done).await.is(200);
        let body = format!(r#"{{"reason":"{reason}"}}"#);
        world.post(&path("HO-002", "reject"), &body).await.is(200);
    }
    let found = world.get("/api/v1/insights").await.is(200);
    let reasons = found["rejectReasons"].as_array().unwrap();
    let line = |it: &Value| {
        let edge = format!("{} {}", it["from"].as_str().unwrap(), it["to"].as_str().unwrap());
        (edge, it["reason"].to_string(), it["times"].as_u64(), it["reasonTruncated"].as_bool())
    };
    let edge = || "analyze implement".to_owned();
    assert_eq!(
        reasons.iter().map(line).collect::<Vec<_>>(),
        [
            (edge(), "\"tests fail\"".to_owned(), Some(2), Some(true)),
            (edge(), "\"no plan\"".to_owned(), Some(1), Some(false)),
        ]
    );
    let last = reasons[0]["lastHandoff"].as_u64().unwrap();
    let row = world.get(&format!("/api/v1/handoffs/{last}")).await.is(200);
    assert_eq!((&row["story"], &row["state"]), (&json!("s-2"), &json!("rejected")));
}

#[tokio::test]
async fn redacting_again_records_nothing_and_says_when_it_was_done() {
    let world = two_runs().await;
    let body = r#"{"handoff":"HO-002","parts":["reason"],"reason":"it names a customer"}"#;
    let path = "/api/v1/runs/s-1/redactions";
    let first = world.post_with(path, &[("baton-as", "anna")], body).await.is(200);
    assert_eq!((&first["isRecorded"], first.get("alreadyRedacted")), (&json!(true), None));
    let n_events = async || {
        world.get("/api/v1/runs/s-1/events?limit=500").await.is(200)["items"]
            .as_array()
            .unwrap()
            .len()
    };
    let n_before = n_events().await;
    world.clock.advance(SignedDuration::from_hours(1));
    let again = world.post(path, body).await.is(200);
    assert_eq!((&again["isRecorded"], &again["redacted"]), (&json!(false), &json!([])));
    let before = &again["alreadyRedacted"][0];
    assert_eq!((&before["what"], &before["by"]), (&json!("HO-002 reason"), &json!("anna")));
    assert_eq!(before["at"], "2025-06-17T15:06:40Z");
    assert_eq!(n_events().await, n_before);
}

#[tokio::test]
async fn messages_of_runs_that_ended_long_ago_are_dropped_and_the_log_says_so() {
    let project = project_file::parse("[retention]\nmessages = \"90d\"\n").unwrap();
    let catalog = catalog_with(&[]).with_project(project);
    let world = world_with(StorePlace::fresh(), ServerLimits::default(), catalog).await;
    for story in ["old", "open"] {
        world.started(story, PIPELINE).await;
        let said = r#"{"text":"a secret of the customer","agent":"analyst"}"#;
        world.post(&format!("/api/v1/runs/{story}/messages"), said).await.is(200);
    }
    world.post("/api/v1/runs/old/cancel", "{}").await.is(200);
    let path = "/api/v1/audit/retention";
    world.clock.advance(SignedDuration::from_hours(90 * 24));
    let early = world.post(path, "{}").await.is(200);
    assert_eq!((&early["messages"], &early["messagesKeptDays"]), (&json!(0), &json!(90)));
    world.clock.advance(SignedDuration::from_hours(1));
    let rehearsed = world.post(&format!("{path}?dryRun=true"), "{}").await.is(200);
    assert_eq!((&rehearsed["messages"], &rehearsed["isRecorded"]), (&json!(1), &json!(false)));
    let said = async |run: &str| {
        let talk = world.get(&format!("/api/v1/runs/{run}/conversation")).await.is(200);
        let items = talk["items"].as_array().unwrap().clone();
        items.into_iter().find(|it| it["kind"] == "message").unwrap()
    };
    assert_eq!(said("old").await["text"], "a secret of the customer", "a rehearsal drops nothing");
    let done = world.post_with(path, &[("baton-as", "anna")], "{}").await.is(200);
    assert_eq!((&done["messages"], &done["items"][0]["story"]), (&json!(1), &json!("old")));
    let left = said("old").await;
    assert_eq!(
        (&left["text"], &left["agent"]["agentName"]),
        (&json!("[expired]"), &json!("Analyst"))
    );
    assert_eq!(said("open").await["text"], "a secret of the customer", "an open run keeps its own");
    let events = world.get("/api/v1/runs/old/events?limit=500").await.is(200);
    let last = events["items"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["name"], &last["by"]), (&json!("content.expired"), &json!("anna")));
    assert_eq!(world.post(path, "{}").await.is(200)["messages"], 0, "once is enough");
    // The words are nowhere, and everything else is proven.
    let place = world.stop().await;
    let verified = baton_engine::verify_all(&*place.open().await).await.unwrap();
    assert_eq!(verified.problems, Vec::<String>::new());
    assert_eq!(verified.n_redacted_texts, 1);
}

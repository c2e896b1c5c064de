//! The audit log over all runs, and its exports.

use jiff::SignedDuration;
use serde_json::{Value, json};

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
    let wait = "baton_handoff_accept_seconds{agent=\"analyst\",quantile=\"0.95\"} 0";
    assert!(metrics.text.contains(wait), "{}", metrics.text);
}

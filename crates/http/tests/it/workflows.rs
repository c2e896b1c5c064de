//! The workflow API's two: how a workflow under way stands, and who handed what to whom.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The analyst and the implementer send a story to and fro, a handoff a day: seven of them.
async fn to_and_fro() -> World {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for no in 1..=6 {
        let path = |command: &str| format!("/api/v1/handoffs/1%2FHO-00{no}/{command}");
        world.clock.advance(DAY);
        if no % 2 == 1 {
            world.post(&path("accept"), "{}").await.is(200);
            let done = r#"{"outcome":"success","package":{"plan":["x"]},"reason":"planned","profile":"lenient"}"#;
            world.post(&path("complete"), done).await.is(200);
        } else {
            world.post(&path("reject"), r#"{"reason":"unclear"}"#).await.is(200);
        }
    }
    world
}

/// The days of the handoffs of a page: HO-001 is of the 15th, and each of the others a day later.
fn days(page: &Value) -> Vec<u32> {
    let times = texts(page, "timestamp");
    times.iter().map(|it| it.split(['-', 'T']).nth(2).unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn the_status_tells_who_is_at_it_and_what_happened_last() {
    let world = to_and_fro().await;
    let reply = world.get("/api/v1/workflows/s-1/status").await;
    let status = reply.is(200);
    assert_eq!(status["workflowId"], "story-pipeline");
    assert_eq!(status["status"], "Running");
    assert_eq!((&status["currentStep"], &status["totalSteps"]), (&json!(1), &json!(5)));
    let agent = &status["currentAgent"];
    assert_eq!((&agent["agentId"], &agent["agentName"]), (&json!("analyst"), &json!("Analyst")));
    assert_eq!(agent["currentStepResponsibility"], status["steps"][0]["name"]);
    let recent = json!({"items": status["recentHandoffs"]});
    assert_eq!(days(&recent), [17, 18, 19, 20, 21]);
    let steps = json!({"items": status["steps"]});
    assert_eq!(texts(&steps, "status"), ["Current", "Pending", "Pending", "Pending", "Pending"]);
    assert!(reply.header("etag").is_some());
    world.get("/api/v1/workflows/9/status").await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn a_step_that_is_done_says_when_and_by_whom() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let done = r#"{"outcome":"success","package":{"plan":["x"]},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1/complete", done).await.is(200);
    let status = world.get("/api/v1/workflows/1/status").await.is(200);
    let first = &status["steps"][0];
    assert_eq!((&first["status"], &first["agentName"]), (&json!("Completed"), &json!("Analyst")));
    assert_eq!(first["completedAt"], "2025-06-15T15:06:40Z");
    assert_eq!((&status["percentComplete"], &status["currentStep"]), (&json!(20), &json!(2)));
    world.post("/api/v1/runs/1/cancel", "{}").await.is(200);
    let status = world.get("/api/v1/workflows/1/status").await.is(200);
    assert_eq!((&status["status"], &status["currentAgent"]), (&json!("Cancelled"), &json!(null)));
}

#[tokio::test]
async fn the_trail_is_paged_with_totals() {
    let world = to_and_fro().await;
    let all = world.get("/api/v1/workflows/1/handoffs").await.is(200);
    assert_eq!(
        (&all["page"], &all["pageSize"], &all["totalItems"]),
        (&json!(1), &json!(20), &json!(7))
    );
    assert_eq!(days(&all), [15, 16, 17, 18, 19, 20, 21]);
    let second = &all["items"][1];
    assert_eq!(
        (&second["fromAgent"]["agentName"], &second["toAgent"]["agentName"]),
        (&json!("Analyst"), &json!("Implementer"))
    );
    assert_eq!((&second["stepName"], &second["reason"]), (&json!("Implement"), &json!("planned")));
    assert_eq!(second["timestamp"], "2025-06-16T15:06:40Z");

    let mut seen = Vec::new();
    for page in 1..=4 {
        let path = format!("/api/v1/workflows/1/handoffs?page={page}&pageSize=3");
        let reply = world.get(&path).await.is(200);
        assert_eq!((&reply["totalPages"], &reply["totalItems"]), (&json!(3), &json!(7)));
        assert_eq!(reply["hasPrevious"], page > 1);
        assert_eq!(reply["hasNext"], page < 3);
        seen.extend(days(&reply));
    }
    assert_eq!(seen, days(&all));
    let many = world.get("/api/v1/workflows/1/handoffs?pageSize=1000").await.is(200);
    assert_eq!(many["pageSize"], 100);
    let few = world.get("/api/v1/workflows/1/handoffs?pageSize=0").await.is(200);
    assert_eq!((&few["pageSize"], days(&few).len()), (&json!(1), 1));
    let far = world.get("/api/v1/workflows/1/handoffs?page=4294967295&pageSize=100").await.is(200);
    assert_eq!(days(&far), [0; 0]);
    let negative = world.get("/api/v1/workflows/1/handoffs?pageSize=-5").await.is(200);
    assert_eq!(negative["pageSize"], 1);
    for bad in ["page=0", "page=x", "limit=1"] {
        let reply = world.get(&format!("/api/v1/workflows/1/handoffs?{bad}")).await;
        assert_eq!(reply.status, 400, "{bad}");
    }
    world.get("/api/v1/workflows/9/handoffs").await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn the_trail_is_filtered_by_days_and_by_agent() {
    let world = to_and_fro().await;
    for (query, expected) in [
        ("fromDate=2025-06-20", &[20, 21][..]),
        ("toDate=2025-06-16", &[15, 16]),
        ("fromDate=2025-06-17&toDate=2025-06-17", &[17]),
        ("fromDate=2025-06-18&toDate=2025-06-17", &[]),
        ("fromDate=0001-01-01&toDate=9999-12-31&pageSize=1", &[15]),
        ("fromDate=2025-06-20T15:06:40Z", &[20, 21]),
        ("fromDate=2025-06-20T15:06:40.000000001Z", &[21]),
        ("toDate=2025-06-16T15:06:40Z", &[15, 16]),
        ("toDate=2025-06-16T15:06:39Z", &[15]),
        ("toDate=2025-06-16T17:06:40%2B02:00", &[15, 16]),
        ("toDate=2025-06-16T17:06:40+02:00", &[15, 16]),
        ("agent=orchestrator", &[15]),
        ("agent=implementer&toDate=2025-06-16", &[16]),
        ("agent=long-gone", &[]),
    ] {
        let reply = world.get(&format!("/api/v1/workflows/1/handoffs?{query}")).await.is(200);
        assert_eq!(days(&reply), expected, "{query}");
    }
    for bad in [
        "fromDate=2025-6-1",
        "fromDate=2025-02-30",
        "toDate=today",
        "toDate=",
        "toDate=2025-06-16T12",
        "agent=X",
    ] {
        let reply = world.get(&format!("/api/v1/workflows/1/handoffs?{bad}")).await;
        assert_eq!(reply.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn the_trail_is_in_the_order_of_its_times() {
    let world = to_and_fro().await;
    // The clock of the machine was wrong, and is set right.
    world.clock.advance(DAY * -10);
    world.post("/api/v1/handoffs/1%2FHO-007/accept", "{}").await.is(200);
    let done =
        r#"{"outcome":"success","package":{"plan":["x"]},"reason":"planned","profile":"lenient"}"#;
    world.post("/api/v1/handoffs/1%2FHO-007/complete", done).await.is(200);
    let all = world.get("/api/v1/workflows/1/handoffs").await.is(200);
    assert_eq!(days(&all)[..2], [11, 15]);
    assert!(texts(&all, "timestamp").is_sorted());
    let last = world.get("/api/v1/workflows/1/handoffs?pageSize=3&page=3").await.is(200);
    assert_eq!(days(&last), [20, 21]);
}

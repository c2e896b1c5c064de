//! Lists: filtered, ordered and cut in the database; and what else is only read.

use jiff::SignedDuration;
use serde_json::json;

use crate::world::*;

/// Runs 1 and 2 of the pipeline, the second paused; run 3 of the gated project, cancelled.
async fn some() -> World {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.started("s-2", PIPELINE).await;
    world.started("s-3", GATED).await;
    world.clock.advance(SignedDuration::from_secs(60));
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/runs/2/pause", "{}").await.is(200);
    world.post("/api/v1/runs/3/cancel", "{}").await.is(200);
    world
}

#[tokio::test]
async fn runs_are_filtered() {
    let world = some().await;
    for (query, stories) in [
        ("", &["s-1", "s-2", "s-3"][..]),
        ("status=open", &["s-1"]),
        ("status=open,paused", &["s-1", "s-2"]),
        ("status=cancelled&workflow=gated-project", &["s-3"]),
        ("workflow=story-pipeline", &["s-1", "s-2"]),
        ("story=s-2", &["s-2"]),
        ("story=s-9", &[]),
        ("order=newest&limit=2", &["s-3", "s-2"]),
        ("order=newest&after=2", &["s-1"]),
        ("after=2", &["s-3"]),
    ] {
        let list = world.get(&format!("/api/v1/runs?{query}")).await.is(200);
        assert_eq!(texts(&list, "story"), stories, "{query}");
    }
    let page = world.get("/api/v1/runs?limit=2").await.is(200);
    assert_eq!(page["next"], "2");
    for bad in ["status=shut", "status=", "order=up", "workflow=X", "limit=0", "page=1", "story="] {
        assert_eq!(world.get(&format!("/api/v1/runs?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn handoffs_are_filtered() {
    let world = some().await;
    for (query, stories) in [
        ("", &["s-1", "s-2", "s-3"][..]),
        ("run=1", &["s-1"]),
        ("run=s-2", &["s-2"]),
        ("story=s-3", &["s-3"]),
        ("agent=analyst", &["s-1", "s-2"]),
        ("agent=analyst&state=pending", &["s-2"]),
        ("state=accepted,cancelled", &["s-1", "s-3"]),
        ("kind=sequential", &["s-1", "s-2", "s-3"]),
        ("kind=question", &[]),
        ("stale=true", &[]),
        ("stale=false&order=newest", &["s-3", "s-2", "s-1"]),
        ("limit=1&after=1", &["s-2"]),
    ] {
        let list = world.get(&format!("/api/v1/handoffs?{query}")).await.is(200);
        assert_eq!(texts(&list, "story"), stories, "{query}");
        assert!(list["items"].as_array().unwrap().iter().all(|it| it.get("package").is_none()));
    }
    for bad in ["state=gone", "kind=x", "stale=maybe", "agent=nobody", "sort=x", "after=-1"] {
        assert_eq!(world.get(&format!("/api/v1/handoffs?{bad}")).await.status, 400, "{bad}");
    }
    world.get("/api/v1/handoffs?run=9").await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_with_those_that_are_known() {
    let world = world().await;
    let problem = world.get("/api/v1/handoffs?agnet=x").await.refuses(400, "unknown_field");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("`agnet`") && detail.contains("agent, state"), "{detail}");
    world.get("/api/v1/handoffs?agent=a&agent=b").await.refuses(400, "twice");
    world.post("/api/v1/runs/1/pause?run=1", "{}").await.refuses(400, "unknown_field");
}

#[tokio::test]
async fn metrics_are_counted() {
    let world = some().await;
    let metrics = world.get("/api/v1/metrics").await.is(200);
    assert_eq!(
        metrics["states"],
        json!([
            {"state": "pending", "count": 1},
            {"state": "accepted", "count": 1},
            {"state": "cancelled", "count": 1},
        ])
    );
    assert_eq!(
        metrics["agents"][0],
        json!({"agent": "analyst", "handoffs": 2, "open": 2, "completed": 0, "rejects": 0,
            "meanMsToAccept": 60_000, "meanMsToComplete": null})
    );
    let of_run = world.get("/api/v1/metrics?run=3").await.is(200);
    assert_eq!(of_run["agents"][0]["agent"], "specification");
    assert_eq!(world.get("/api/v1/metrics?story=s-9").await.is(200)["agents"], json!([]));
    world.get("/api/v1/metrics?run=9").await.refuses(404, "no_such_run");
}

#[tokio::test]
async fn agents_are_shown_with_what_they_have_to_do() {
    let world = some().await;
    let agents = world.get("/api/v1/agents").await.is(200);
    assert!(texts(&agents, "agentId").contains(&"security-check".to_owned()));
    let analyst = world.get("/api/v1/agents/analyst").await.is(200);
    assert_eq!(analyst["agentName"], "Analyst");
    assert_eq!(analyst["currentStepResponsibility"], "Analyze");
    assert!(analyst["prompt"].as_str().unwrap().len() > 100);
    let reviewer = world.get("/api/v1/agents/reviewer").await.is(200);
    assert_eq!(reviewer["currentStepResponsibility"], json!(null));
    assert_eq!(world.get("/api/v1/agents/human").await.is(200)["agentName"], "Human");
    world.get("/api/v1/agents/nobody").await.refuses(404, "unknown_agent");
}

#[tokio::test]
async fn definitions_are_shown() {
    let world = world().await;
    let all = world.get("/api/v1/definitions").await.is(200);
    let names =
        ["bmad-delivery", "feature-phases", "gated-project", "issue-to-merge", "story-pipeline"];
    assert_eq!(texts(&all, "name"), names);
    let one = world.get("/api/v1/definitions/story-pipeline").await.is(200);
    assert_eq!(one, all["items"][4]);
    assert_eq!((&one["isDefault"], &one["start"]["to"]), (&json!(true), &json!("analyze")));
    world.get("/api/v1/definitions/none").await.refuses(404, "no_such_workflow");
    world.get("/api/v1/definitions/No%20Name").await.refuses(404, "no_such_workflow");
}

//! Runs of all built-in workflows at once, with a mix of outcomes that is drawn: each ends, or waits
//! for a person, and every chain verifies.

use std::sync::Arc;

use baton_engine::verify_all;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::world::{Client, JSON, world};

const WORKFLOWS: [&str; 5] =
    ["story-pipeline", "issue-to-merge", "feature-phases", "bmad-delivery", "gated-project"];

const N_RUNS: u64 = 1_000;
/// Commands of one run: each moves it, so more would go in circles.
const MOST_MOVES: usize = 120;

/// The same numbers for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_runs_of_all_workflows_at_once_end_as_the_rules_say() {
    let world = world().await;
    // Connections at once: more only wait for each other.
    let room = Arc::new(Semaphore::new(16));
    let mut runs = Vec::new();
    for n in 0..N_RUNS {
        let (client, room) = (world.client, room.clone());
        runs.push(tokio::spawn(async move {
            let _place = room.acquire().await.unwrap();
            goes(client, n).await
        }));
    }
    let mut ends = std::collections::BTreeMap::<String, u32>::new();
    for run in runs {
        *ends.entry(run.await.unwrap()).or_default() += 1;
    }
    assert_eq!(ends.values().sum::<u32>(), N_RUNS as u32, "{ends:?}");
    assert!(ends.get("completed").is_some_and(|it| *it > 200), "{ends:?}");
    assert!(!ends.contains_key("stuck"), "{ends:?}");
    let place = world.stop().await;
    let verified = verify_all(&*place.open().await).await.unwrap();
    assert_eq!(verified.problems, Vec::<String>::new());
    assert_eq!(verified.n_runs, N_RUNS);
}

/// One run from its start; how it ended.
async fn goes(client: Client, n: u64) -> String {
    let mut draw = Draw(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let workflow = WORKFLOWS[(n % 5) as usize];
    let story = format!("{workflow}-{n}");
    let start = json!({ "story": story, "newStory": true, "workflow": workflow });
    let mut run = post(client, "/api/v1/runs", &start).await.expect("a run begins")["run"].clone();
    for _ in 0..MOST_MOVES {
        let status = run["status"].as_str().unwrap().to_owned();
        if status != "open" {
            return status;
        }
        let moved = match run["baton"].as_str().unwrap() {
            "loose" => post(client, "/api/v1/runs", &json!({ "story": story })).await,
            "parked" if run["parkedOn"] == "timer" => return "waiting".to_owned(),
            "parked" if draw.below(10) == 0 => return "waiting".to_owned(),
            "parked" => answers(client, &run, &mut draw).await,
            _ => works(client, &run, workflow, &mut draw).await,
        };
        // What is refused changes nothing; another draw may fit.
        if let Some(told) = moved {
            run = told["run"].clone();
        }
    }
    "stuck".to_owned()
}

async fn works(client: Client, run: &Value, workflow: &str, draw: &mut Draw) -> Option<Value> {
    let handoff = of_run(run);
    if run["baton"] == "offered" && draw.below(2) == 0 {
        return post(client, &format!("/api/v1/handoffs/{handoff}/accept"), &json!({})).await;
    }
    let place = run["currentPlace"].as_str().unwrap();
    if draw.below(20) == 0 {
        let reject = json!({ "reason": "not so" });
        return post(client, &format!("/api/v1/handoffs/{handoff}/reject"), &reject).await;
    }
    let outcome =
        ["success", "success", "success", "success", "failure", "blocked"][draw.below(6) as usize];
    let mut package = package(workflow, place, outcome, draw);
    if outcome == "blocked" {
        let reasons = ["security_concern", "architecture_decision", "test_failures", "unknown"];
        package["blocked_reason"] = json!(reasons[draw.below(4) as usize]);
        package["attempted"] = json!(["a second look"]);
    }
    let mut done = json!({ "outcome": outcome, "package": package, "profile": "lenient" });
    if (place, outcome) == ("fix", "success") {
        done["toAgent"] = json!("reviewer-agent");
    }
    post(client, &format!("/api/v1/handoffs/{handoff}/complete"), &done).await
}

async fn answers(client: Client, run: &Value, draw: &mut Draw) -> Option<Value> {
    let answer = ["approve", "continue", "accept", "reject", "abort"][draw.below(5) as usize];
    let said = json!({ "answer": answer, "comment": "a person's word" });
    post(client, &format!("/api/v1/inbox/{}/answer", of_run(run)), &said).await
}

/// `3%2FHO-004`.
fn of_run(run: &Value) -> String {
    format!("{}%2F{}", run["number"], run["currentHandoff"].as_str().unwrap())
}

/// What the edge asks for, and a finding that is another one each time.
fn package(workflow: &str, place: &str, outcome: &str, draw: &mut Draw) -> Value {
    let at = format!("src/a.rs:{}", draw.below(100_000));
    let issue = json!([{ "location": at, "severity": "critical" }]);
    match (workflow, place, outcome) {
        ("story-pipeline", "analyze", _) => json!({ "plan": "look, then write" }),
        ("story-pipeline", _, "failure") => {
            json!({ "feedback": "see the issues", "issues": issue })
        }
        ("issue-to-merge", "review", "failure") => json!({
            "issue_number": 1, "pr_number": 2, "review_status": "changes_requested",
            "blocking_issues": issue,
        }),
        ("issue-to-merge", "review", _) => {
            json!({ "issue_number": 1, "pr_number": 2, "review_status": "approved" })
        }
        ("issue-to-merge", "validate", "failure") => {
            json!({ "issue_number": 1, "pr_number": 2, "failures": issue })
        }
        ("issue-to-merge", "validate", _) => json!({
            "issue_number": 1, "pr_number": 2, "merge_status": "merged", "merge_sha": "abc123",
            "merge_strategy": "squash",
        }),
        ("issue-to-merge", "close", "success") => {
            json!({ "issue_number": 1, "status": "completed", "summary": "all of it" })
        }
        ("issue-to-merge", _, _) => json!({
            "issue_number": 1, "pr_number": 2, "summary": "all of it", "branch": "feat/issue-1",
            "fixes_applied": issue,
        }),
        ("feature-phases", _, _) => {
            let status = match outcome {
                "success" => "complete",
                other => other,
            };
            json!({
                "status": status, "phase": place, "summary": "12 tests",
                "handoff": { "context": "look at src/a.rs" },
            })
        }
        ("bmad-delivery", _, _) => {
            let confidence = if draw.below(5) == 0 { 0.4 } else { 0.9 };
            json!({ "summary": "12 requirements", "confidence": confidence })
        }
        (_, _, _) => json!({ "context": { "summary": "12 requirements" } }),
    }
}

async fn post(client: Client, path: &str, body: &Value) -> Option<Value> {
    let reply = client.send("POST", path, &[JSON], &body.to_string()).await;
    assert!(reply.status < 500, "{path}: {}", reply.text);
    (reply.status < 300).then(|| reply.json())
}

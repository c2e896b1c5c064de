//! Decisions, and who decided or only asked: the same wherever it is shown.

use serde_json::{Value, json};

use crate::client::{Heard, Listener};
use crate::world::*;

async fn as_person(world: &World, by: &str, path: &str, body: &Value) -> Reply {
    world.post_with(path, &[("baton-as", by)], &body.to_string()).await
}

/// A package with a decision and a choice that it leaves open.
fn with_choice() -> String {
    let decisions = json!([
        { "id": "D-1", "decision": "Use files", "rationale": "simple" },
        { "id": "pending", "decision": "A or B", "rationale": "depends" },
    ]);
    let package = json!({ "handoff": { "context": { "summary": "x", "decisions": decisions } } });
    json!({ "outcome": "success", "package": package, "profile": "lenient" }).to_string()
}

/// At the gate of the first step, with a choice.
async fn at_a_choice() -> World {
    let world = world().await;
    world.started("s-1", GATED).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/complete", &with_choice()).await.is(200);
    world
}

/// Number, status and the begin of the attribution of each decision.
async fn attributed(world: &World) -> Vec<Value> {
    let all = world.get("/api/v1/runs/1/decisions?all=true").await.is(200);
    let recorded = all["items"].as_array().unwrap().iter().filter(|it| it.get("number").is_some());
    let who =
        |it: &Value| it["attribution"].as_str().unwrap().split(" at ").next().unwrap().to_owned();
    recorded.map(|it| json!([it["number"], it["status"], who(it)])).collect()
}

#[tokio::test]
async fn a_choice_is_asked_by_the_agent_and_decided_by_the_person_in_every_place() {
    let world = at_a_choice().await;
    let decided = json!([1, "standing", "Decided by Specification"]);
    let asked = |status: &str| json!([2, status, "Asked by Specification"]);
    assert_eq!(attributed(&world).await, [decided.clone(), asked("open")]);
    let no = json!({ "answer": "reject", "comment": "tests fail" });
    as_person(&world, "anna", "/api/v1/inbox/2/answer", &no).await.is(200);
    assert_eq!(attributed(&world).await[1], asked("withdrawn"));
    world.post("/api/v1/handoffs/3/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/3/complete", &with_choice()).await.is(200);
    assert_eq!(attributed(&world).await, [decided.clone(), asked("open")], "it is asked again");
    let yes = json!({ "answer": "approve", "comment": "B" });
    as_person(&world, "anna", "/api/v1/inbox/4/answer", &yes).await.is(200);
    assert_eq!(attributed(&world).await, [decided, json!([2, "answered", "Decided by anna"])]);
    let choice = world.get("/api/v1/runs/1/decisions/2").await.is(200);
    assert_eq!((&choice["rationale"], &choice["handoff"]), (&json!("B"), &json!("HO-004")));

    let talk = world.get("/api/v1/runs/1/conversation").await.is(200);
    let items = talk["items"].as_array().unwrap();
    let stated = items.iter().flat_map(|it| it["decisions"].as_array().into_iter().flatten());
    let stated: Vec<String> = stated
        .map(|it| {
            let who = it["attribution"].as_str().unwrap().split(" at ").next().unwrap();
            format!("{} {who} ({})", it["number"], it["status"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        stated,
        [
            "1 Decided by Specification (standing)",
            "2 Asked by Specification (answered)",
            "2 Asked by Specification (answered)",
            "2 Decided by anna (answered)",
        ]
    );
    let line =
        |it: &&Value| it["line"].as_str().is_some_and(|it| it.contains("Decided by anna at"));
    assert!(items.iter().any(|it| line(&it)), "{talk}");
    let page = world.get("/runs/1").await.text;
    assert!(page.contains("Decided by anna"), "{page}");
    assert!(page.contains("<span class=\"word\">asked</span>"), "{page}");

    let mut listener = Listener::from_the_beginning(world.client.address, "/api/v1/events").await;
    let is_by_person = |it: &Heard| it.data["person"] == "anna";
    let made = listener.until(is_by_person).await.pop().unwrap();
    assert_eq!((made.name.as_deref(), &made.data["decision"]), (Some("DECISION_MADE"), &json!(2)));
    let attribution = made.data["attribution"].as_str().unwrap();
    assert!(attribution.starts_with("Decided by anna at"), "{attribution}");
}

#[tokio::test]
async fn what_a_person_writes_in_an_agents_place_is_the_persons_in_every_place() {
    let world = at_a_choice().await;
    let own = json!({ "summary": "x", "decisions": [{ "id": "D-2", "decision": "Use SQLite" }] });
    let answer = json!({ "answer": "modify", "package": own });
    as_person(&world, "ana", "/api/v1/inbox/2/answer", &answer).await.is(200);
    assert_eq!(
        attributed(&world).await,
        [
            json!([1, "standing", "Decided by Specification"]),
            json!([2, "open", "Asked by Specification"]),
            json!([3, "standing", "Decided by ana"]),
        ],
        "who says nothing of the choice decides none"
    );
    let talk = world.get("/api/v1/runs/1/conversation").await.is(200);
    let is_it = |it: &&Value| it["decisions"][0]["number"] == 3;
    let item = talk["items"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!((&item["agent"], &item["by"]), (&json!(null), &json!("ana")));
    assert!(item["line"].as_str().unwrap().starts_with("Decided by ana at"), "{item}");
    let mut listener = Listener::from_the_beginning(world.client.address, "/api/v1/events").await;
    let made = listener.until(|it| it.data["decision"] == 3).await.pop().unwrap();
    assert_eq!(
        (&made.data["person"], &made.data["decidedBy"]["id"]),
        (&json!("ana"), &json!("human"))
    );
}

#[tokio::test]
async fn what_a_package_says_of_a_decision_is_kept() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let decisions = json!([
        { "id": "D-1", "decision": "Use PG", "subject": "db", "alternatives": ["MySQL"] },
        { "id": "D-2", "decision": "Pool", "alternatives_considered": [{ "option": "none" }], "depends_on": ["D-1"] },
    ]);
    let done = json!({ "outcome": "success", "package": { "plan": ["x"], "decisions": decisions }, "profile": "lenient" });
    world.post("/api/v1/handoffs/1/complete", &done.to_string()).await.is(200);
    let path = "/api/v1/runs/1/decisions";
    let other = r#"{"decision":"Use X","subject":"db","agent":"analyst"}"#;
    world.post(path, other).await.is(201);
    let first = world.get(&format!("{path}/1")).await.is(200);
    assert_eq!(
        (&first["subject"], &first["alternatives"], &first["conflictsWith"], &first["dependents"]),
        (&json!("db"), &json!(["MySQL"]), &json!([3]), &json!([2]))
    );
    let second = world.get(&format!("{path}/2")).await.is(200);
    assert_eq!((&second["alternatives"], &second["dependsOn"]), (&json!(["none"]), &json!([1])));
    let page = world.get("/runs/1").await.text;
    assert!(page.contains("contradicts 3"), "{page}");
    // What replaces it does so as long as its package counts.
    world.post("/api/v1/handoffs/2/accept", "{}").await.is(200);
    let next = json!({ "outcome": "success", "profile": "lenient", "package": {
        "summary": "Built src/a.rs", "decisions": [{ "decision": "Use SQLite", "subject": "db", "supersedes": 1 }] } });
    world.post("/api/v1/handoffs/2/complete", &next.to_string()).await.is(200);
    let replaced = async || {
        let first = world.get(&format!("{path}/1")).await.is(200);
        (first["status"].clone(), first["supersededBy"].clone())
    };
    assert_eq!(replaced().await, (json!("superseded"), json!(4)));
    world.post("/api/v1/handoffs/3/reject", r#"{"reason":"tests fail"}"#).await.is(200);
    assert_eq!(replaced().await, (json!("standing"), json!(null)));
}

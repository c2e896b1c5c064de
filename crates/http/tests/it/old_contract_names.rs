//! Workflows of earlier versions call built-in contracts by their old names, and databases hold such workflows.

use crate::world::*;

const OLD: &str = "001/prep-agent->implementer-agent";

/// What both names of the contract ask for.
const READY: &str = include_str!("../../../wire/tests/corpus/good/001-prep-to-implementer.xml");

fn flow(contract: &str) -> String {
    let (prep, implement) = ("prep-agent", "implementer-agent");
    format!(
        "name: older\nstart: prep\nsteps:\n  prep:\n    agent: {prep}\n    on:\n      \
         success: {{ to: implement, contract: {contract} }}\n  \
         implement: {{ agent: {implement}, on: {{ success: complete }} }}\n"
    )
}

/// A run of that workflow, whose first step is held.
async fn held(contract: &str) -> World {
    let world = world_of(&[&flow(contract)]).await;
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    world.post("/api/v1/runs", r#"{"story":"s-1","workflow":"older"}"#).await.is(201);
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    world
}

async fn refusal(world: &World) -> Vec<String> {
    let body = r#"{"outcome":"success","package":{"handoff":{"status":"ready"}}}"#;
    let problem = world.post("/api/v1/handoffs/1/complete", body).await.refuses(422, "contract");
    let problems = problem["problems"].as_array().unwrap();
    problems.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
}

async fn hand_on(world: &World) {
    let xml = [("Content-Type", "application/xml")];
    let done = world.client.send("POST", "/api/v1/documents?run=1", &xml, READY).await.is(201);
    assert_eq!(done["handoff"]["toAgent"], "implementer-agent");
}

#[tokio::test]
async fn a_contract_asks_for_the_same_by_its_old_and_its_new_name() {
    let mut asked = Vec::new();
    for name in [OLD, "001/prep-agent→implementer-agent", "xml/prep-agent→implementer-agent"] {
        let world = held(name).await;
        let definition = world.get("/api/v1/definitions/older").await.is(200);
        assert_eq!(definition["steps"][0]["edges"][0]["contract"], name, "as its file has it");
        asked.push(refusal(&world).await);
        hand_on(&world).await;
    }
    assert!(asked[0].iter().any(|it| it == "handoff.branch"), "{asked:?}");
    assert!(asked.iter().all(|it| *it == asked[0]), "{asked:?}");
}

#[tokio::test]
async fn a_run_keeps_its_contract_by_the_old_name_that_only_the_database_has() {
    let world = held(OLD).await;
    let before = refusal(&world).await;
    let world = world_at(world.stop().await, Default::default()).await;
    world.get("/api/v1/definitions/older").await.refuses(404, "no_such_workflow");
    assert_eq!(refusal(&world).await, before);
    hand_on(&world).await;
}

//! The base structure of the XML handoff, with the payload in an element of its own; and the mode of the
//! run that a document begins.

use baton_wire::project_file;

use crate::store_place::StorePlace;
use crate::world::*;
use baton_http::ServerLimits;

const XML: [(&str, &str); 1] = [("content-type", "application/xml")];

fn first(story: u32) -> String {
    format!(
        "<handoff><from>issue-manager</from><to>prep-agent</to><summary>Refresh the session</summary>\
         <data><issue_url>https://github.com/o/r/issues/{story}</issue_url>\
         <issue_number>{story}</issue_number></data></handoff>"
    )
}

#[tokio::test]
async fn a_payload_in_the_data_element_is_read_as_the_handoffs_own() {
    let world = world().await;
    let sends = async |document: &str| {
        world.client.send("POST", "/api/v1/documents?profile=lenient", &XML, document).await
    };
    sends(&first(1)).await.is(201);
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!(run["story"], "o/r#1");
    let ready = "<handoff><from>prep-agent</from><to>implementer-agent</to>\
        <issue_number>1</issue_number><timestamp>2024-01-15T10:30:00Z</timestamp><status>success</status>\
        <summary>Ready on port 3100</summary><data><branch>feature/issue-1-x</branch>\
        <port>3100</port></data></handoff>";
    sends(ready).await.is(201);
    let stored = world.get("/api/v1/handoffs/2/package").await;
    assert_eq!(stored.status, 200, "{}", stored.text);
    assert_eq!(stored.text.trim(), ready, "what was sent is kept as it was written");
    let verified = world.get("/api/v1/handoffs/2").await.is(200);
    let warnings = verified["handoff"]["warnings"].to_string();
    assert!(!warnings.contains("missing handoff.port"), "{warnings}");
}

#[tokio::test]
async fn a_run_that_a_document_begins_has_the_mode_that_is_asked_for() {
    let world = world().await;
    let path = "/api/v1/documents?profile=lenient&newStory=true&mode=supervised";
    world.client.send("POST", path, &XML, &first(1)).await.is(201);
    let native = r#"{"story":"n","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{"plan":"p"},"mode":"supervised","profile":"lenient","workflow":"story-pipeline"}"#;
    world.post("/api/v1/handoffs", native).await.refuses(422, "no_such_mode");
    let create = r#"{"action":"create","storyId":"o/r#2","fromAgent":"issue-manager","toAgent":"prep-agent","mode":"semi-autonomous","payload":{"handoff":{"from":"issue-manager","to":"prep-agent","issue_url":"https://github.com/o/r/issues/2","issue_number":2,"summary":"Refresh the session"}}}"#;
    world.post("/api/handoffs", create).await.is(200);
    let path = "/api/v1/documents?profile=lenient&newStory=true";
    world.client.send("POST", path, &XML, &first(3)).await.is(201);
    let runs = world.get("/api/v1/runs").await.is(200);
    let mut modes = texts(&runs, "mode");
    modes.sort();
    assert_eq!(modes, ["autonomous", "semi-autonomous", "supervised"]);
}

#[tokio::test]
async fn a_project_has_a_mode_of_its_own_for_workflows_that_have_it() {
    let project = project_file::parse("[project]\nmode = \"supervised\"\n").unwrap();
    let catalog = catalog_with(&[]).with_project(project);
    let world = world_with(StorePlace::fresh(), ServerLimits::default(), catalog).await;
    let path = "/api/v1/documents?profile=lenient&newStory=true";
    world.client.send("POST", path, &XML, &first(1)).await.is(201);
    world.started("s-1", "issue-to-merge").await;
    // It has no edge on which a person would be asked.
    world.started("s-2", PIPELINE).await;
    let start =
        r#"{"story":"s-3","newStory":true,"workflow":"issue-to-merge","mode":"autonomous"}"#;
    world.post("/api/v1/runs", start).await.is(201);
    let modes = async |run: &str| {
        let run = world.get(&format!("/api/v1/runs/{run}")).await.is(200);
        run["mode"].as_str().unwrap().to_owned()
    };
    assert_eq!(modes("1").await, "supervised");
    assert_eq!(modes("s-1").await, "supervised");
    assert_eq!(modes("s-2").await, "autonomous");
    assert_eq!(modes("s-3").await, "autonomous");
}

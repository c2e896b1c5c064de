//! Templates and skeletons, filled in as their marks say: everything is taken at the first try.

use baton_core::document::Node;
use baton_core::package::Format;
use baton_wire::{formats, json};
use serde_json::Value;

use crate::dice::Dice;
use crate::marks;
use crate::world::*;

/// A document with its marks filled in, as JSON.
fn filled(document: &str) -> String {
    let filled = marks::fill(&json::parse(document).unwrap(), &mut Dice::new(7));
    assert_eq!(marks::marks(&filled), Vec::<String>::new());
    json::print(&filled)
}

async fn template(world: &World, path: &str, format: Format) -> Node {
    let accept = [("accept", format.media_type())];
    let reply = world.client.send("GET", &format!("/api/v1/handoffs/{path}"), &accept, "").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert!(reply.header("content-type").unwrap().starts_with(format.media_type()));
    formats::decode(format, &reply.text).unwrap()
}

/// The number of the handoff that the baton of a run rests on.
async fn current(world: &World, story: &str) -> Option<u64> {
    let run = world.get(&format!("/api/v1/runs/{story}")).await.is(200);
    let label = run["currentHandoff"].as_str()?;
    let one = world.get(&format!("/api/v1/handoffs/{label}?run={story}")).await.is(200);
    one["number"].as_u64()
}

#[tokio::test]
async fn a_story_goes_all_the_way_by_templates_alone() {
    for workflow in [PIPELINE, GATED] {
        let world = world().await;
        world.started("s-1", workflow).await;
        let mut n_steps = 0;
        while let Some(number) = current(&world, "s-1").await {
            let one = world.get(&format!("/api/v1/handoffs/{number}")).await.is(200);
            if one["toAgent"] == "human" {
                let path = format!("/api/v1/inbox/{number}/answer");
                world.post(&path, r#"{"answer":"approve"}"#).await.is(200);
                continue;
            }
            world.post(&format!("/api/v1/handoffs/{number}/accept"), "").await.is(200);
            let format = Format::ALL[n_steps % Format::ALL.len()];
            let package = template(&world, &format!("{number}/template"), format).await;
            let package = filled(&json::print(&package));
            let body = format!(r#"{{"outcome":"success","profile":"strict","package":{package}}}"#);
            world.post(&format!("/api/v1/handoffs/{number}/complete"), &body).await.is(200);
            n_steps += 1;
            assert!(n_steps < 20);
        }
        assert!(n_steps >= 4, "{n_steps}");
        assert_eq!(world.get("/api/v1/runs/s-1").await.is(200)["status"], "completed");
    }
}

#[tokio::test]
async fn a_template_is_for_the_receiver_and_the_outcome() {
    let world = world().await;
    world.started("s-1", GATED).await;
    let body = |template: &Node| json::print(template);
    let stuck = template(&world, "1/template?outcome=blocked", Format::Json).await;
    assert!(body(&stuck).contains("blockers"), "{}", body(&stuck));
    let person = template(&world, "1/template?to=human", Format::Json).await;
    assert!(body(&person).contains("what the person is to give"), "{}", body(&person));
    let on = template(&world, "1/template?to=architecture", Format::Yaml).await;
    assert!(body(&on).contains("what the architecture has to deliver"), "{}", body(&on));
    let refused = world.get("/api/v1/handoffs/1/template?to=estimation").await;
    refused.refuses(422, "not_an_edge");
    world.get("/api/v1/handoffs/1/template?to=nobody").await.refuses(400, "unknown_agent");
    world.get("/api/v1/handoffs/1/template?outcome=meh").await.refuses(400, "unknown_outcome");
    world.get("/api/v1/handoffs/99/template").await.refuses(404, "no_such_handoff");
    let image = [("accept", "image/png")];
    let refused = world.client.send("GET", "/api/v1/handoffs/1/template", &image, "").await;
    refused.refuses(406, "not_acceptable");
    world.post("/api/v1/handoffs/1/cancel", "{}").await.is(200);
    world.get("/api/v1/handoffs/1/template").await.refuses(409, "finished");
}

/// What is refused, and what is left to do, on every way in.
#[tokio::test]
async fn a_refused_package_passes_with_the_marks_of_its_skeleton_filled_in() {
    let package = r#"{"files_changed":["src/a.rs"],"summary":"Done with the work","tests_added":"yes",
        "build_passes":false,"discoveries":{"decisions":["TBD"]}}"#;
    let api = |package: &str| {
        let body = format!(
            r#"{{"story":"s-1","fromAgent":"implementer","toAgent":"reviewer","package":{package}}}"#
        );
        ("/api/v1/handoffs", JSON, body)
    };
    let pipeline = |package: &str| {
        let body = format!(
            r#"{{"action":"create","storyId":"s-1","fromAgent":"implementer","toAgent":"reviewer",
                "payload":{package}}}"#
        );
        ("/api/handoffs", JSON, body)
    };
    let document = |format: Format| {
        move |package: &str| {
            let node = json::parse(package).unwrap();
            let body = formats::encode(&node, format);
            let path = "/api/v1/documents?story=s-1&agent=implementer&to=reviewer&profile=strict";
            (path, ("content-type", format.media_type()), body)
        }
    };
    type Way<'a> = Box<dyn Fn(&str) -> (&'a str, (&'a str, &'a str), String)>;
    let documents = Format::ALL.map(|it| Box::new(document(it)) as Way<'_>);
    let ways: Vec<Way<'_>> = vec![Box::new(api), Box::new(pipeline)];
    for send in ways.into_iter().chain(documents) {
        let world = world().await;
        world.post("/api/v1/stories", r#"{"key":"s-1","title":"Sessions"}"#).await.is(201);
        let (path, kind, body) = send(package);
        let refused = world.client.send("POST", path, &[kind], &body).await;
        let problem: Value = refused.refuses(422, "contract");
        let (path, kind, body) = send(&filled(&problem["skeleton"].to_string()));
        let taken = world.client.send("POST", path, &[kind], &body).await;
        assert!(matches!(taken.status, 200 | 201), "{}", taken.text);
    }
}

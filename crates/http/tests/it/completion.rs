//! `GET /api/v1/runs/{run}/completion` in its three formats.

use baton_wire::formats::{self, Format};

use crate::world::*;

/// A run that nobody but the analyst has touched, cancelled after an hour.
async fn cancelled() -> World {
    let world = world().await;
    world.started("owner/repo#123", PIPELINE).await;
    world.clock.advance(jiff::SignedDuration::from_hours(1));
    world.post("/api/v1/runs/1/cancel", "{}").await.is(200);
    world
}

const PATH: &str = "/api/v1/runs/1/completion";

#[tokio::test]
async fn a_finished_run_tells_how_it_went_in_json_where_nobody_says_otherwise() {
    let world = cancelled().await;
    let reply = world.get(PATH).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("vary"), Some("accept"));
    let document = reply.is(200);
    let complete = &document["workflow-complete"];
    assert_eq!(complete["status"], "cancelled");
    assert_eq!(complete["cycle_time"], "1 hour");
    assert_eq!(complete["issue_number"], "123");
    assert_eq!(complete["metrics"]["review_iterations"], "0");
}

#[tokio::test]
async fn a_completion_in_xml_and_in_yaml_is_the_same_document() {
    let world = cancelled().await;
    let json = formats::decode(Format::Json, &world.get(PATH).await.text).unwrap();
    for (accept, format) in [
        ("application/xml", Format::Xml),
        ("application/yaml", Format::Yaml),
        ("text/html;q=0.9, application/xml;q=0.8, */*;q=0.1", Format::Xml),
    ] {
        let reply = world.client.send("GET", PATH, &[("accept", accept)], "").await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.header("content-type"), Some(format.media_type()));
        assert_eq!(formats::decode(format, &reply.text).unwrap(), json, "{}", reply.text);
    }
    let xml = world.client.send("GET", PATH, &[("accept", "application/xml")], "").await;
    assert!(xml.text.starts_with("<workflow-complete>\n  <issue_number>123</issue_number>\n"));
}

#[tokio::test]
async fn another_format_is_refused_with_those_that_there_are() {
    let world = cancelled().await;
    let reply = world.client.send("GET", PATH, &[("accept", "text/html")], "").await;
    let problem = reply.refuses(406, "not_acceptable");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("application/json, application/xml, application/yaml"), "{detail}");
}

#[tokio::test]
async fn a_run_under_way_has_no_completion_yet() {
    let world = world().await;
    world.started("S-1", PIPELINE).await;
    world.get(PATH).await.refuses(409, "run_open");
    world.get("/api/v1/runs/7/completion").await.refuses(404, "no_such_run");
}

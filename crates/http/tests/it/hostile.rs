//! Bodies and addresses that nobody well-meaning sends.

use crate::world::*;

const ACCEPT: &str = "/api/v1/handoffs/1/accept";

#[tokio::test]
async fn a_body_of_one_byte_too_many_is_refused() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let most = 4 * 1024 * 1024;
    let padded = |n: usize| format!("{{}}{}", " ".repeat(n - 2));
    world.post(ACCEPT, &padded(most + 1)).await.refuses(413, "too_large");
    world.post(ACCEPT, &padded(most)).await.is(200);
}

#[tokio::test]
async fn a_package_of_more_than_a_mebibyte_is_refused() {
    let world = world().await;
    let create = |n: usize| {
        let text = "x".repeat(n);
        format!(
            r#"{{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{{"plan":"{text}"}},"profile":"lenient"}}"#
        )
    };
    let frame = r#"{"plan":""}"#.len();
    world
        .post("/api/v1/handoffs", &create(1024 * 1024 - frame + 1))
        .await
        .refuses(413, "too_large");
    world.post("/api/v1/handoffs", &create(1024 * 1024 - frame)).await.is(201);
}

#[tokio::test]
async fn what_is_not_json_is_refused_with_its_place() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for (body, code, place) in [
        ("{\"agent\":\n  oops}", "json_syntax", "line 2, column 3"),
        ("{", "json_syntax", "line 1, column 2"),
        ("{}{}", "json_syntax", "line 1, column 3"),
        ("{'agent':1}", "json_syntax", "line 1, column 2"),
        (r#"{"agent":"a","agent":"b"}"#, "json_duplicate_key", "line 1, column 14"),
        (r#"{"agent":"\ud800"}"#, "json_lone_surrogate", "line 1"),
        ("\u{feff}{}", "json_syntax", "line 1, column 1"),
        ("[]", "not_an_object", "object"),
        ("7", "not_an_object", "object"),
        ("\"accept\"", "not_an_object", "object"),
        (r#"{"agent":7}"#, "wrong_type", "`agent` has to be a text"),
        (r#"{"agent":"Analyst"}"#, "bad_name", "Analyst"),
        (
            r#"{"agent":"analyst","leaseSeconds":1.5}"#,
            "wrong_type",
            "`leaseSeconds` has to be a whole number",
        ),
        (r#"{"agent":"analyst","leaseSeconds":99999999999}"#, "wrong_type", "from 1 to 3600"),
    ] {
        let problem = world.post(ACCEPT, body).await.refuses(400, code);
        assert!(problem["detail"].as_str().unwrap().contains(place), "{body}: {problem}");
    }
}

#[tokio::test]
async fn every_unknown_field_is_named_and_so_are_the_known_ones() {
    let world = world().await;
    let body = r#"{"agnet":"analyst","lease":3,"agent":"analyst"}"#;
    let problem = world.post(ACCEPT, body).await.refuses(400, "unknown_field");
    assert_eq!(
        problem["detail"],
        "unknown: `agnet`, `lease`; known here: agent, acknowledgement, leaseSeconds"
    );
}

#[tokio::test]
async fn deep_nesting_is_refused_and_does_no_harm() {
    let world = world().await;
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let create = |package: &str| {
        format!(
            r#"{{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{package},"profile":"lenient"}}"#
        )
    };
    for n in [65, 10_000, 500_000] {
        let reply = world.post("/api/v1/handoffs", &create(&deep(n))).await;
        reply.refuses(400, "json_too_deep");
    }
    world.post("/api/v1/handoffs", &deep(500_000)).await.refuses(400, "json_too_deep");
    let ok = format!(r#"{{"plan":{}}}"#, deep(60));
    world.post("/api/v1/handoffs", &create(&ok)).await.is(201);
}

#[tokio::test]
async fn text_that_cannot_be_kept_is_refused() {
    let world = world().await;
    let reply = world.client.send_bytes("POST", ACCEPT, &[JSON], b"{\"agent\":\"\xff\"}").await;
    reply.refuses(400, "not_utf8");
    let nul = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{"plan":"\u0000"}}"#;
    world.post("/api/v1/handoffs", nul).await.refuses(400, "json_nul");
    world.post("/api/v1/stories", r#"{"key":"s-1","title":"\u0000"}"#).await.refuses(400, "nul");
    world.post("/api/v1/stories", r#"{"key":"a\nb"}"#).await.refuses(400, "bad_name");
    let twice = r#"{"story":"s-1","newStory":true,"fromAgent":"analyst","toAgent":"implementer","package":{"plan":1,"plan":2}}"#;
    world.post("/api/v1/handoffs", twice).await.refuses(400, "json_duplicate_key");
}

#[tokio::test]
async fn other_formats_and_foreign_pages_are_refused() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let send =
        async |headers: &[(&str, &str)]| world.client.send("POST", ACCEPT, headers, "{}").await;
    send(&[("content-type", "text/plain")]).await.refuses(415, "content_type");
    send(&[("content-type", "application/xml")]).await.refuses(400, "xml_syntax");
    send(&[JSON, ("origin", "http://evil.example")]).await.refuses(403, "foreign_origin");
    send(&[JSON, ("host", "evil.example")]).await.refuses(421, "foreign_host");
    send(&[JSON, ("sec-fetch-site", "cross-site")]).await.refuses(403, "foreign_origin");
    send(&[("content-type", "text/plain"), ("cookie", "a=b")]).await.refuses(415, "content_type");
    // What curl says where it is told nothing.
    send(&[("content-type", "application/x-www-form-urlencoded")]).await.is(200);
}

#[tokio::test]
async fn what_is_meant_for_another_server_is_refused() {
    let (world, other) = (world().await, world().await);
    let is = |reply: &Reply| reply.header("baton-instance").unwrap().to_owned();
    let here = is(&world.get("/healthz").await);
    assert_eq!(is(&world.get("/api/v1/nothing").await), here, "one id as long as it lives");
    let there = is(&other.get("/healthz").await);
    assert_ne!(here, there);
    let add = async |instance: &str| {
        let headers = [JSON, ("baton-instance", instance)];
        world.client.send("POST", "/api/v1/stories", &headers, r#"{"key":"s-1"}"#).await
    };
    add(&there).await.refuses(421, "other_server");
    add("").await.refuses(421, "other_server");
    add(&here).await.is(201);
}

#[tokio::test]
async fn what_is_not_there_and_what_is_not_taken_are_problems_too() {
    let world = world().await;
    world.get("/api/v1/nothing").await.refuses(404, "no_such_page");
    let reply = world.client.send("DELETE", "/api/v1/runs/1", &[], "").await;
    reply.refuses(405, "no_such_method");
    assert_eq!(reply.header("allow"), Some("GET,HEAD"));
}

//! What one client may take: places, time, bytes. Whoever takes more is told, and others notice
//! nothing.

use std::time::Duration;

use baton_http::ServerLimits;
use jiff::SignedDuration;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::*;

fn quick() -> ServerLimits {
    let soon = Duration::from_millis(50);
    ServerLimits {
        head_within: soon,
        body_within: soon,
        idle_within: soon,
        ..ServerLimits::default()
    }
}

async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(world.client.address).await.unwrap()
}

/// All that comes until the server hangs up.
async fn heard(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is reset has said all it will.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

async fn said(world: &World, text: &str) -> String {
    let mut stream = connect(world).await;
    let text = text.replace("HOST", &world.client.address.to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    heard(&mut stream).await
}

#[tokio::test]
async fn a_head_a_body_and_a_next_request_that_do_not_come_end_the_connection() {
    let world = world_within(quick()).await;
    let head = said(&world, "GET /healthz HTTP/1.1\r\nhost: HOST\r\nx").await;
    assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
    let body = "POST /api/handoffs HTTP/1.1\r\nhost: HOST\r\ncontent-length: 9\r\n\r\n{";
    let body = said(&world, body).await;
    assert!(body.starts_with("HTTP/1.1 408 ") && body.contains("too_slow_body"), "{body}");
    assert!(body.contains("connection: close"), "{body}");
    let next = said(&world, "GET /healthz HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    assert!(next.starts_with("HTTP/1.1 200 ") && next.ends_with("ok\n"), "{next}");
    assert_eq!(said(&world, "").await, "");
}

#[tokio::test]
async fn events_go_on_beyond_the_limits_of_a_request() {
    let limits = ServerLimits { idle_within: Duration::from_secs(75), ..quick() };
    let world = world_within(limits).await;
    let mut stream = connect(&world).await;
    let address = world.client.address;
    let request = format!("GET /api/v1/events HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = vec![0; 4096];
    let n_bytes = stream.read(&mut bytes).await.unwrap();
    assert!(String::from_utf8_lossy(&bytes[..n_bytes]).starts_with("HTTP/1.1 200 "));
    // Another connection is given up meanwhile, so the limits have passed.
    assert!(said(&world, "GET / HTTP").await.starts_with("HTTP/1.1 408 "));
    world.started("s-1", PIPELINE).await;
    assert!(stream.read(&mut bytes).await.unwrap() > 0);
}

#[tokio::test]
async fn beyond_the_most_connections_a_client_is_told_so_and_a_place_that_is_left_is_taken() {
    let world = world_within(ServerLimits { connections: 2, ..ServerLimits::default() }).await;
    let mut first = connect(&world).await;
    let second = connect(&world).await;
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", world.client.address);
    // Its answer says that both have been accepted: they come in order.
    first.write_all(request.as_bytes()).await.unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    let refused = heard(&mut connect(&world).await).await;
    assert!(
        refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 5"),
        "{refused}"
    );
    drop(second);
    // The place is free once the server has seen that.
    loop {
        let mut third = connect(&world).await;
        let _ = third.write_all(request.as_bytes()).await;
        let mut answer = [0; 12];
        if third.read_exact(&mut answer).await.is_ok() && answer.ends_with(b"200") {
            break;
        }
    }
}

/// HTTP cannot say such a date, and a connection that was open may have said one already.
#[tokio::test]
async fn while_the_clock_is_before_1970_a_client_is_told_so_and_served_after_that() {
    let world = world().await;
    let back = SignedDuration::from_hours(60 * 366 * 24);
    world.clock.advance(-back);
    let refused = said(&world, "GET /readyz HTTP/1.1\r\nhost: HOST\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("the clock of this machine says a time before 1970"), "{refused}");
    world.clock.advance(back);
    assert_eq!(world.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn listeners_have_places_of_their_own() {
    let world = world_within(ServerLimits { listeners: 0, ..ServerLimits::default() }).await;
    let refused = world.get("/api/v1/events").await;
    refused.refuses(503, "busy");
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(world.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_body_in_chunks_of_one_byte_is_a_body() {
    let world = world().await;
    let body = r#"{"key":"s-1"}"#;
    let chunks: String = body.chars().map(|it| format!("1\r\n{it}\r\n")).collect();
    let request = format!(
        "POST /api/v1/stories HTTP/1.1\r\nhost: HOST\r\ncontent-type: application/json\r\n\
         connection: close\r\ntransfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"
    );
    let answer = said(&world, &request).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

#[tokio::test]
async fn a_refused_request_leaves_the_connection_usable_or_says_that_it_does_not() {
    let world = world().await;
    // A small body that nobody wants is read away, and the next request is answered.
    let twice = "POST /api/handoffs HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 5\r\n\r\nhello\
                 GET /healthz HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n";
    let answers = said(&world, twice).await;
    assert!(answers.starts_with("HTTP/1.1 421 ") && answers.ends_with("ok\n"), "{answers}");
    // One that does not come to an end closes it, and says so.
    let large = format!(
        "POST /api/handoffs HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 9999999\r\n\r\n{}",
        "x".repeat(200_000)
    );
    let answer = said(&world, &large).await;
    assert!(answer.starts_with("HTTP/1.1 421 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_request_has_one_host_and_it_is_ours() {
    let world = world().await;
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\nhost: HOST\r\n", "200"),
        ("GET http://HOST/healthz HTTP/1.1\r\nhost: HOST\r\n", "200"),
        ("GET /healthz HTTP/1.1\r\nhost: HOST\r\nhost: evil.example\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nhost: HOST\r\nhost: HOST\r\n", "400"),
        ("GET http://evil.example/healthz HTTP/1.1\r\nhost: HOST\r\n", "421"),
        ("GET http://HOST/healthz HTTP/1.1\r\nhost: evil.example\r\n", "421"),
        ("GET /healthz HTTP/1.1\r\nhost: evil.example\r\n", "421"),
    ] {
        let answer = said(&world, &format!("{head}connection: close\r\n\r\n")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}{answer}");
    }
}

#[tokio::test]
async fn an_invented_method_is_counted_with_all_the_others() {
    let world = world().await;
    for n in 0..5 {
        world.client.send(&format!("INVENTED{n}"), "/healthz", &[], "").await;
    }
    let metrics = world.get("/metrics").await.text;
    assert!(!metrics.contains("INVENTED"), "{metrics}");
    let line = r#"baton_http_requests_total{route="/healthz",method="other",status="405"} 5"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[tokio::test]
async fn a_large_document_is_carried_out_like_a_small_one() {
    let world = world().await;
    let create = |story: &str, n: usize| {
        let text = "x".repeat(n);
        format!(
            r#"{{"action":"create","storyId":"{story}","fromAgent":"analyst","toAgent":"implementer","payload":{{"plan":"{text}"}}}}"#
        )
    };
    for (story, n_bytes) in [("small", 10), ("large", 900_000)] {
        let made = world.post("/api/handoffs", &create(story, n_bytes)).await.is(200);
        let number = &made["handoff"]["id"];
        let page = world.get(&format!("/handoffs/{number}")).await;
        assert_eq!(page.status, 200);
        assert!(page.text.len() < 300_000, "{}", page.text.len());
        world.get(&format!("/api/v1/handoffs/{number}/package")).await.is(200);
    }
}

fn rows<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().unwrap()
}

/// Twelve handoffs of a megabyte wait for the implementer, each of its own story.
async fn twelve_large_ones(world: &World) {
    let text = "x".repeat(1_000_000);
    for n in 0..12 {
        let body = format!(
            r#"{{"action":"create","storyId":"s-{n}","fromAgent":"analyst","toAgent":"implementer","payload":{{"plan":"{text}"}}}}"#
        );
        world.post("/api/handoffs", &body).await.is(200);
    }
}

#[tokio::test]
async fn a_list_leaves_payloads_out_before_rows_and_says_so() {
    let world = world().await;
    twelve_large_ones(&world).await;
    let list = world.get("/api/handoffs?agent=implementer").await.is(200);
    let handoffs = rows(&list, "handoffs");
    assert_eq!(handoffs.len(), 12);
    let n_whole = handoffs.iter().filter(|it| it["payload"].is_object()).count();
    let is_cut = |it: &&Value| it["payload"].is_null() && it["payload_left_out"] == true;
    assert_eq!(handoffs.iter().filter(is_cut).count(), 12 - n_whole);
    assert!((7..=8).contains(&n_whole), "{n_whole}");
    assert!(handoffs[0]["payload"].is_object(), "the one that has waited longest has it");
    let left_out =
        serde_json::json!({"hasMoreRows": false, "limit": 500, "payloads": 12 - n_whole});
    assert_eq!(list["leftOut"], left_out);
    // Where nothing is left out, the answer is what the source document prints.
    let one = world.get("/api/handoffs?storyId=s-0").await.is(200);
    assert_eq!(one.get("leftOut"), None);
    assert!(rows(&one, "handoffs")[0].get("payload_left_out").is_none());
}

//! A request says how long it is once. With two lengths a proxy and a server may disagree on where
//! the next request begins, and a client could hide one request in another.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::*;

const LENGTH: &str = "content-length: 5\r\n";
const CHUNKED: &str = "transfer-encoding: chunked\r\n";
/// A chunked body without anything in it, and a request that the other length would make of it.
const HIDDEN: &str = "0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: HOST\r\n\r\n";

/// Sends bytes as they are; all that comes until the server hangs up.
async fn said(world: &World, text: &str) -> String {
    let mut stream = TcpStream::connect(world.client.address).await.unwrap();
    let text = text.replace("HOST", &world.client.address.to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
fn refused_and_closed(answer: &str, of: &str) {
    assert!(answer.starts_with("HTTP/1.1 400 "), "{of}: {answer}");
    assert!(answer.contains(r#""code":"two_lengths""#), "{of}: {answer}");
    assert!(answer.contains("connection: close\r\n"), "{of}: {answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{of}: nothing else is answered: {answer}");
}

#[tokio::test]
async fn a_request_with_both_lengths_is_refused_and_the_connection_closed() {
    let world = world().await;
    for lengths in [
        format!("{LENGTH}{CHUNKED}"),
        format!("{CHUNKED}{LENGTH}"),
        format!("{CHUNKED}Content-LENGTH: 0\r\n"),
        format!("{LENGTH}{LENGTH}{CHUNKED}"),
        format!("{LENGTH}Transfer-Encoding: gzip, chunked\r\n"),
    ] {
        for line in ["POST /api/v1/stories", "GET /healthz", "POST /nowhere", "PUT /"] {
            let request = format!("{line} HTTP/1.1\r\nhost: HOST\r\n{lengths}\r\n{HIDDEN}");
            refused_and_closed(&said(&world, &request).await, &request);
        }
    }
    let list = world.get("/api/v1/stories").await.is(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_chunked_request_behind_an_unanswered_one_is_refused() {
    let world = world().await;
    let first = "POST /api/v1/stories HTTP/1.1\r\nhost: HOST\r\ncontent-type: application/json\r\n\
                 content-length: 13\r\n\r\n{\"key\":\"s-1\"}";
    let second = format!("GET /healthz HTTP/1.1\r\nhost: HOST\r\n{CHUNKED}\r\n{HIDDEN}");
    let answers = said(&world, &format!("{first}{second}")).await;
    assert!(answers.starts_with("HTTP/1.1 201 "), "{answers}");
    let (_, second) = answers.split_at(answers.rfind("HTTP/1.1 ").unwrap());
    refused_and_closed(second, &answers);
}

#[tokio::test]
async fn one_length_is_taken_on_every_request_of_a_connection() {
    let world = world().await;
    let mut stream = TcpStream::connect(world.client.address).await.unwrap();
    for n in 0..3 {
        let body = format!(r#"{{"key":"s-{n}"}}"#);
        let request = format!(
            "POST /api/v1/stories HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             {CHUNKED}\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            world.client.address,
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // The answer ends with its one object, and the next request is sent only then.
        while !answer.ends_with(b"}") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "it hung up");
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201 "), "{n}: {answer}");
    }
}

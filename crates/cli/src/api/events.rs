//! Events from a server: server-sent events, read line by line.

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::network::RemoteServer;
use super::reply::ApiReply;
use crate::failure::Failure;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReceivedEvent {
    /// The event id: the client sends it to resume from here.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// JSON.
    pub(crate) data: String,
}

pub(crate) struct Events {
    body: Incoming,
    lines: LineBuffer,
}

impl Events {
    pub(super) async fn open(
        server: &RemoteServer,
        request: Request<Bytes>,
    ) -> Result<Self, Failure> {
        let (parts, body) = server.stream(request).await?.into_parts();
        if parts.status.is_success() {
            return Ok(Self { body, lines: LineBuffer::default() });
        }
        let whole = body.collect().await.map_err(|error| server.failed(error.to_string()))?;
        let response = http::Response::from_parts(parts, whole.to_bytes());
        match ApiReply::read(response, Some(server)) {
            Ok(_) => unreachable!("what did not succeed is refused"),
            Err(failure) => Err(failure),
        }
    }

    /// The next message; `None` once the connection is lost.
    pub(crate) async fn next(&mut self) -> Option<ReceivedEvent> {
        loop {
            if let Some(heard) = self.lines.next() {
                return Some(heard);
            }
            let frame = self.body.frame().await?.ok()?;
            if let Some(bytes) = frame.data_ref() {
                self.lines.push(bytes);
            }
        }
    }
}

/// The bytes received so far that are not a complete message yet.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
}

impl LineBuffer {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The first complete message. Comments are skipped.
    fn next(&mut self) -> Option<ReceivedEvent> {
        loop {
            let end = self.bytes.windows(2).position(|it| it == b"\n\n")?;
            let block: Vec<u8> = self.bytes.drain(..end + 2).collect();
            let heard = message(&String::from_utf8_lossy(&block));
            if !heard.data.is_empty() {
                return Some(heard);
            }
        }
    }
}

fn message(block: &str) -> ReceivedEvent {
    let mut heard = ReceivedEvent::default();
    for line in block.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => heard.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut heard.name),
            "data" if heard.data.is_empty() => value.clone_into(&mut heard.data),
            "data" => heard.data += &format!("\n{value}"),
            // Comments, and the retry interval.
            _ => {}
        }
    }
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result does not depend on how the bytes are split.
    #[test]
    fn messages_are_heard_whatever_the_network_does_to_them() {
        let text = "retry: 1000\n\nid: 1.0\nevent: handoff\ndata: {\"a\":\"ü\"}\n\n: still here\n\n\
                    data: {\ndata: }\n\nid: 2.0\nevent: half";
        let expected = [
            ReceivedEvent {
                id: Some("1.0".to_owned()),
                name: "handoff".to_owned(),
                data: "{\"a\":\"ü\"}".to_owned(),
            },
            ReceivedEvent { id: None, name: String::new(), data: "{\n}".to_owned() },
        ];
        for size in 1..text.len() {
            let mut lines = LineBuffer::default();
            let mut heard = Vec::new();
            for bytes in text.as_bytes().chunks(size) {
                lines.push(bytes);
                heard.extend(std::iter::from_fn(|| lines.next()));
            }
            assert_eq!(heard, expected, "in pieces of {size}");
        }
    }
}

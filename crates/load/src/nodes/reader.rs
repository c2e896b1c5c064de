//! A subscriber of live events that goes on at another node when it is cut off.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::operation::ReaderRecord;
use super::{Doors, Random};

/// Asks for everything from the beginning.
const FROM_THE_BEGINNING: &str = "0.0";
/// A stream that has been silent for so long is given up: another node may know more.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);

/// Where a subscriber begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderStart {
    Beginning,
    Now,
}

/// The position that ends the log, once it is known.
pub(super) type LogEnd = Arc<AtomicU64>;

/// Nothing is known of the end yet.
pub(super) const NO_END: u64 = u64::MAX;

pub(super) struct EventReader {
    doors: Doors,
    random: Random,
    record: ReaderRecord,
    last_id: Option<String>,
    end: LogEnd,
}

impl EventReader {
    pub(super) fn new(
        name: String,
        start: ReaderStart,
        doors: Doors,
        random: Random,
        end: LogEnd,
    ) -> Self {
        let last_id = match start {
            ReaderStart::Beginning => Some(FROM_THE_BEGINNING.to_owned()),
            ReaderStart::Now => None,
        };
        let record = ReaderRecord { name, ..ReaderRecord::default() };
        Self { doors, random, record, last_id, end }
    }

    /// Reads until the end of the log has come, or `deadline` has passed.
    pub(super) async fn read(mut self, deadline: tokio::time::Instant) -> ReaderRecord {
        let reading = async {
            while !self.has_all() {
                let door = self.doors.any(&mut self.random);
                // However it ended: the next connection goes on behind the last message.
                let _ = self.listen(door.proxy, door.node).await;
                self.record.n_resumed += 1;
                tokio::time::sleep(PAUSE).await;
            }
        };
        let _ = tokio::time::timeout_at(deadline, reading).await;
        self.record
    }

    fn has_all(&self) -> bool {
        let end = self.end.load(Ordering::Relaxed);
        let last = self.record.heard.last().map_or(self.record.after, |it| it.0);
        end != NO_END && self.last_id.is_some() && last >= end
    }

    async fn listen(&mut self, proxy: SocketAddr, host: SocketAddr) -> Result<()> {
        let mut stream = tokio::time::timeout(PATIENCE, TcpStream::connect(proxy)).await??;
        let last = match &self.last_id {
            Some(id) => format!("last-event-id: {id}\r\n"),
            None => String::new(),
        };
        let request = format!("GET /api/v1/events HTTP/1.1\r\nhost: {host}\r\n{last}\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut received = EventText::default();
        while !self.has_all() {
            let n_read =
                tokio::time::timeout(PATIENCE, stream.read_buf(&mut received.bytes)).await??;
            ensure!(n_read > 0, "the stream ended");
            while let Some(message) = received.next()? {
                self.take(&message)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, message: &str) -> Result<()> {
        let field = |name: &str| message.lines().find_map(|it| it.strip_prefix(name));
        let Some(id) = field("id: ") else { return Ok(()) };
        let (position, part) = parse_id(id).with_context(|| format!("an id `{id}`"))?;
        match field("event: ") {
            Some("snapshot") => self.record.after = position,
            Some("reset") => self.record.n_resets += 1,
            Some(_) | None => self.record.heard.push((position, part)),
        }
        self.last_id = Some(id.to_owned());
        Ok(())
    }
}

/// `EPOCH-POSITION.PART`.
fn parse_id(id: &str) -> Option<(u64, u64)> {
    let (_, place) = id.rsplit_once('-')?;
    let (position, part) = place.split_once('.')?;
    Some((position.parse().ok()?, part.parse().ok()?))
}

/// A response whose body is a stream of messages in chunks.
#[derive(Default)]
struct EventText {
    /// As they came.
    bytes: Vec<u8>,
    has_head: bool,
    /// The body so far.
    text: String,
}

impl EventText {
    /// The next message that has come whole.
    fn next(&mut self) -> Result<Option<String>> {
        if !self.has_head {
            let Some(end) = find(&self.bytes, b"\r\n\r\n") else { return Ok(None) };
            let head = String::from_utf8_lossy(&self.bytes[..end]).into_owned();
            ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
            self.bytes.drain(..end + 4);
            self.has_head = true;
        }
        while let Some(chunk) = self.chunk()? {
            self.text.push_str(&chunk);
        }
        let Some((message, rest)) = self.text.split_once("\n\n") else { return Ok(None) };
        let (message, rest) = (message.to_owned(), rest.to_owned());
        self.text = rest;
        Ok(Some(message))
    }

    fn chunk(&mut self) -> Result<Option<String>> {
        let Some(end) = find(&self.bytes, b"\r\n") else { return Ok(None) };
        let size = std::str::from_utf8(&self.bytes[..end])?;
        let size = usize::from_str_radix(size.trim(), 16).context("the size of a chunk")?;
        let whole = end + 2 + size + 2;
        if self.bytes.len() < whole {
            return Ok(None);
        }
        let chunk = std::str::from_utf8(&self.bytes[end + 2..end + 2 + size])?.to_owned();
        self.bytes.drain(..whole);
        Ok(Some(chunk))
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|it| it == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_when_it_has_come_whole() {
        let stream = "HTTP/1.1 200 OK\r\nx: y\r\n\r\n11\r\nretry: 1000\nid: e\r\n\
                      a\r\n-7.0\ndata:\r\n8\r\n {}\n\nid:\r\n";
        let mut text = EventText::default();
        let mut messages = Vec::new();
        for byte in stream.bytes() {
            text.bytes.push(byte);
            messages.extend(text.next().unwrap());
        }
        assert_eq!(messages, ["retry: 1000\nid: e-7.0\ndata: {}"]);
        assert_eq!(parse_id("e-7.2"), Some((7, 2)));
    }
}

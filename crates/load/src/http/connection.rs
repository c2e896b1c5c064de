//! As little of an HTTP client as the measurement needs: one connection, kept open.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: TcpStream,
    host: String,
    /// What has come and is not part of an answer yet.
    received: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, host: address.to_owned(), received: Vec::with_capacity(4096) })
    }

    /// Through something that listens elsewhere, such as a proxy.
    pub(crate) async fn open_through(proxy: SocketAddr, host: SocketAddr) -> Result<Self> {
        let connection = Self::open(&proxy.to_string()).await?;
        Ok(Self { host: host.to_string(), ..connection })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<String> {
        self.send("GET", path, "", "").await?.good(path)
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Result<String> {
        self.send("POST", path, "", body).await?.good(path)
    }

    /// As [`Connection::post`], with a key that makes it safe to send twice, whatever is answered.
    pub(crate) async fn post_keyed(
        &mut self,
        path: &str,
        key: Option<&str>,
        body: &str,
    ) -> Result<LoadResponse> {
        let key = key.map_or_else(String::new, |it| format!("idempotency-key: {it}\r\n"));
        self.send("POST", path, &key, body).await
    }

    /// Sends a request, with headers that each end their line.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<LoadResponse> {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> Result<LoadResponse> {
        let head = loop {
            if let Some(length) = self.received.windows(4).position(|it| it == b"\r\n\r\n") {
                break length + 4;
            }
            let n_read = self.stream.read_buf(&mut self.received).await?;
            ensure!(n_read > 0, "the connection ended before an answer");
        };
        let text = std::str::from_utf8(&self.received[..head])?;
        let status = text.split(' ').nth(1).and_then(|it| it.parse().ok()).context("a status")?;
        let header = |wanted: &str| {
            let mut headers = text.lines().filter_map(|it| it.split_once(':'));
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.trim())
        };
        let length: usize = match header("content-length") {
            Some(value) => value.parse().context("a length")?,
            None => 0,
        };
        while self.received.len() < head + length {
            let n_read = self.stream.read_buf(&mut self.received).await?;
            ensure!(n_read > 0, "the connection ended within an answer");
        }
        let body = std::str::from_utf8(&self.received[head..head + length])?.to_owned();
        self.received.drain(..head + length);
        Ok(LoadResponse { status, body })
    }
}

pub(crate) struct LoadResponse {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl LoadResponse {
    /// The body of an answer that has to be a yes.
    fn good(self, path: &str) -> Result<String> {
        let Self { status, body } = self;
        ensure!(status == 200, "{path}: {status}: {body}");
        Ok(body)
    }
}

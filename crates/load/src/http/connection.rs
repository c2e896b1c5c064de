//! As little of an HTTP client as the measurement needs: one connection, kept open.

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), host: address.to_owned() })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<String> {
        let host = &self.host;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await?;
        self.answer(path).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Result<String> {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.answer(path).await
    }

    /// The body of an answer that has to be a yes.
    async fn answer(&mut self, path: &str) -> Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let is_good = line.starts_with("HTTP/1.1 200");
        let status = line.trim().to_owned();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).await?;
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().context("a length")?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        let body = String::from_utf8(body)?;
        ensure!(is_good, "{path}: {status}: {body}");
        Ok(body)
    }
}

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
    ) -> Result<Answer> {
        let key = key.map_or_else(String::new, |it| format!("idempotency-key: {it}\r\n"));
        self.send("POST", path, &key, body).await
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<Answer> {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> Result<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.context("the connection ended before an answer")?;
        let mut length = 0;
        loop {
            line.clear();
            let n_read = self.stream.read_line(&mut line).await?;
            ensure!(n_read > 0, "the connection ended within an answer");
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
        Ok(Answer { status, body: String::from_utf8(body)? })
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    /// The body of an answer that has to be a yes.
    fn good(self, path: &str) -> Result<String> {
        let Self { status, body } = self;
        ensure!(status == 200, "{path}: {status}: {body}");
        Ok(body)
    }
}

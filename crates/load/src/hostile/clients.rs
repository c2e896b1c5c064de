//! Clients that send worst-case documents, one after the other, each on its own connection.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result, anyhow};
use baton_hostile::{Pattern, PatternTarget, patterns, quoted};

use crate::crew;

pub(super) struct Clients {
    threads: Vec<JoinHandle<Result<StatusCounts>>>,
    is_over: Arc<AtomicBool>,
    n_sent: Arc<AtomicUsize>,
    n_patterns: usize,
}

/// How often each status was answered.
#[derive(Debug, Default)]
pub(super) struct StatusCounts(BTreeMap<u16, u32>);

impl Clients {
    pub(super) fn start(address: &str, n_clients: usize, n_bytes: usize) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let n_sent = Arc::new(AtomicUsize::new(0));
        let start = |_| {
            let (address, is_over) = (address.to_owned(), is_over.clone());
            let n_sent = n_sent.clone();
            std::thread::spawn(move || send_all(&address, n_bytes, &is_over, &n_sent))
        };
        let threads = (0..n_clients).map(start).collect();
        Self { threads, is_over, n_sent, n_patterns: patterns().len() }
    }

    /// True once every pattern was there.
    pub(super) fn has_sent_all(&self) -> bool {
        let is_over = self.threads.iter().any(JoinHandle::is_finished);
        is_over || self.n_sent.load(Ordering::Relaxed) >= self.n_patterns + self.threads.len()
    }

    pub(super) fn stop(self) -> Result<StatusCounts> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = StatusCounts::default();
        for thread in self.threads {
            let sent = thread.join().map_err(|_| anyhow!("a client panicked"))??;
            for (status, n) in sent.0 {
                *all.0.entry(status).or_default() += n;
            }
        }
        Ok(all)
    }
}

impl fmt::Display for StatusCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u32 = self.0.values().sum();
        write!(f, "{total} sent")?;
        for (status, n) in &self.0 {
            write!(f, ", {n} times {status}")?;
        }
        Ok(())
    }
}

fn send_all(
    address: &str,
    n_bytes: usize,
    is_over: &AtomicBool,
    n_sent: &AtomicUsize,
) -> Result<StatusCounts> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    let mut sent = StatusCounts::default();
    let all = patterns();
    while !is_over.load(Ordering::Relaxed) {
        // Each takes the next one, so that every pattern comes, and no two send the same.
        let next = n_sent.fetch_add(1, Ordering::Relaxed);
        let pattern = &all[next % all.len()];
        let (path, kind, body) = request(pattern, n_bytes);
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {kind}\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.get_mut().write_all(head.as_bytes())?;
        stream.get_mut().write_all(body.as_bytes())?;
        let status = answer(&mut stream).with_context(|| pattern.name)?;
        *sent.0.entry(status).or_default() += 1;
    }
    Ok(sent)
}

/// What the server does for a pattern: reading, linting, storing, and the answer.
fn request(pattern: &Pattern, n_bytes: usize) -> (&'static str, &'static str, String) {
    let document = |kind| ("/api/v1/documents?dryRun=true", kind, pattern.text(n_bytes));
    match pattern.target {
        PatternTarget::Json => document("application/json"),
        PatternTarget::Xml => document("application/xml"),
        PatternTarget::Yaml => document("application/yaml"),
        PatternTarget::Markdown => document("text/markdown"),
        PatternTarget::Output | PatternTarget::Text => {
            // In quotes a character may take six.
            let mut size = n_bytes;
            let mut text = quoted(&pattern.text(size));
            while text.len() > n_bytes {
                size = size / 2 + size / 4;
                text = quoted(&pattern.text(size));
            }
            let story = pattern.name;
            // A package that keeps its contract, so that it is stored and answered too.
            let rest = crew::PACKAGE.trim_start().trim_start_matches('{');
            let body = format!(
                "{{\"action\":\"create\",\"storyId\":\"hostile:{story}\",\"fromAgent\":\"analyst\",\
                 \"toAgent\":\"implementer\",\"payload\":{{\"remarks\":{text},{rest}}}"
            );
            ("/api/handoffs", "application/json", body)
        }
    }
}

fn answer(stream: &mut BufReader<TcpStream>) -> Result<u16> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|it| it.parse().ok()).context("a status")?;
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    std::io::copy(&mut stream.by_ref().take(length), &mut std::io::sink())?;
    Ok(status)
}

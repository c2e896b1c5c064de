//! Baton over HTTP: a server in a process of its own, and connections that take stories through the
//! pipeline API. The raw writer gets the same rows in the same run.
#![expect(clippy::disallowed_methods, reason = "it starts itself as the server")]

pub(crate) mod connection;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use baton_engine::{Sweeper, Timekeeper};
use baton_http::Server;
use clap::Args;

use self::connection::Connection;
use crate::bench::{BenchRounds, Measured, milliseconds, raw_rate};
use crate::crew;

#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// How many connections at once; several, with commas, for several measurements
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    connections: Vec<usize>,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// How often each is taken, in turn with the raw writer; the table has the medians
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    #[arg(long)]
    dir: PathBuf,
}

/// The way of a story: each step is a create, and an accept of what it made.
pub(crate) const PIPELINE: [&str; 6] =
    ["analyst", "implementer", "reviewer", "refactorer", "documenter", "orchestrator"];

pub(crate) async fn run(options: &HttpOptions) -> Result<()> {
    let lasting = Duration::from_secs(options.seconds);
    println!("durable transitions per second over HTTP");
    BenchRounds::print_head("connections", "http", options.rounds, lasting);
    let mut idle = None;
    for &connections in &options.connections {
        let mut rounds = BenchRounds::default();
        for _ in 0..options.rounds {
            let dir = tempfile::tempdir()?;
            let began = Instant::now();
            let served = Served::start(dir.path())?;
            Connection::open(&served.address).await?.get("/readyz").await?;
            let started_in = began.elapsed();
            idle.get_or_insert((started_in, memory(served.child.id())?));
            let measured = measure(&served.address, connections, lasting).await?;
            drop(served);
            let raw_dir = tempfile::tempdir()?;
            rounds.add(measured, raw_rate(raw_dir.path(), dir.path(), connections)?);
        }
        rounds.print_row(connections);
    }
    if let Some((started_in, kilobytes)) = idle {
        let megabytes = kilobytes as f64 / 1024.0;
        println!("\nready after {:.0} ms, {megabytes:.1} MB idle", milliseconds(started_in));
    }
    Ok(())
}

async fn measure(address: &str, connections: usize, lasting: Duration) -> Result<Measured> {
    let began = Instant::now();
    let mut tasks = Vec::new();
    for n in 0..connections {
        let mut connection = Connection::open(address).await?;
        tasks.push(tokio::spawn(async move {
            let mut took = Vec::new();
            let mut story = 0;
            while began.elapsed() < lasting {
                story += 1;
                tell_story(&mut connection, &format!("c{n}:{story}"), &mut took).await?;
            }
            anyhow::Ok(took)
        }));
    }
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    Measured::of(took, began.elapsed())
}

/// Takes one story from its first handoff to its end.
pub(crate) async fn tell_story(
    connection: &mut Connection,
    story: &str,
    took: &mut Vec<Duration>,
) -> Result<()> {
    for pair in PIPELINE.windows(2) {
        let [from, to] = pair else { continue };
        let create = create_body(story, from, to);
        let asked = Instant::now();
        let answer = connection.post("/api/handoffs", &create).await?;
        took.push(asked.elapsed());
        if *to == "orchestrator" {
            return Ok(());
        }
        let id = handoff_id(&answer).with_context(|| format!("no handoff in {answer}"))?;
        let accept = accept_body(id);
        let asked = Instant::now();
        connection.post("/api/handoffs", &accept).await?;
        took.push(asked.elapsed());
    }
    Ok(())
}

pub(crate) fn create_body(story: &str, from: &str, to: &str) -> String {
    let package = crew::PACKAGE;
    format!(
        r#"{{"action":"create","storyId":"{story}","fromAgent":"{from}","toAgent":"{to}","payload":{package}}}"#
    )
}

pub(crate) fn accept_body(id: u64) -> String {
    format!(r#"{{"action":"accept","handoffId":{id}}}"#)
}

/// The first id in an answer, which is the handoff's.
pub(crate) fn handoff_id(answer: &str) -> Option<u64> {
    let (_, rest) = answer.split_once(r#""id":"#)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The server's own process, which ends with this.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(dir: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["server", "--dir"])
            .arg(dir)
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().to_owned() })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until it is killed.
pub(crate) async fn serve(options: &ServerOptions) -> Result<()> {
    let engine = crew::engine_over(crew::sqlite(&options.dir)?).await?;
    let listen = "127.0.0.1:0".parse()?;
    let http = baton_http::ListenOptions { listen, allowed_hosts: Vec::new() };
    let server = Server::bind(engine.clone(), &http).await?;
    println!("{}", server.address());
    let _timekeeper = Timekeeper::start(engine.clone());
    let _sweeper = Sweeper::start(engine);
    server.run(std::future::pending()).await?;
    Ok(())
}

/// The resident memory of a process, in kilobytes.
fn memory(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let number = line.and_then(|it| it.split_whitespace().next());
    number.and_then(|it| it.parse().ok()).context("no VmRSS")
}

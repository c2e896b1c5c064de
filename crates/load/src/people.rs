//! What people's records cost: a conversation of 100,000 messages beside one of 100, transitions with
//! and without decisions, attribution, messages and checkpoints, and an export of 100,000 rows.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use baton_core::command::Command;
use baton_core::names::{AgentId, FreeText, StoryKey};
use baton_engine::{Caller, CheckpointEvery, CheckpointKeeper, CheckpointKeys, StartRun};
use baton_store::StoreError;
use baton_wire::checkpoint::CheckpointKey;
use clap::Args;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::bench::{self, milliseconds};
use crate::crew::{self, CrewRecords};
use crate::growth::fill;
use crate::http::Served;
use crate::http::connection::Connection;

#[derive(Debug, Args)]
pub(crate) struct PeopleOptions {
    /// How many messages the long conversation has
    #[arg(long, default_value_t = 100_000)]
    messages: u32,
    /// How many rows are exported, at least
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// How long transitions are measured, with and without records
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// How often, in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const FEW_MESSAGES: u32 = 100;
const N_REQUESTS: usize = 51;
const CALLERS: usize = 16;
/// The targets.
const MOST_RATIO: f64 = 2.0;
const MOST_COST_PERCENT: f64 = 10.0;
/// Handoffs of each run that `growth` makes.
const PER_RUN: u64 = 10;

pub(crate) async fn run(options: &PeopleOptions) -> Result<()> {
    conversations(options).await?;
    transitions(options).await?;
    export(options).await
}

async fn conversations(options: &PeopleOptions) -> Result<()> {
    println!(
        "| medians of {N_REQUESTS} | {FEW_MESSAGES} messages | {} | ratio | goal |",
        options.messages
    );
    println!("|---|---|---|---|---|");
    let few = conversation(FEW_MESSAGES).await?;
    let many = conversation(options.messages).await?;
    for (what, few, many) in [("first page", few.0, many.0), ("live append", few.1, many.1)] {
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        let (few, many) = (milliseconds(few), milliseconds(many));
        println!("| {what} | {few:.2} ms | {many:.2} ms | {ratio:.2} | at most {MOST_RATIO} |");
    }
    Ok(())
}

/// The first page, and an append until a listener can read it.
async fn conversation(n_messages: u32) -> Result<(Duration, Duration)> {
    let dir = tempfile::tempdir()?;
    fill_messages(dir.path(), n_messages).await?;
    let served = Served::start(dir.path())?;
    let mut connection = Connection::open(&served.address).await?;
    let (mut pages, mut appends) = (Vec::new(), Vec::new());
    for n in 0..N_REQUESTS {
        let began = Instant::now();
        connection.get("/api/v1/runs/1/conversation").await?;
        pages.push(began.elapsed());
        let began = Instant::now();
        let text = format!(r#"{{"text":"live {n}","agent":"analyst"}}"#);
        connection.post("/api/v1/runs/1/messages", &text).await?;
        let page = connection.get("/api/v1/runs/1/conversation?limit=1").await?;
        appends.push(began.elapsed());
        anyhow::ensure!(page.contains(&format!("live {n}")), "{page}");
    }
    Ok((median(pages), median(appends)))
}

async fn fill_messages(dir: &Path, n_messages: u32) -> Result<()> {
    let engine = crew::engine_over(crew::sqlite(dir)?).await?;
    let caller = Caller::of_baton("baton:load");
    let run = engine.start(&caller, StartRun::of(StoryKey::parse("talk")?)).await?.run;
    let by = Some(AgentId::parse("analyst")?);
    for n in 0..n_messages {
        let words = FreeText::parse(&format!("{n}: the token table needs an index\n[Read] a.rs"))?;
        engine.on_run(&caller, run, Command::Post { by: by.clone(), words }).await?;
    }
    engine.shutdown().await;
    Ok(())
}

struct BenchKey;

impl CheckpointKeys for BenchKey {
    fn key(&self) -> Result<CheckpointKey, StoreError> {
        Ok(CheckpointKey::from_random([7; 32]))
    }
}

async fn transitions(options: &PeopleOptions) -> Result<()> {
    let lasting = Duration::from_secs(options.seconds);
    let mut ratios = Vec::new();
    for _ in 0..options.rounds {
        let without = rate(CrewRecords::None, lasting).await?;
        let with = rate(CrewRecords::All, lasting).await?;
        println!("transitions/s without records {without:.0}, with them {with:.0}");
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    let cost = (1.0 - ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)) * 100.0;
    println!(
        "\nrecords cost {cost:.1} % of a transition (median; at most {MOST_COST_PERCENT} %)\n"
    );
    Ok(())
}

async fn rate(records: CrewRecords, lasting: Duration) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let engine = crew::engine_recording(crew::sqlite(dir.path())?, records, Arc::new(BenchKey));
    let engine = engine.await?;
    let every = CheckpointEvery { n_events: Some(1000), time: None };
    let keeper =
        (records == CrewRecords::All).then(|| CheckpointKeeper::start(engine.clone(), every));
    let measured = bench::measure_with(&engine, CALLERS, lasting, "people", records).await?;
    if let Some(keeper) = keeper {
        keeper.stop().await;
    }
    engine.shutdown().await;
    Ok(measured.per_second)
}

async fn export(options: &PeopleOptions) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let filled = fill::up_to(dir.path(), options.rows.div_ceil(PER_RUN)).await?;
    let served = Served::start(dir.path())?;
    let mut connection = Connection::open(&served.address).await?;
    connection.get("/healthz").await?;
    let before = peak_kilobytes(&served)?;
    let began = Instant::now();
    let (n_rows, n_bytes) = read_export(&served.address).await?;
    let took = began.elapsed().as_secs_f64();
    let grown = (peak_kilobytes(&served)? - before) / 1024.0;
    let megabytes = n_bytes as f64 / 1e6;
    let n_handoffs = filled.n_handoffs;
    println!(
        "export of {n_handoffs} handoffs as CSV: {n_rows} lines, {took:.1} s, {megabytes:.1} MB, \
         {grown:.1} MiB more memory"
    );
    Ok(())
}

/// Reads an export as it comes, and keeps none of it; how many lines and bytes it had.
async fn read_export(address: &str) -> Result<(u64, u64)> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/v1/audit/export?format=csv HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let (mut n_lines, mut n_bytes) = (0, 0);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = stream.read(&mut buffer).await?;
        if n_read == 0 {
            return Ok((n_lines, n_bytes));
        }
        n_bytes += n_read as u64;
        n_lines += buffer[..n_read].iter().filter(|it| **it == b'\n').count() as u64;
    }
}

#[expect(clippy::disallowed_methods, reason = "it reads the kernel's file about a process")]
fn peak_kilobytes(served: &Served) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id()))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let number = line.and_then(|it| it.split_whitespace().next());
    number.and_then(|it| it.parse().ok()).context("no VmHWM")
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took.get(took.len() / 2).copied().unwrap_or_default()
}

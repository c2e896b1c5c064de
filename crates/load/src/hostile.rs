//! What others notice of a client that means harm: a worst-case document of every known pattern,
//! again and again, and what a server keeps in memory for clients that never finish.

mod burner;
mod clients;
mod memory;
mod patterns;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;

use self::burner::Burner;
use self::clients::Clients;
use crate::bench::milliseconds;
use crate::http::connection::Connection;
use crate::http::{PIPELINE, Served, create_body};

#[derive(Debug, Args)]
pub(crate) struct HostileOptions {
    /// Clients that send worst-case documents at once
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// How long each measurement lasts at least; documents are sent until each was there once
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Bytes of each document
    #[arg(long, default_value_t = 1_000_000)]
    bytes: usize,
    /// How many connections are opened and kept waiting
    #[arg(long, default_value_t = 10_000)]
    connections: usize,
    /// Clients that send a body byte by byte
    #[arg(long, default_value_t = 12)]
    slow_clients: usize,
}

/// What a request may take beside harmful clients, as a multiple of beside an equal load.
const MOST_TIMES: f64 = 3.0;
const MOST_MB_OPEN: f64 = 300.0;
const MOST_MB_SLOW: f64 = 200.0;

pub(crate) async fn run(options: &HostileOptions) -> Result<()> {
    let mut verdicts = vec![patterns::check()?];
    verdicts.extend(latency(options).await?);
    verdicts.push(memory::open_connections(options.connections, MOST_MB_OPEN).await?);
    verdicts.push(memory::single_bytes(options.slow_clients, MOST_MB_SLOW).await?);
    let n_missed = verdicts.iter().filter(|it| !**it).count();
    ensure!(n_missed == 0, "{n_missed} of {} bounds are not kept", verdicts.len());
    println!("\nevery bound is kept");
    Ok(())
}

fn word(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "NOT KEPT" }
}

/// How long two small requests take, over and over.
#[derive(Default)]
struct RequestTimes {
    health: Vec<Duration>,
    handoff: Vec<Duration>,
}

impl RequestTimes {
    async fn take(address: &str, name: &str, is_over: impl Fn() -> bool) -> Result<Self> {
        let mut times = Self::default();
        let mut health = Connection::open(address).await?;
        let mut handoff = Connection::open(address).await?;
        for n in 0.. {
            if is_over() {
                break;
            }
            let began = Instant::now();
            health.get("/healthz").await?;
            times.health.push(began.elapsed());
            let body = create_body(&format!("{name}:{n}"), PIPELINE[0], PIPELINE[1]);
            let began = Instant::now();
            handoff.post("/api/handoffs", &body).await?;
            times.handoff.push(began.elapsed());
        }
        times.health.sort_unstable();
        times.handoff.sort_unstable();
        Ok(times)
    }
}

/// The time that so many of a thousand did not take longer than.
fn quantile(sorted: &[Duration], per_mille: usize) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * per_mille / 1000).min(last)).copied().unwrap_or_default()
}

async fn latency(options: &HostileOptions) -> Result<Vec<bool>> {
    let dir = tempfile::tempdir()?;
    let served = Served::start(dir.path())?;
    let least = Duration::from_secs(options.seconds);
    let lasting = |began: Instant| move || began.elapsed() >= least;

    let alone = RequestTimes::take(&served.address, "alone", lasting(Instant::now())).await?;
    let before = memory::processor_time(served.child.id())?;
    let began = Instant::now();
    let clients = Clients::start(&served.address, options.clients, options.bytes);
    let is_over = || began.elapsed() >= least && clients.has_sent_all();
    let beside = RequestTimes::take(&served.address, "hostile", is_over).await?;
    let took = began.elapsed();
    let sent = clients.stop()?;
    let used = memory::processor_time(served.child.id())?.saturating_sub(before);
    let n_cores = used.as_secs_f64() / took.as_secs_f64();

    let burner = Burner::start(n_cores);
    let loaded = RequestTimes::take(&served.address, "burner", lasting(Instant::now())).await?;
    burner.stop();

    println!("\n{} clients, documents of {} bytes: {sent}", options.clients, options.bytes);
    println!("the server used {n_cores:.2} cores meanwhile; the burner uses as much\n");
    println!(
        "| request | alone p50 | p99 | beside a burner p50 | p99 | beside hostile p50 | p99 | times (p99) | |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let rows = [
        ("/healthz", &alone.health, &loaded.health, &beside.health),
        ("small handoff", &alone.handoff, &loaded.handoff, &beside.handoff),
    ];
    let mut verdicts = Vec::new();
    for (what, alone, loaded, beside) in rows {
        let times = quantile(beside, 990).as_secs_f64() / quantile(loaded, 990).as_secs_f64();
        let is_kept = times <= MOST_TIMES;
        verdicts.push(is_kept);
        print!("| {what} ");
        for sorted in [alone, loaded, beside] {
            let (half, most) = (quantile(sorted, 500), quantile(sorted, 990));
            print!("| {:.2} ms | {:.2} ms ", milliseconds(half), milliseconds(most));
        }
        println!("| {times:.2} | {} |", word(is_kept));
    }
    Ok(verdicts)
}

//! The latency from a commit until all subscribers have received the event: SQLite with its syncs,
//! the server and all subscribers on one machine, in one process.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use baton_core::names::{Principal, StoryKey};
use baton_engine::{Caller, Engine, StartRun};
use baton_http::Server;
use clap::Args;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::bench::milliseconds;
use crate::crew;

#[derive(Debug, Args)]
pub(crate) struct EventsOptions {
    /// How many streams are open at once
    #[arg(long, default_value_t = 1000)]
    listeners: u64,
    /// How many events a second
    #[arg(long, default_value_t = 50)]
    rate: u64,
    /// How long the measurement lasts
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// When each position was on disk.
type Committed = Arc<Mutex<HashMap<u64, Instant>>>;

pub(crate) async fn run(options: &EventsOptions) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let engine = crew::engine_over(crew::sqlite(dir.path())?).await?;
    let http =
        baton_http::ListenOptions { listen: "127.0.0.1:0".parse()?, allowed_hosts: Vec::new() };
    let server = Server::bind(engine.clone(), &http).await?;
    let address = server.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let committed = Committed::default();
    let mut listening = JoinSet::new();
    for _ in 0..options.listeners {
        let stream = connect(address).await?;
        listening.spawn(listen_to(stream, committed.clone()));
    }
    let n_events = write(&engine, &committed, options).await?;
    let _ = stop.send(());
    serving.await??;
    let mut waits = Vec::new();
    for heard in listening.join_all().await {
        waits.extend(heard?);
    }
    report(&mut waits, options, n_events);
    Ok(())
}

/// Connects, and waits until the stream has begun.
async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !String::from_utf8_lossy(&head).contains("snapshot") {
        stream.read_buf(&mut head).await?;
    }
    Ok(stream)
}

/// The latency of each event after its commit. Ends with the server.
async fn listen_to(mut stream: TcpStream, committed: Committed) -> Result<Vec<Duration>> {
    let mut waits = Vec::new();
    let mut text = Vec::new();
    loop {
        if stream.read_buf(&mut text).await? == 0 {
            return Ok(waits);
        }
        let now = Instant::now();
        while let Some(end) = text.windows(2).position(|it| it == b"\n\n") {
            let block: Vec<u8> = text.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            // Only the first message of each event counts.
            let id = block.lines().find_map(|it| it.strip_prefix("id: ")?.strip_suffix(".0"));
            let position = id.and_then(|it| it.rsplit_once('-')?.1.parse().ok());
            let Some(position) = position else { continue };
            let times = committed.lock().unwrap_or_else(PoisonError::into_inner);
            // Received before the writer got its acknowledgement: counts as zero.
            let at = times.get(&position).copied().unwrap_or(now);
            waits.push(now.saturating_duration_since(at));
        }
    }
}

/// Starts runs, evenly; returns how many events that made.
async fn write(engine: &Engine, committed: &Committed, options: &EventsOptions) -> Result<u64> {
    let EventsOptions { rate, seconds, .. } = *options;
    let caller = Caller::new(Principal::parse("load")?);
    let first = engine.read_as(&caller).last_position().await?.0;
    let begin = Instant::now();
    let mut last = first;
    for n in 0.. {
        if begin.elapsed() > Duration::from_secs(seconds) {
            break;
        }
        let story = StoryKey::parse(&format!("story-{n}"))?;
        let start = StartRun::of(story);
        engine.start(&caller, start).await?;
        let now = Instant::now();
        let position = engine.read_as(&caller).last_position().await?.0;
        note(committed, last + 1..=position, now);
        last = position;
        // The time at which the next is due, so that a slow one is made up for.
        let due = begin + Duration::from_secs_f64((last - first) as f64 / rate as f64);
        tokio::time::sleep_until(due.into()).await;
    }
    // Events under way are received before the server ends.
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(last - first)
}

fn note(committed: &Committed, positions: std::ops::RangeInclusive<u64>, at: Instant) {
    let mut times = committed.lock().unwrap_or_else(PoisonError::into_inner);
    times.extend(positions.map(|it| (it, at)));
}

fn report(waits: &mut [Duration], options: &EventsOptions, n_events: u64) {
    let EventsOptions { listeners, seconds, .. } = *options;
    waits.sort_unstable();
    let at = |share: f64| {
        let index = (waits.len() as f64 * share) as usize;
        waits.get(index.min(waits.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    println!("{listeners} listeners, {n_events} events in {seconds} s, heard {}", waits.len());
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1.0)] {
        println!("{name:>5} {:>8.2} ms", milliseconds(at(share)));
    }
}

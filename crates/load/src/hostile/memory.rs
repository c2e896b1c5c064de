//! What a server keeps in memory for clients that never finish.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::word;
use crate::bench::milliseconds;
use crate::http::Served;
use crate::http::connection::Connection;

/// What the body of each slow client has in the end.
const N_CHUNKS: usize = 4 * 1024 * 1024 - 1024;

/// Many connections, each with half a request: half of a head, or half of a body.
pub(super) async fn open_connections(n_connections: usize, most_mb: f64) -> Result<bool> {
    let dir = tempfile::tempdir()?;
    let served = Served::start(dir.path())?;
    let address = &served.address;
    let mut first = Connection::open(address).await?;
    first.get("/healthz").await?;
    let mut open = Vec::with_capacity(n_connections);
    for n in 1..n_connections {
        let mut stream = TcpStream::connect(address).with_context(|| format!("connection {n}"))?;
        let half = if n % 2 == 0 {
            format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nx-half")
        } else {
            format!(
                "POST /api/handoffs HTTP/1.1\r\nhost: {address}\r\ncontent-length: 9999\r\n\r\n{{"
            )
        };
        stream.write_all(half.as_bytes())?;
        open.push(stream);
    }
    let began = Instant::now();
    first.get("/healthz").await?;
    let answered_in = began.elapsed();
    let peak_mb = peak_mb(served.child.id())?;
    let is_kept = peak_mb < most_mb;
    println!(
        "\n{} open connections: {peak_mb:.0} MB at most (bound {most_mb:.0}), /healthz in {:.1} ms: {}",
        open.len() + 1,
        milliseconds(answered_in),
        word(is_kept)
    );
    Ok(is_kept)
}

/// A few clients whose bodies come in chunks of one byte, and do not end.
pub(super) async fn single_bytes(n_clients: usize, most_mb: f64) -> Result<bool> {
    let dir = tempfile::tempdir()?;
    let served = Served::start(dir.path())?;
    let send = |_| {
        let address = served.address.clone();
        std::thread::spawn(move || -> Result<(TcpStream, bool)> {
            let mut stream = TcpStream::connect(&address)?;
            let head = format!(
                "POST /api/handoffs HTTP/1.1\r\nhost: {address}\r\n\
                 content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            );
            stream.write_all(head.as_bytes())?;
            let chunks = b"1\r\nx\r\n".repeat(1024);
            for _ in 0..N_CHUNKS / 1024 {
                if stream.write_all(&chunks).is_err() {
                    // Its time was over.
                    return Ok((stream, false));
                }
            }
            Ok((stream, true))
        })
    };
    let began = Instant::now();
    let threads: Vec<_> = (0..n_clients).map(send).collect();
    let mut connection = Connection::open(&served.address).await?;
    let mut slowest = Duration::ZERO;
    while threads.iter().any(|it| !it.is_finished()) {
        let asked = Instant::now();
        connection.get("/healthz").await?;
        slowest = slowest.max(asked.elapsed());
    }
    let mut open = Vec::new();
    for thread in threads {
        open.push(thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))??);
    }
    let peak_mb = peak_mb(served.child.id())?;
    let is_kept = peak_mb < most_mb;
    let n_whole = open.iter().filter(|(_, is_whole)| *is_whole).count();
    println!(
        "{} clients, bodies of {N_CHUNKS} chunks of one byte, {n_whole} of them in time: \
         {peak_mb:.0} MB at most (bound {most_mb:.0}) after {:.1} s, slowest /healthz {:.1} ms: {}",
        open.len(),
        began.elapsed().as_secs_f64(),
        milliseconds(slowest),
        word(is_kept)
    );
    Ok(is_kept)
}

/// The most that a process ever had in memory.
fn peak_mb(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let number = line.and_then(|it| it.split_whitespace().next());
    let kilobytes: f64 = number.and_then(|it| it.parse().ok()).context("no VmHWM")?;
    Ok(kilobytes / 1024.0)
}

/// What a process has had of the processors.
pub(super) fn processor_time(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program may hold anything, and ends with the last bracket.
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok()).context("no time");
    // A tick is a hundredth of a second on every Linux there is.
    Ok(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}

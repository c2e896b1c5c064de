//! Durable transitions per second through the engine on SQLite, beside a raw writer with the same
//! rows in the same run: variations of the machine cancel out in the ratio.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use baton_engine::Engine;
use clap::Args;

use crate::crew::{self, CrewRecords, Go, Hand, Keys};
use crate::{history, raw};

#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// How many callers at once; several, with commas, for several measurements
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    callers: Vec<usize>,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// How often each is taken, in turn with the raw writer; the table has the medians
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Store so many handoffs first, and compare the rate with that of an empty store
    #[arg(long, default_value_t = 0)]
    history: u64,
    /// Where the databases go [default: the system's temporary folder]
    #[arg(long)]
    dir: Option<std::path::PathBuf>,
}

/// What one measurement found.
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// One measurement taken several times, each followed by the raw writer: other load on the machine
/// changes within seconds, and a median evens it out.
#[derive(Default)]
pub(crate) struct BenchRounds(Vec<(Measured, f64)>);

impl BenchRounds {
    pub(crate) fn print_head(whose: &str, what: &str, n_rounds: usize, lasting: Duration) {
        println!("medians of {n_rounds} rounds of {lasting:?}\n");
        println!(
            "| {whose} | {what}/s | p50 ms | p99 ms | raw writer/s | {what} ÷ raw | least, most |"
        );
        println!("|---|---|---|---|---|---|---|");
    }

    pub(crate) fn add(&mut self, measured: Measured, raw: f64) {
        self.0.push((measured, raw));
    }

    pub(crate) fn print_row(&self, n: usize) {
        let sorted = |of: fn(&(Measured, f64)) -> f64| {
            let mut values: Vec<f64> = self.0.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let median = |of| sorted(of).get(self.0.len() / 2).copied().unwrap_or(f64::NAN);
        let ratios = sorted(|(it, raw)| it.per_second / raw);
        println!(
            "| {n} | {:.0} | {:.2} | {:.2} | {:.0} | {:.2} | {:.2}, {:.2} |",
            median(|(it, _)| it.per_second),
            median(|(it, _)| milliseconds(it.p50)),
            median(|(it, _)| milliseconds(it.p99)),
            median(|(_, raw)| *raw),
            median(|(it, raw)| it.per_second / raw),
            ratios.first().unwrap_or(&f64::NAN),
            ratios.last().unwrap_or(&f64::NAN),
        );
    }
}

pub(crate) async fn run(options: &EngineOptions) -> Result<()> {
    let lasting = Duration::from_secs(options.seconds);
    println!("durable transitions per second (SQLite, WAL, synchronous=FULL)");
    BenchRounds::print_head("callers", "engine", options.rounds, lasting);
    for &callers in &options.callers {
        let mut rounds = BenchRounds::default();
        for _ in 0..options.rounds {
            let dir = folder(options)?;
            let engine = crew::engine_over(crew::sqlite(dir.path())?).await?;
            let measured = measure(&engine, callers, lasting, "bench").await?;
            engine.shutdown().await;
            let raw = raw_rate(folder(options)?.path(), dir.path(), callers)?;
            rounds.add(measured, raw);
        }
        rounds.print_row(callers);
    }
    if options.history > 0 {
        let dir = folder(options)?;
        history::run(dir.path(), options.history, lasting).await?;
    }
    Ok(())
}

/// Lets `callers` work for a while on stories of their own.
pub(crate) async fn measure(
    engine: &Arc<Engine>,
    callers: usize,
    lasting: Duration,
    name: &str,
) -> Result<Measured> {
    measure_with(engine, callers, lasting, name, CrewRecords::None).await
}

/// As [`measure`], with what is recorded beside the handoffs.
pub(crate) async fn measure_with(
    engine: &Arc<Engine>,
    callers: usize,
    lasting: Duration,
    name: &str,
    records: CrewRecords,
) -> Result<Measured> {
    let began = Instant::now();
    let mut tasks = Vec::new();
    for n in 0..callers {
        let hand = Hand::new(engine.clone(), format!("{name}-{n}"), Keys::None)?;
        let mut hand = hand.recording(records)?;
        tasks.push(tokio::spawn(async move {
            let mut took = Vec::new();
            loop {
                let go = hand
                    .tell_story(|acked| {
                        took.push(acked.took);
                        if began.elapsed() < lasting { Go::On } else { Go::Stop }
                    })
                    .await?;
                if go == Go::Stop {
                    return anyhow::Ok(took);
                }
            }
        }));
    }
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    Measured::of(took, began.elapsed())
}

impl Measured {
    /// What so many durations within one span make.
    pub(crate) fn of(mut took: Vec<Duration>, lasted: Duration) -> Result<Self> {
        took.sort_unstable();
        let at = |share: f64| {
            let index = (took.len() as f64 * share) as usize;
            took.get(index.min(took.len().saturating_sub(1))).copied()
        };
        Ok(Self {
            per_second: took.len() as f64 / lasted.as_secs_f64(),
            p50: at(0.5).context("nothing was measured")?,
            p99: at(0.99).context("nothing was measured")?,
        })
    }
}

/// The rate of a bare SQLite writer on the rows that the engine wrote into `engine_dir`.
pub(crate) fn raw_rate(dir: &Path, engine_dir: &Path, group: usize) -> Result<f64> {
    let commands = raw::read(engine_dir)?;
    let connection = raw::open(dir)?;
    let began = Instant::now();
    raw::write(&connection, &commands, group)?;
    Ok(commands.len() as f64 / began.elapsed().as_secs_f64())
}

fn folder(options: &EngineOptions) -> Result<tempfile::TempDir> {
    match &options.dir {
        Some(dir) => Ok(tempfile::tempdir_in(dir)?),
        None => Ok(tempfile::tempdir()?),
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

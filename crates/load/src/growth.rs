//! The cost of many open runs: a start, an idle server, the first page of every list, a command
//! without a server, and a sweep, with 1,000, 10,000 and 100,000 of them.
//!
//! Measured is the `baton` program itself, on one project that grows from one size to the next.

pub(crate) mod fill;
mod measure;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::bench::milliseconds;
use crate::crew;

#[derive(Debug, Args)]
pub(crate) struct GrowthOptions {
    /// How many runs are open; several, with commas, in the order in which the project grows
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    runs: Vec<u64>,
    /// A folder for the project, which is kept, and used again the next time
    /// [default: a temporary one]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// For how many seconds the server is watched without requests
    #[arg(long, default_value_t = 10)]
    idle: u64,
}

/// The targets, at any number of runs.
const MOST_MS_TO_LISTEN: f64 = 1000.0;
const MOST_IDLE_PERCENT: f64 = 1.0;
const MOST_MS_OF_A_LIST: f64 = 50.0;
const MOST_MS_OF_A_COMMAND: f64 = 100.0;

pub(crate) async fn run(options: &GrowthOptions) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let root = options.dir.as_deref().unwrap_or(temporary.path());
    let program = program()?;
    let data = measure::data_of(&program, root)?;
    let mut columns = Vec::new();
    for &n_runs in &options.runs {
        let began = Instant::now();
        let filled = fill::up_to(&data, n_runs).await?;
        println!(
            "{} open runs with {} handoffs, {} of them new, made in {:.0} s",
            filled.n_runs,
            filled.n_handoffs,
            filled.n_new,
            began.elapsed().as_secs_f64()
        );
        columns.push(at_size(&program, root, &data, options).await?);
    }
    print_table(&options.runs, &columns);
    Ok(())
}

/// One line of the table: what was measured, its unit, and its target.
struct TableLine {
    what: String,
    value: f64,
    goal: Option<f64>,
    unit: &'static str,
}

async fn at_size(
    program: &Path,
    root: &Path,
    data: &Path,
    options: &GrowthOptions,
) -> Result<Vec<TableLine>> {
    let line =
        |what: &str, value, goal, unit| TableLine { what: what.to_owned(), value, goal, unit };
    let mut lines = Vec::new();
    // Overdue work from before this start is done first, so that all sizes start alike.
    let backlog = sweep(data).await?;
    lines.push(line("sweep of what had become due", milliseconds(backlog), None, "ms"));
    lines.push(line("sweep when nothing is due", milliseconds(sweep(data).await?), None, "ms"));
    for (what, took) in measure::commands(program, root, data).await? {
        lines.push(line(&what, milliseconds(took), Some(MOST_MS_OF_A_COMMAND), "ms"));
    }
    let listening = measure::listening(program, root).await?;
    lines.push(line("listening after", milliseconds(listening), Some(MOST_MS_TO_LISTEN), "ms"));
    let served = measure::Serving::start(program, root)?;
    let idle = served.idle_share(Duration::from_secs(options.idle)).await?;
    lines.push(line("idle, of a core", idle * 100.0, Some(MOST_IDLE_PERCENT), "%"));
    for (path, took) in measure::lists(&served).await? {
        lines.push(line(&format!("`{path}`"), milliseconds(took), Some(MOST_MS_OF_A_LIST), "ms"));
    }
    let stopped = served.stop().await?;
    lines.push(line("stopped after", milliseconds(stopped), None, "ms"));
    Ok(lines)
}

/// How long one sweep takes, in a process of its own to which nothing else happens.
async fn sweep(data: &Path) -> Result<Duration> {
    let engine = crew::engine_over(crew::sqlite(data)?).await?;
    let began = Instant::now();
    engine.sweep().await?;
    let took = began.elapsed();
    engine.shutdown().await;
    Ok(took)
}

fn print_table(sizes: &[u64], columns: &[Vec<TableLine>]) {
    let heads: Vec<String> = sizes.iter().map(|it| format!("{it} open runs")).collect();
    println!("\n| medians | {} | goal | |", heads.join(" | "));
    println!("|---|{}---|---|", "---|".repeat(sizes.len()));
    let Some(first) = columns.first() else { return };
    for (n, line) in first.iter().enumerate() {
        let values: Vec<f64> = columns.iter().filter_map(|it| Some(it.get(n)?.value)).collect();
        let shown: Vec<String> = values.iter().map(|it| format!("{it:.2} {}", line.unit)).collect();
        let (goal, verdict) = match line.goal {
            Some(goal) => {
                let is_reached = values.iter().all(|it| *it < goal);
                (
                    format!("under {goal} {}", line.unit),
                    if is_reached { "reached" } else { "missed" },
                )
            }
            None => ("–".to_owned(), ""),
        };
        println!("| {} | {} | {goal} | {verdict} |", line.what, shown.join(" | "));
    }
}

/// The `baton` program of the same build.
pub(crate) fn program() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let program = here.with_file_name(format!("baton{}", std::env::consts::EXE_SUFFIX));
    let exists = program.exists();
    ensure!(exists, "{} is not there; build it with `cargo build -p baton-cli`", program.display());
    program.canonicalize().context("find the program")
}

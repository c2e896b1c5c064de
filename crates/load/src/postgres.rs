//! Baton on PostgreSQL over HTTP, with one, two and three nodes, and pgbench with the statements that Baton
//! sends for the same stories, in turn: variations of the machine cancel out in the ratio.
#![expect(clippy::disallowed_methods, reason = "it starts servers and pgbench")]

mod capture;
mod cpu;
mod pgbench;
mod protocol;
mod queue;
mod script;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use baton_test_postgres::{Cluster, Durability};
use clap::Args;

use self::cpu::CpuTime;
use self::pgbench::StoryScript;
use crate::bench::{Measured, milliseconds};
use crate::http::connection::Connection;
use crate::http::{PIPELINE, tell_story};
use crate::nodes::process::NodeProcess;

#[derive(Debug, Args)]
pub(crate) struct PostgresOptions {
    /// How many nodes; several, with commas, for several measurements
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3])]
    nodes: Vec<usize>,
    /// How many connections at once, over all nodes
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How often each is taken, in turn with pgbench; the table has the medians
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The `baton` that is started; the one beside this program unless named
    #[arg(long)]
    baton: Option<PathBuf>,
    /// Where graphile-worker is installed, to measure that too
    #[arg(long)]
    queue: Option<PathBuf>,
    /// Only write the script for pgbench, to this file
    #[arg(long)]
    script: Option<PathBuf>,
}

/// Creates and accepts of one story.
const PER_STORY: f64 = (2 * (PIPELINE.len() - 1) - 1) as f64;

/// One measurement of Baton, and of pgbench right after it.
struct PostgresRound {
    measured: Measured,
    /// Microseconds of CPU for each transition.
    node_cpu: f64,
    database_cpu: f64,
    pgbench: f64,
    pgbench_cpu: f64,
}

pub(crate) async fn run(options: &PostgresOptions) -> Result<()> {
    let beside = std::env::current_exe()?.with_file_name("baton");
    let program = options.baton.clone().unwrap_or(beside);
    let script = StoryScript::capture(&program).await.context("capture the statements")?;
    if let Some(path) = &options.script {
        std::fs::write(path, &script.text)?;
        println!("{} statements, {} of them appends", script.n_statements, script.n_appends);
        return Ok(());
    }
    println!(
        "durable transitions per second over HTTP on PostgreSQL, {} connections; medians of {} rounds \
         of {} s; pgbench sends the {} statements of each story ({} appends)\n",
        options.connections, options.rounds, options.seconds, script.n_statements, script.n_appends
    );
    println!(
        "| nodes | baton/s | p50 ms | p99 ms | CPU µs: nodes | database | pgbench/s | CPU µs: database \
         | baton ÷ pgbench | least, most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for &n_nodes in &options.nodes {
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push(measure_round(&program, n_nodes, options, &script).await?);
        }
        print_row(n_nodes, &rounds);
    }
    if let Some(folder) = &options.queue {
        let lasting = Duration::from_secs(options.seconds);
        let jobs = queue::measure(folder, options.connections, lasting)?;
        println!("\ngraphile-worker, a job for each handoff: {jobs:.0} jobs/s");
        println!("baton: 5 handoffs in {PER_STORY} transitions");
    }
    Ok(())
}

async fn measure_round(
    program: &Path,
    n_nodes: usize,
    options: &PostgresOptions,
    script: &StoryScript,
) -> Result<PostgresRound> {
    let cluster = Cluster::start(Durability::Synced)?;
    let mut nodes = Vec::new();
    for _ in 0..n_nodes {
        nodes.push(NodeProcess::start(program, cluster.url(), 0).await?);
    }
    let addresses: Vec<String> = nodes.iter().map(|it| it.address().to_string()).collect();
    let pids: Vec<u32> = nodes.iter().filter_map(NodeProcess::pid).collect();
    let before = (CpuTime::of(&pids), CpuTime::of_server(&cluster)?);
    let lasting = Duration::from_secs(options.seconds);
    let measured = measure(&addresses, options.connections, lasting).await?;
    let after = (CpuTime::of(&pids), CpuTime::of_server(&cluster)?);
    let n_transitions = measured.per_second * options.seconds as f64;
    drop(nodes);
    let began = CpuTime::of_server(&cluster)?;
    let pgbench = script.run(&cluster, options.connections, lasting)?;
    let ended = CpuTime::of_server(&cluster)?;
    let n_transitions_of_pgbench = pgbench * PER_STORY * options.seconds as f64;
    Ok(PostgresRound {
        measured,
        node_cpu: after.0.since(before.0) / n_transitions,
        database_cpu: after.1.since(before.1) / n_transitions,
        pgbench: pgbench * PER_STORY,
        pgbench_cpu: ended.since(began) / n_transitions_of_pgbench,
    })
}

/// Stories over connections that are spread over the nodes.
async fn measure(addresses: &[String], connections: usize, lasting: Duration) -> Result<Measured> {
    let began = Instant::now();
    let mut tasks = Vec::new();
    for n in 0..connections {
        let mut connection = Connection::open(&addresses[n % addresses.len()]).await?;
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

fn print_row(n_nodes: usize, rounds: &[PostgresRound]) {
    let sorted = |of: fn(&PostgresRound) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median = |of| sorted(of).get(rounds.len() / 2).copied().unwrap_or(f64::NAN);
    let ratios = sorted(|it| it.measured.per_second / it.pgbench);
    println!(
        "| {n_nodes} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2}, {:.2} |",
        median(|it| it.measured.per_second),
        median(|it| milliseconds(it.measured.p50)),
        median(|it| milliseconds(it.measured.p99)),
        median(|it| it.node_cpu),
        median(|it| it.database_cpu),
        median(|it| it.pgbench),
        median(|it| it.pgbench_cpu),
        median(|it| it.measured.per_second / it.pgbench),
        ratios.first().unwrap_or(&f64::NAN),
        ratios.last().unwrap_or(&f64::NAN),
    );
}

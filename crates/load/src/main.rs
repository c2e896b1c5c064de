//! Puts load on Baton: to measure it (`engine`, `http`, `postgres`, `events`, `formats`, `leases`,
//! `growth`, `hostile`, `people`, `runner`, `do`), and to kill it in the middle
//! (`crash`, `nodes`).
#![expect(clippy::print_stdout, reason = "its report is its purpose")]

mod bench;
mod crash;
mod crew;
mod do_work;
mod events;
mod formats;
mod growth;
mod history;
mod hostile;
mod http;
mod leases;
mod nodes;
mod people;
mod postgres;
mod raw;
mod runner;

use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

/// As the `baton` program has it: what one thread allocates here, another frees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "baton-load", about = "Puts load on Baton")]
struct LoadCli {
    #[command(subcommand)]
    command: LoadCommand,
}

#[derive(Debug, Subcommand)]
enum LoadCommand {
    /// Durable transitions per second through the engine, beside a raw SQLite writer
    Engine(bench::EngineOptions),
    /// Durable transitions per second over HTTP, beside a raw SQLite writer
    Http(http::HttpOptions),
    /// What `http` measures
    #[command(hide = true)]
    Server(http::ServerOptions),
    /// Durable transitions per second on PostgreSQL with several nodes, beside pgbench
    Postgres(postgres::PostgresOptions),
    /// How soon everybody who listens has heard of what happened
    Events(events::EventsOptions),
    /// Documents per second on one core: reading, the contract and the linter, in every format
    Formats(formats::FormatsOptions),
    /// What the heartbeats of many holders cost, and how soon a dead one is noticed
    Leases(leases::LeasesOptions),
    /// What it costs that many runs are open
    Growth(growth::GrowthOptions),
    /// What others notice of clients that mean harm, and what those take of the memory
    Hostile(hostile::HostileOptions),
    /// What conversations, decisions, attribution, checkpoints and exports cost
    People(people::PeopleOptions),
    /// What the runner takes for each handoff, beside the agent's own work
    Runner(runner::RunnerBenchOptions),
    /// What `baton do` costs beside the agents
    Do(do_work::DoBenchOptions),
    /// What `runner` starts as its agents
    #[command(hide = true)]
    Agent(runner::BenchAgentOptions),
    /// Kill a process under load again and again, and look for what was lost
    Crash(crash::CrashOptions),
    /// Three servers on one PostgreSQL under load while everything fails, and a checker
    Nodes(nodes::NodesOptions),
    /// What `crash` kills
    #[command(hide = true)]
    Victim(crash::VictimOptions),
}

fn main() -> anyhow::Result<()> {
    let cli = LoadCli::parse();
    let runtime = runtime_for(&cli.command)?;
    match cli.command {
        LoadCommand::Engine(options) => runtime.block_on(bench::run(&options)),
        LoadCommand::Http(options) => runtime.block_on(http::run(&options)),
        LoadCommand::Postgres(options) => runtime.block_on(postgres::run(&options)),
        LoadCommand::Server(options) => runtime.block_on(http::serve(&options)),
        LoadCommand::Events(options) => runtime.block_on(events::run(&options)),
        LoadCommand::Formats(options) => formats::run(&options),
        LoadCommand::Leases(options) => runtime.block_on(leases::run(&options)),
        LoadCommand::Growth(options) => runtime.block_on(growth::run(&options)),
        LoadCommand::Hostile(options) => runtime.block_on(hostile::run(&options)),
        LoadCommand::People(options) => runtime.block_on(people::run(&options)),
        LoadCommand::Do(options) => do_work::run(&options),
        LoadCommand::Runner(options) => runtime.block_on(runner::run(&options)),
        LoadCommand::Agent(options) => runner::play_agent(&options),
        LoadCommand::Crash(options) => runtime.block_on(crash::run(&options)),
        LoadCommand::Nodes(options) => runtime.block_on(nodes::run(&options)),
        LoadCommand::Victim(options) => runtime.block_on(crash::play_victim(&options)),
    }
}

fn runtime_for(command: &LoadCommand) -> std::io::Result<Runtime> {
    let mut runtime = if matches!(
        command,
        LoadCommand::Http(_) | LoadCommand::Hostile(_) | LoadCommand::Postgres(_)
    ) {
        // Who measures a server takes as little of the machine as can be.
        Builder::new_current_thread()
    } else {
        Builder::new_multi_thread()
    };
    if matches!(command, LoadCommand::Server(_) | LoadCommand::Events(_)) {
        // As the `baton` program has it.
        runtime.worker_threads(baton_http::n_workers());
    }
    runtime.enable_all().build()
}

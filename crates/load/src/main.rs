//! Puts load on Baton: to measure it (`engine`, `http`, `events`, `formats`, `leases`,
//! `growth`, `hostile`), and to kill it in the middle (`crash`).
#![expect(clippy::print_stdout, reason = "its report is its purpose")]

mod bench;
mod crash;
mod crew;
mod events;
mod formats;
mod growth;
mod history;
mod hostile;
mod http;
mod leases;
mod raw;

use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

/// As the `baton` program has it: what one thread allocates here, another frees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "baton-load", about = "Puts load on Baton")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Durable transitions per second through the engine, beside a raw SQLite writer
    Engine(bench::Options),
    /// Durable transitions per second over HTTP, beside a raw SQLite writer
    Http(http::Options),
    /// What `http` measures
    #[command(hide = true)]
    Server(http::ServerOptions),
    /// How soon everybody who listens has heard of what happened
    Events(events::Options),
    /// Documents per second on one core: reading, the contract and the linter, in every format
    Formats(formats::Options),
    /// What the heartbeats of many holders cost, and how soon a dead one is noticed
    Leases(leases::Options),
    /// What it costs that many runs are open
    Growth(growth::Options),
    /// What others notice of clients that mean harm, and what those take of the memory
    Hostile(hostile::Options),
    /// Kill a process under load again and again, and look for what was lost
    Crash(crash::Options),
    /// What `crash` kills
    #[command(hide = true)]
    Victim(crash::VictimOptions),
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let runtime = runtime_for(&cli.command)?;
    match cli.command {
        Command::Engine(options) => runtime.block_on(bench::run(&options)),
        Command::Http(options) => runtime.block_on(http::run(&options)),
        Command::Server(options) => runtime.block_on(http::serve(&options)),
        Command::Events(options) => runtime.block_on(events::run(&options)),
        Command::Formats(options) => formats::run(&options),
        Command::Leases(options) => runtime.block_on(leases::run(&options)),
        Command::Growth(options) => runtime.block_on(growth::run(&options)),
        Command::Hostile(options) => runtime.block_on(hostile::run(&options)),
        Command::Crash(options) => runtime.block_on(crash::run(&options)),
        Command::Victim(options) => runtime.block_on(crash::play_victim(&options)),
    }
}

fn runtime_for(command: &Command) -> std::io::Result<Runtime> {
    let mut runtime = if matches!(command, Command::Http(_) | Command::Hostile(_)) {
        // Who measures a server takes as little of the machine as can be.
        Builder::new_current_thread()
    } else {
        Builder::new_multi_thread()
    };
    if matches!(command, Command::Server(_) | Command::Events(_)) {
        // As the `baton` program has it.
        runtime.worker_threads(baton_http::n_workers());
    }
    runtime.enable_all().build()
}

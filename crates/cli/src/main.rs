//! `baton`: passes work between agents and people. Answers go to stdout, all else to stderr.

mod api;
mod archive;
mod args;
mod browser;
mod commands;
mod data;
mod document;
mod failure;
mod log;
mod lost_data;
mod named_file;
mod payload;
mod project;
mod session;
mod show;
mod workspace;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Cli;

/// What one thread allocates here, another frees: the system's allocator is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let format = cli.format();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(baton_http::n_workers()).enable_all();
    let runtime = match runtime.build() {
        Ok(runtime) => runtime,
        Err(error) => return failure::report(&failure::Failure::io("start", error), format),
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure::report(&failure, format),
    }
}

//! `baton`: passes work between agents and people. Answers go to stdout, all else to stderr.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files of their own"))]

mod api;
mod archive;
mod args;
mod browser;
mod checkpoint_key;
mod commands;
mod data;
mod document;
mod failure;
mod log;
mod lost_data;
mod named_file;
mod no_file;
mod nodes;
mod payload;
mod project;
mod repository;
mod runners;
mod server_list;
mod session;
mod show;
mod workspace;

use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::Cli;

/// Memory allocated by one thread is freed by another: the system's allocator is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(debug_assertions)]
    kill_when_a_test_says();
    if std::env::args_os().len() < 2 {
        show::answer(&args::greeting());
        return ExitCode::SUCCESS;
    }
    let typed = args::with_dashed_texts(std::env::args_os());
    let matches = args::root().try_get_matches_from(typed);
    let matches = matches.unwrap_or_else(|it| args::nearest_first(it).exit());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let format = cli.format();
    if let Err(failure) = hide_secrets(&cli) {
        return failure::report(&failure, format);
    }
    show::remember_place(&cli);
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

/// Starts this program again with a typed password or credential in the environment instead of the arguments,
/// which every user of the machine can read. Returns where there is none.
#[expect(clippy::disallowed_methods, reason = "it becomes itself, with other arguments")]
fn hide_secrets(cli: &Cli) -> Result<(), failure::Failure> {
    let typed: Vec<_> = std::env::args_os().collect();
    let database = args::moved_to_environment(&typed, &cli.typed_databases());
    let database = database.map(|(moved, url)| (moved, args::DATABASE_VARIABLE, url));
    let token = || {
        let moved = args::token_moved_to_environment(&typed, cli.typed_token());
        moved.map(|(moved, token)| (moved, args::TOKEN_VARIABLE, token))
    };
    let Some((moved, variable, secret)) = database.or_else(token) else { return Ok(()) };
    let failed = |error| failure::Failure::io("hide a typed password or credential", error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = std::process::Command::new(program);
    command.arg0(&moved[0]).args(&moved[1..]).env(variable, secret);
    Err(failed(command.exec()))
}

/// Tests kill the program before its n-th change of the disk, or at a stage of an attempt. Release builds
/// have no such switch.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "this is how a test tells its child when to die")]
fn kill_when_a_test_says() {
    if let Some(step) = std::env::var("BATON_KILL_AT_STEP").ok().and_then(|it| it.parse().ok()) {
        baton_files::fail_point::kill_at(step);
    }
    if let Ok(stage) = std::env::var("BATON_KILL_AT_STAGE") {
        let victim = std::env::var("BATON_KILL_PID").ok().and_then(|it| it.parse().ok());
        baton_files::fail_point::kill_at_stage(&stage, victim);
    }
}

//! The commands of the repository: `cargo xtask test`, `cargo xtask tidy`, and so on.
//! One file a command; this one only reads the command line.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a command line speaks on both")]
#![expect(clippy::disallowed_methods, reason = "its files are those of this repository")]

mod agents;
mod api;
mod bench;
mod browser;
mod cargo;
mod crash;
mod debian;
mod fuzz;
mod git;
mod lines;
mod mutants;
mod page;
mod postgres;
mod seeds;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test               check everything: format, lints, tests, the API, documentation, dependencies
  api                check only the API: its description, generated clients, and the server against it
  page               check only the page, in headless Chromium
  test-postgres      run the suites of engine, HTTP and runner on PostgreSQL too
  tidy               check only the rules of the repository that the compiler cannot see
  bench [WHAT]       measure `engine` (default), `http`, `postgres`, `events`, `formats`, `leases` or `runner`
  bench [WHAT] --against DIR  the same in turn with another checkout, and the ratios (--pairs N)
  crash [N]          kill Baton N times in the middle of its work (default 1000)
  crash --damage [N] kill it, and damage what it left in N ways
  crash --nodes [SECONDS]  three nodes on one PostgreSQL while everything fails (default 120)
  fuzz [TARGET]      damage texts for `json`, `xml`, `yaml`, `markdown`, `extract`, or all (--seconds N, --seed N)
  lines [--at COMMIT] count the lines of the product, without tests, now or at a commit
  mutants [FILE]     change the rules in core/src/decide one place at a time, and run the tests on each (--shard K/N)
  seeds              run the tests that docs/seeds.md names, row by row
  help               print this
";

/// What a shell expects of a program that was called wrongly.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test"] => return test::run(),
        ["test-postgres"] => test::on_postgres().map(drop),
        ["tidy"] => tidy::run(),
        ["api"] => api::check().map(drop),
        ["page"] => page::check().map(|measured| eprintln!("{measured}")),
        ["bench", rest @ ..] => bench::run(rest),
        ["crash", rest @ ..] => crash::run(rest),
        ["lines", rest @ ..] => lines::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["mutants", rest @ ..] => mutants::run(rest),
        ["seeds"] => seeds::run(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [] => {
            eprint!("{USAGE}");
            return ExitCode::from(WRONG_USAGE);
        }
        unknown => {
            eprint!("there is no `cargo xtask {}`\n\n{USAGE}", unknown.join(" "));
            return ExitCode::from(WRONG_USAGE);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

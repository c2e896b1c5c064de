//! `cargo xtask bench [engine|http|postgres|events|formats|leases|growth|hostile|people|runner|do]`: measures, built
//! as a released binary is. `baton-load` knows what can be measured and with which options.
//! `--against DIR` compares with another checkout: see [`pairs`].

mod pairs;
mod queue;

use anyhow::Result;

use self::pairs::Comparison;
use crate::{agents, cargo};

const DEFAULT: &str = "engine";
const BUILD: [&str; 5] = ["build", "--profile", "dist", "--package", "baton-load"];
const RUN: [&str; 7] = ["run", "--quiet", "--profile", "dist", "--package", "baton-load", "--"];

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (comparison, args) = Comparison::of_args(args)?;
    let args = load_args(&args);
    if let Some(comparison) = comparison {
        return comparison.run(&args);
    }
    if matches!(args.first(), Some(&("growth" | "runner" | "do" | "postgres"))) {
        // They measure the program itself.
        cargo::run(&["build", "--profile", "dist", "--package", "baton-cli"], &[])?;
    }
    cargo::run(&BUILD, &[])?;
    let queue = match args.first() {
        Some(&"postgres") => queue::installed(),
        Some(_) | None => None,
    };
    let args: Vec<&str> = match &queue {
        Some(folder) => args.into_iter().chain(["--queue", folder]).collect(),
        None => args,
    };
    // `do` measures Claude Code too, where the tests have installed it.
    let programs = agents::folder().display().to_string();
    cargo::run(&[&RUN[..], &args].concat(), &[("BATON_AGENT_PROGRAMS", &programs)])
}

/// The first word says what to measure; without one, or with options alone, it is the engine.
fn load_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let is_named = args.first().is_some_and(|it| !it.starts_with('-'));
    let what = if is_named { None } else { Some(DEFAULT) };
    what.into_iter().chain(args.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_measured_unless_something_else_is_named() {
        assert_eq!(load_args(&[]), ["engine"]);
        assert_eq!(load_args(&["engine"]), ["engine"]);
        assert_eq!(load_args(&["--runs", "9"]), ["engine", "--runs", "9"]);
        assert_eq!(load_args(&["store", "--runs", "9"]), ["store", "--runs", "9"]);
    }
}

//! `cargo xtask fuzz [TARGET] [--seconds N] [--seed N]`: the long form of the run on damaged texts
//! that is among the tests. Needs no nightly compiler; the seed makes it repeatable.

use std::hash::{BuildHasher as _, RandomState};

use anyhow::{Context, Result, bail};

use crate::cargo;

const TARGETS: [&str; 5] = ["json", "xml", "yaml", "markdown", "extract"];
const DEFAULT_SECONDS: u64 = 60;

#[derive(Debug, PartialEq)]
struct Run {
    /// All of them by default.
    target: Option<String>,
    /// For each target.
    seconds: u64,
    seed: Option<u64>,
}

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let Run { target, seconds, seed } = parse(args)?;
    // Random enough, and needs no clock.
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0)).to_string();
    let seconds = seconds.to_string();
    let mut env = vec![("BATON_FUZZ_SECONDS", seconds.as_str()), ("BATON_FUZZ_SEED", &seed)];
    env.extend(target.as_deref().map(|it| ("BATON_FUZZ_TARGET", it)));
    let test = ["test", "--release", "--package", "baton-wire", "--test", "formats", "--"];
    let only = ["--nocapture", "fuzz::"];
    cargo::run(&[&test[..], &only].concat(), &env)
}

fn parse(args: &[&str]) -> Result<Run> {
    let mut run = Run { target: None, seconds: DEFAULT_SECONDS, seed: None };
    let number = |name: &str, value: Option<&&str>| -> Result<u64> {
        let value = value.with_context(|| format!("`{name}` needs a number"))?;
        value.parse().with_context(|| format!("`{value}` is not a number"))
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--seconds" => run.seconds = number("--seconds", args.next())?,
            "--seed" => run.seed = Some(number("--seed", args.next())?),
            target if TARGETS.contains(&target) && run.target.is_none() => {
                run.target = Some(target.to_owned());
            }
            other => bail!("`{other}` is not one of {}", TARGETS.join(", ")),
        }
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_target_a_time_and_a_seed() {
        let run = |target: Option<&str>, seconds, seed| Run {
            target: target.map(str::to_owned),
            seconds,
            seed,
        };
        assert_eq!(parse(&[]).unwrap(), run(None, DEFAULT_SECONDS, None));
        let args = ["xml", "--seconds", "5", "--seed", "7"];
        assert_eq!(parse(&args).unwrap(), run(Some("xml"), 5, Some(7)));
        for bad in [&["toml"][..], &["--seconds"], &["--seconds", "x"], &["xml", "yaml"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}

//! `cargo xtask mutants [FILE] [--shard K/N]`: changes the rules one place at a time and runs the tests of `core` on
//! each change. A change that no test notices is a rule that no test states.

use anyhow::{Result, bail};

use crate::cargo::{self, Tool};

const MUTANTS: Tool = Tool { subcommand: "mutants", package: "cargo-mutants", version: "27.1.0" };

/// The rules: what a command does to a run.
const RULES: &str = "crates/core/src/decide/*.rs";

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let Part { file, shard } = parse(args)?;
    MUTANTS.ensure_installed()?;
    let file = file.map_or_else(|| RULES.to_owned(), |it| format!("crates/core/src/decide/{it}"));
    // One at a time: a test run uses every core by itself.
    let mut mutants = vec!["mutants", "--package", "baton-core", "--file", &file, "--jobs", "1"];
    mutants.extend(["--output", "target", "--no-shuffle", "--colors", "never"]);
    if let Some(shard) = shard {
        // Each N-th, not the first N-th part: a sample of every file.
        mutants.extend(["--shard", shard, "--sharding", "round-robin"]);
    }
    // The tests of the rules are beside the rules; the others of `core` take longer and notice nothing.
    mutants.extend(["--", "--lib", "decide::"]);
    cargo::run(&mutants, &[])
}

/// What is to be changed: one file, or each N-th place of all.
#[derive(Debug, PartialEq, Eq, Default)]
struct Part<'a> {
    file: Option<&'a str>,
    shard: Option<&'a str>,
}

fn parse<'a>(args: &[&'a str]) -> Result<Part<'a>> {
    match args {
        [] => Ok(Part::default()),
        ["--shard", shard] => Ok(Part { file: None, shard: Some(shard) }),
        [file] if is_file(file) => Ok(Part { file: Some(file), shard: None }),
        [file, "--shard", shard] if is_file(file) => {
            Ok(Part { file: Some(file), shard: Some(shard) })
        }
        _ => bail!(
            "`cargo xtask mutants` takes the name of a file in core/src/decide, such as `clock.rs`, and `--shard K/N`, \
             not `{}`",
            args.join(" ")
        ),
    }
}

fn is_file(name: &str) -> bool {
    name.strip_suffix(".rs").is_some_and(|it| !it.contains(['/', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_file_a_shard_or_both() {
        assert_eq!(parse(&[]).unwrap(), Part::default());
        let clock = Some("clock.rs");
        assert_eq!(parse(&["clock.rs"]).unwrap(), Part { file: clock, shard: None });
        let shard = Some("0/8");
        assert_eq!(parse(&["--shard", "0/8"]).unwrap(), Part { file: None, shard });
        assert_eq!(parse(&["clock.rs", "--shard", "0/8"]).unwrap(), Part { file: clock, shard });
        for bad in [&["clock"][..], &["../x.rs"], &["--shard"], &["a.rs", "b.rs"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}

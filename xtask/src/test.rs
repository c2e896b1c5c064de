//! `cargo xtask test`: everything that must hold, in one command. CI runs this and nothing else.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cargo;

/// In the order they run; the first that fails is the last. A new check is one more line.
const STAGES: &[Stage] = &[
    Stage { name: "format", run: format },
    Stage { name: "lints", run: lints },
    // The rules of `tidy` are tests of xtask, so they are in here.
    Stage { name: "tests", run: tests },
    Stage { name: "api", run: api },
    Stage { name: "doc tests", run: doc_tests },
    Stage { name: "documentation", run: documentation },
    Stage { name: "dependencies", run: dependencies },
];

struct Stage {
    name: &'static str,
    run: fn() -> Result<Outcome>,
}

enum Outcome {
    Passed,
    /// Something it needs is missing here; says what, and how to get it.
    Skipped(&'static str),
}

fn format() -> Result<Outcome> {
    must_pass(&["fmt", "--all", "--check"])
}

fn lints() -> Result<Outcome> {
    must_pass(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn tests() -> Result<Outcome> {
    if cargo::has("nextest") {
        return must_pass(&["nextest", "run", "--workspace", "--profile", "ci"]);
    }
    // `--tests` leaves out the doc tests, which have a stage of their own.
    must_pass(&["test", "--workspace", "--tests", "--no-fail-fast"])
}

fn api() -> Result<Outcome> {
    Ok(crate::api::check()?.map_or(Outcome::Passed, Outcome::Skipped))
}

fn doc_tests() -> Result<Outcome> {
    must_pass(&["test", "--workspace", "--doc"])
}

fn documentation() -> Result<Outcome> {
    cargo::run(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    Ok(Outcome::Passed)
}

fn dependencies() -> Result<Outcome> {
    if !cargo::has("deny") {
        return Ok(Outcome::Skipped(
            "cargo-deny is missing; `cargo install --locked cargo-deny` gets it",
        ));
    }
    must_pass(&["deny", "check", "licenses", "bans", "sources"])
}

fn must_pass(args: &[&str]) -> Result<Outcome> {
    cargo::run(args, &[])?;
    Ok(Outcome::Passed)
}

pub(crate) fn run() -> Result<()> {
    run_stages(STAGES, &mut |line| eprintln!("{line}"))
}

/// What became of a stage, for the summary.
struct Entry {
    name: &'static str,
    took: Duration,
    ended: Ended,
}

enum Ended {
    Passed,
    Skipped(&'static str),
    Failed,
    NotRun,
}

fn run_stages(stages: &[Stage], say: &mut dyn FnMut(&str)) -> Result<()> {
    let mut entries = Vec::new();
    let mut failure = None;
    for Stage { name, run } in stages {
        if failure.is_some() {
            entries.push(Entry { name, took: Duration::ZERO, ended: Ended::NotRun });
            continue;
        }
        say(&format!("==> {name}"));
        let started = Instant::now();
        let result = run();
        let took = started.elapsed();
        let ended = match result {
            Ok(Outcome::Passed) => Ended::Passed,
            Ok(Outcome::Skipped(why)) => Ended::Skipped(why),
            Err(error) => {
                failure = Some((name, error));
                Ended::Failed
            }
        };
        let entry = Entry { name, took, ended };
        say(&format!("<== {}\n", describe(&entry)));
        entries.push(entry);
    }

    say(&summary(&entries));
    match failure {
        None => Ok(()),
        Some((name, error)) => Err(error).with_context(|| format!("the stage `{name}` failed")),
    }
}

fn describe(entry: &Entry) -> String {
    let Entry { name, took, ended } = entry;
    let seconds = took.as_secs_f64();
    match ended {
        Ended::Passed => format!("{name} passed in {seconds:.1} s"),
        Ended::Failed => format!("{name} failed after {seconds:.1} s"),
        Ended::Skipped(why) => format!("{name} skipped: {why}"),
        Ended::NotRun => format!("{name} not run"),
    }
}

fn summary(entries: &[Entry]) -> String {
    let mut table = String::from("stage            seconds  outcome\n");
    for Entry { name, took, ended } in entries {
        let seconds = took.as_secs_f64();
        let line = match ended {
            Ended::Passed => format!("{name:<14} {seconds:>9.1}  passed"),
            Ended::Failed => format!("{name:<14} {seconds:>9.1}  FAILED"),
            Ended::Skipped(why) => format!("{name:<14} {:>9}  skipped: {why}", "-"),
            Ended::NotRun => format!("{name:<14} {:>9}  not run", "-"),
        };
        table.push_str(&line);
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn passes() -> Result<Outcome> {
        Ok(Outcome::Passed)
    }

    fn lacks_a_tool() -> Result<Outcome> {
        Ok(Outcome::Skipped("no tool"))
    }

    fn fails() -> Result<Outcome> {
        bail!("`cargo x` ended with exit status: 1")
    }

    fn must_not_run() -> Result<Outcome> {
        panic!("a stage ran after one that failed")
    }

    #[test]
    fn the_first_failure_ends_the_run_and_says_which_stage_it_was() {
        let stages = [
            Stage { name: "one", run: passes },
            Stage { name: "two", run: fails },
            Stage { name: "three", run: must_not_run },
        ];
        let error = run_stages(&stages, &mut |_| ()).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "the stage `two` failed: `cargo x` ended with exit status: 1"
        );
    }

    #[test]
    fn a_skipped_stage_is_not_a_failure_but_is_said() {
        let stages = [Stage { name: "one", run: lacks_a_tool }];
        let mut said = Vec::new();
        run_stages(&stages, &mut |line| said.push(line.to_owned())).unwrap();
        assert_eq!(said[..2], ["==> one", "<== one skipped: no tool\n"]);
    }

    #[test]
    fn the_summary_has_a_line_for_every_stage() {
        let entry =
            |name, millis, ended| Entry { name, took: Duration::from_millis(millis), ended };
        let entries = [
            entry("format", 640, Ended::Passed),
            entry("dependencies", 0, Ended::Skipped("no tool")),
            entry("tests", 61_250, Ended::Failed),
            entry("documentation", 0, Ended::NotRun),
        ];
        let expected = "\
stage            seconds  outcome
format               0.6  passed
dependencies           -  skipped: no tool
tests               61.2  FAILED
documentation          -  not run
";
        assert_eq!(summary(&entries), expected);
    }
}

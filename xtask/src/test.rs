//! `cargo xtask test`: everything that must hold, in one command. CI runs this and nothing else. Its last line is the
//! verdict, on stdout: `PASS: ...` or `FAIL: ...`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::cargo::{self, Tool};
use crate::{git, postgres};

/// In the order they run; the first that fails is the last. A new check is one more line.
const STAGES: &[Stage] = &[
    Stage { name: "tools", run: tools },
    Stage { name: "format", run: format },
    Stage { name: "lints", run: lints },
    Stage { name: "tidy", run: tidy },
    Stage { name: "tests", run: tests },
    Stage { name: "on PostgreSQL", run: tests_on_postgres },
    Stage { name: "api", run: api },
    Stage { name: "page", run: page },
    Stage { name: "agents", run: agents },
    Stage { name: "doc tests", run: doc_tests },
    Stage { name: "documentation", run: documentation },
    Stage { name: "dependencies", run: dependencies },
];

/// Installed below `target` where they are missing. The advisory database is a repository of its own and needs the
/// internet at every run; `cargo deny check advisories` looks there.
const NEXTEST: Tool = Tool { subcommand: "nextest", package: "cargo-nextest", version: "0.9.143" };
const DENY: Tool = Tool { subcommand: "deny", package: "cargo-deny", version: "0.20.2" };

struct Stage {
    name: &'static str,
    run: fn() -> Result<Passed>,
}

/// What a stage adds to the verdict; most add only their name.
type Passed = Option<String>;

fn tools() -> Result<Passed> {
    NEXTEST.ensure_installed()?;
    DENY.ensure_installed()?;
    crate::api::ensure_installed()?;
    crate::browser::ensure_installed()?;
    crate::agents::ensure_installed()?;
    crate::postgres::ensure_installed()?;
    Ok(None)
}

fn format() -> Result<Passed> {
    must_pass(&["fmt", "--all", "--check"])
}

fn lints() -> Result<Passed> {
    must_pass(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn tidy() -> Result<Passed> {
    crate::tidy::run().map(|()| None)
}

fn tests() -> Result<Passed> {
    run_tests("ci", &[]).map(Some)
}

fn tests_on_postgres() -> Result<Passed> {
    let count = on_postgres()?;
    Ok(Some(format!("{count} on PostgreSQL")))
}

/// `cargo xtask test-postgres`: the suites that do not say themselves which backend they run on, once
/// more, on the other one.
pub(crate) fn on_postgres() -> Result<String> {
    run_tests("postgres", &[("BATON_TEST_BACKEND", "postgres")])
}

/// Runs the tests of a profile of nextest beside a PostgreSQL of their own, and counts them.
fn run_tests(profile: &str, environment: &[(&str, &str)]) -> Result<String> {
    let cluster = postgres::start()?;
    let (name, url) = postgres::variable(&cluster);
    let environment = [&[(name, url.as_str())], environment].concat();
    let args = ["nextest", "run", "--workspace", "--profile", profile];
    let output = cargo::run_and_read(&args, &environment)?;
    test_count(&output).context("nextest printed no count of the tests")
}

/// `1365 tests, 0 skipped`, from the summary of nextest.
fn test_count(output: &str) -> Option<String> {
    let (_, summary) = output.rsplit_once(" tests run: ")?;
    let number = |before: &str| -> Option<usize> {
        summary.split_once(before)?.0.rsplit(' ').next()?.parse().ok()
    };
    Some(format!("{} tests, {} skipped", number(" passed")?, number(" skipped")?))
}

fn api() -> Result<Passed> {
    crate::api::check().map(Some)
}

fn page() -> Result<Passed> {
    crate::page::check().map(Some)
}

fn agents() -> Result<Passed> {
    crate::agents::check().map(Some)
}

fn doc_tests() -> Result<Passed> {
    must_pass(&["test", "--workspace", "--doc"])
}

fn documentation() -> Result<Passed> {
    cargo::run(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    Ok(None)
}

fn dependencies() -> Result<Passed> {
    eprintln!(
        "not checked here: advisories, whose database is on the internet (`cargo deny check advisories`)"
    );
    must_pass(&["deny", "check", "licenses", "bans", "sources"])
}

fn must_pass(args: &[&str]) -> Result<Passed> {
    cargo::run(args, &[])?;
    Ok(None)
}

pub(crate) fn run() -> ExitCode {
    let before = git::status();
    let mut say = |line: &str| eprintln!("{line}");
    let mut entries = run_stages(STAGES, &mut say);
    // Also after a failure: what a run leaves behind is a fault of its own.
    entries.push(run_stage(
        "checkout",
        || unchanged(before.as_deref(), git::status().as_deref()),
        &mut say,
    ));
    say(&summary(&entries));
    println!("{}", verdict(&entries));
    let passed = entries.iter().all(|it| matches!(it.ended, Ended::Passed(_)));
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The status of the checkout as git prints it; without git, as in an unpacked archive, none.
fn unchanged(before: Option<&str>, after: Option<&str>) -> Result<Passed> {
    ensure!(
        before == after,
        "the run changed the checkout; `git status` before:\n{}\nand after:\n{}",
        before.unwrap_or_default(),
        after.unwrap_or_default()
    );
    Ok(None)
}

/// What became of a stage, for the summary.
struct Entry {
    name: &'static str,
    took: Duration,
    ended: Ended,
}

enum Ended {
    Passed(Passed),
    Failed(String),
    NotRun,
}

fn run_stages(stages: &[Stage], say: &mut dyn FnMut(&str)) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut failed = false;
    for Stage { name, run } in stages {
        if failed {
            entries.push(Entry { name, took: Duration::ZERO, ended: Ended::NotRun });
            continue;
        }
        let entry = run_stage(name, run, say);
        failed = matches!(entry.ended, Ended::Failed(_));
        entries.push(entry);
    }
    entries
}

fn run_stage(
    name: &'static str,
    run: impl FnOnce() -> Result<Passed>,
    say: &mut dyn FnMut(&str),
) -> Entry {
    say(&format!("==> {name}"));
    let started = Instant::now();
    let ended = match run() {
        Ok(passed) => Ended::Passed(passed),
        Err(error) => Ended::Failed(format!("{error:#}")),
    };
    let entry = Entry { name, took: started.elapsed(), ended };
    say(&format!("<== {}\n", describe(&entry)));
    entry
}

fn describe(entry: &Entry) -> String {
    let Entry { name, took, ended } = entry;
    let seconds = took.as_secs_f64();
    match ended {
        Ended::Passed(_) => format!("{name} passed in {seconds:.1} s"),
        Ended::Failed(why) => format!("{name} failed after {seconds:.1} s: {why}"),
        Ended::NotRun => format!("{name} not run"),
    }
}

fn summary(entries: &[Entry]) -> String {
    let mut table = String::from("stage            seconds  outcome\n");
    for Entry { name, took, ended } in entries {
        let seconds = took.as_secs_f64();
        let line = match ended {
            Ended::Passed(_) => format!("{name:<14} {seconds:>9.1}  passed"),
            Ended::Failed(_) => format!("{name:<14} {seconds:>9.1}  FAILED"),
            Ended::NotRun => format!("{name:<14} {:>9}  not run", "-"),
        };
        table.push_str(&line);
        table.push('\n');
    }
    table
}

/// One line, the last one.
fn verdict(entries: &[Entry]) -> String {
    let failed: Vec<&str> = entries
        .iter()
        .filter(|it| matches!(it.ended, Ended::Failed(_)))
        .map(|it| it.name)
        .collect();
    if !failed.is_empty() {
        let not_run: Vec<&str> = entries
            .iter()
            .filter(|it| matches!(it.ended, Ended::NotRun))
            .map(|it| it.name)
            .collect();
        let rest = if not_run.is_empty() {
            String::new()
        } else {
            format!(" (not run: {})", not_run.join(", "))
        };
        return format!("FAIL: {}{rest}", failed.join(", "));
    }
    let parts: Vec<&str> = entries
        .iter()
        .map(|it| match &it.ended {
            Ended::Passed(Some(detail)) => detail.as_str(),
            Ended::Passed(None) | Ended::Failed(_) | Ended::NotRun => it.name,
        })
        .collect();
    format!("PASS: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn passes() -> Result<Passed> {
        Ok(None)
    }

    fn counts() -> Result<Passed> {
        Ok(Some("3 tests, 0 skipped".to_owned()))
    }

    fn fails() -> Result<Passed> {
        bail!("`cargo x` ended with exit status: 1")
    }

    fn must_not_run() -> Result<Passed> {
        panic!("a stage ran after one that failed")
    }

    #[test]
    fn the_first_failure_ends_the_run_and_says_which_stage_it_was() {
        let stages = [
            Stage { name: "one", run: passes },
            Stage { name: "two", run: fails },
            Stage { name: "three", run: must_not_run },
        ];
        let mut lines = Vec::new();
        let entries = run_stages(&stages, &mut |line| lines.push(line.to_owned()));
        assert_eq!(verdict(&entries), "FAIL: two (not run: three)");
        let last = lines.pop().unwrap();
        assert!(last.ends_with("s: `cargo x` ended with exit status: 1\n"), "{last}");
    }

    #[test]
    fn the_verdict_is_one_line_that_counts_the_tests() {
        let stages = [Stage { name: "one", run: passes }, Stage { name: "two", run: counts }];
        let entries = run_stages(&stages, &mut |_| ());
        assert_eq!(verdict(&entries), "PASS: one, 3 tests, 0 skipped");
    }

    #[test]
    fn tests_are_counted_as_nextest_prints_them() {
        let output = "     Summary [  61.2s] 1365 tests run: 1365 passed (2 slow), 0 skipped\n";
        assert_eq!(test_count(output).unwrap(), "1365 tests, 0 skipped");
        assert_eq!(test_count("error: could not compile"), None);
    }

    #[test]
    fn a_run_that_changes_the_checkout_fails() {
        assert!(unchanged(Some(" M a.rs\n"), Some(" M a.rs\n")).is_ok());
        assert!(unchanged(None, None).is_ok());
        assert!(unchanged(Some(""), Some("?? left.json\n")).is_err());
    }

    #[test]
    fn the_summary_has_a_line_for_every_stage() {
        let entry =
            |name, millis, ended| Entry { name, took: Duration::from_millis(millis), ended };
        let entries = [
            entry("format", 640, Ended::Passed(None)),
            entry("tests", 61_250, Ended::Failed("no".to_owned())),
            entry("documentation", 0, Ended::NotRun),
        ];
        let expected = "\
stage            seconds  outcome
format               0.6  passed
tests               61.2  FAILED
documentation          -  not run
";
        assert_eq!(summary(&entries), expected);
    }
}

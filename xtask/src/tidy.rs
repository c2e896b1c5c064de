//! `cargo xtask tidy`: rules that the compiler cannot check. Each is a file below `tidy/` and a
//! line in `RULES`; each is also a test of xtask, so that running the tests runs the rules.

mod changelog;
mod core_purity;
mod crate_graph;
mod error_pages;
mod file_length;
mod forbidden_marks;
mod links;
mod lint_pages;
mod machine_paths;
mod migrations;
pub(crate) mod project;
pub(crate) mod seeds;
mod type_names;

use anyhow::{Context, Result, bail};

const RULES: &[Rule] = &[
    Rule { name: "crates use only what they may", check: crate_graph::check },
    Rule { name: "the core stays pure", check: core_purity::check },
    Rule { name: "files are short", check: file_length::check },
    Rule { name: "no type has the name of another", check: type_names::check },
    Rule { name: "migrations are numbered, and alike in every backend", check: migrations::check },
    Rule { name: "every error code has its page", check: error_pages::check },
    Rule { name: "every rule of the linter has its page", check: lint_pages::check },
    Rule {
        name: "every link leads to a file, and every document is in an index",
        check: links::check,
    },
    Rule { name: "every test that docs/seeds.md names exists", check: seeds::check },
    Rule { name: "no file has a forbidden mark", check: forbidden_marks::check },
    Rule { name: "the changelog has a place for the next change", check: changelog::check },
    Rule { name: "no file knows the machine it was written on", check: machine_paths::check },
];

struct Rule {
    name: &'static str,
    check: Check,
}

/// Returns one sentence for every violation, and an error only when it cannot check.
type Check = fn() -> Result<Vec<String>>;

pub(crate) fn run() -> Result<()> {
    let mut n_problems = 0;
    for Rule { name, check } in RULES {
        let problems = check().with_context(|| format!("cannot tell whether {name}"))?;
        if !problems.is_empty() {
            eprintln!("not so: {name}");
        }
        for problem in &problems {
            eprintln!("  {problem}");
        }
        n_problems += problems.len();
    }
    if n_problems > 0 {
        bail!("places that break the rules of the repository: {n_problems}");
    }
    Ok(())
}

#[cfg(test)]
#[track_caller]
fn assert_holds(check: Check) {
    let problems = check().unwrap();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

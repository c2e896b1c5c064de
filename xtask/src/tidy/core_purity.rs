//! `baton-core` does no I/O, reads no clock and is not async: time, ids and files come in as values.

use anyhow::Result;

use super::project::{self, File};
use crate::cargo::{self, DependencyKind, Package};

/// The crates its code may use. Each of them only computes.
const MAY_USE: &[&str] = &[
    "hex",
    "jiff",
    "ryu-js",
    "serde",
    "sha2",
    "smol_str",
    "strsim",
    "thiserror",
    "unicode-normalization",
    "unicode-security",
    "uuid",
];

const IMPURE: &[&str] =
    &["async fn", "std::fs", "std::net", "std::env", "std::thread", "std::time::"];

/// A list of imports would hide the words above from this rule.
const HIDING: &str = "use std::{";

pub(super) fn check() -> Result<Vec<String>> {
    let packages = cargo::packages()?;
    let mut problems: Vec<String> = packages
        .iter()
        .filter(|it| it.name == "baton-core")
        .flat_map(problems_in_manifest)
        .collect();
    let files = project::rust_files()?;
    problems.extend(files.iter().filter(|it| is_code_of_core(it)).flat_map(problems_in_code));
    Ok(problems)
}

fn problems_in_manifest(package: &Package) -> Vec<String> {
    let name = &package.name;
    let code = package.dependencies.iter().filter(|it| it.kind != DependencyKind::Dev);
    code.filter(|it| !MAY_USE.contains(&it.name.as_str()))
        .map(|it| format!("`{name}` must not use `{}`; see MAY_USE in {}", it.name, file!()))
        .collect()
}

fn is_code_of_core(file: &File) -> bool {
    let is_tests = file.name() == "tests.rs" || file.path.contains("/tests/");
    file.path.starts_with("crates/core/src/") && !is_tests
}

fn problems_in_code(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in file.lines_before_tests() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for word in IMPURE.iter().filter(|it| line.contains(**it)) {
            problems.push(format!("{}:{number}: `{word}` has no place in the core", file.path));
        }
        if line.contains(HIDING) {
            problems.push(format!("{}:{number}: give each `use std::` its own line", file.path));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::{Dependency, DependencySource};
    use crate::tidy::project::file;

    #[test]
    fn the_core_stays_pure() {
        crate::tidy::assert_holds(check);
    }

    #[track_caller]
    fn check_code(text: &str, expected: &[&str]) {
        assert_eq!(problems_in_code(&file("a.rs", text)), expected);
    }

    #[test]
    fn impure_words_count_in_code_only() {
        check_code("use std::fmt;\n\nfn decide() {}\n", &[]);
        check_code("\nuse std::fs;\n", &["a.rs:2: `std::fs` has no place in the core"]);
        check_code("pub async fn a() {}\n", &["a.rs:1: `async fn` has no place in the core"]);
        check_code("/// No `std::fs` here.\n", &[]);
        check_code("#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n", &[]);
    }

    #[test]
    fn a_list_of_imports_hides_nothing() {
        check_code("use std::{fmt, fs};\n", &["a.rs:1: give each `use std::` its own line"]);
    }

    #[test]
    fn files_of_tests_are_not_code_of_the_core() {
        assert!(is_code_of_core(&file("crates/core/src/run/decide.rs", "")));
        assert!(!is_code_of_core(&file("crates/core/src/run/tests.rs", "")));
        assert!(!is_code_of_core(&file("crates/core/tests/it/main.rs", "")));
        assert!(!is_code_of_core(&file("crates/wire/src/lib.rs", "")));
    }

    #[test]
    fn only_tests_of_the_core_may_use_other_crates() {
        let dependency = |name: &str, kind| Dependency {
            name: name.to_owned(),
            kind,
            source: DependencySource::Elsewhere,
        };
        let package = Package {
            name: "baton-core".to_owned(),
            dependencies: vec![
                dependency("serde", DependencyKind::Normal),
                dependency("proptest", DependencyKind::Dev),
                dependency("tokio", DependencyKind::Normal),
            ],
        };
        let problems = problems_in_manifest(&package);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("`baton-core` must not use `tokio`"));
    }
}

//! Migrations are `NNNN_what.sql`, numbered without a gap, and the same in every backend.

use anyhow::Result;

use super::project;

/// The first one is the one the others are compared with.
const BACKENDS: &[&str] = &["crates/store-sqlite", "crates/store-postgres"];

pub(super) fn check() -> Result<Vec<String>> {
    let mut backends = Vec::new();
    for backend in BACKENDS.iter().filter(|it| project::is_dir(it)) {
        let dir = format!("{backend}/migrations");
        let names = project::names_in(&dir)?;
        backends.push(Backend { dir, names });
    }
    let mut problems: Vec<String> = backends.iter().flat_map(problems_within).collect();
    if let [first, others @ ..] = backends.as_slice() {
        problems.extend(others.iter().flat_map(|it| problems_between(first, it)));
    }
    Ok(problems)
}

struct Backend {
    dir: String,
    /// Sorted.
    names: Vec<String>,
}

fn problems_within(backend: &Backend) -> Vec<String> {
    let Backend { dir, names } = backend;
    if names.is_empty() {
        return vec![format!("{dir} has no migrations")];
    }
    let mut problems = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let expected = format!("{:04}_", i + 1);
        if !is_migration(name) {
            problems.push(format!("{dir}/{name} is not named `NNNN_what.sql`"));
        } else if !name.starts_with(&expected) {
            problems.push(format!("{dir}/{name} should be number {:04}", i + 1));
        }
    }
    problems
}

fn problems_between(a: &Backend, b: &Backend) -> Vec<String> {
    let lacking = |has: &Backend, lacks: &Backend| -> Vec<String> {
        let missing = has.names.iter().filter(|it| !lacks.names.contains(it));
        missing.map(|it| format!("{}/{it} is missing in {}", has.dir, lacks.dir)).collect()
    };
    [lacking(a, b), lacking(b, a)].concat()
}

/// Four digits, an underscore, lower-case words, `.sql`.
fn is_migration(name: &str) -> bool {
    let Some((number, what)) = name.split_once('_') else {
        return false;
    };
    let Some(what) = what.strip_suffix(".sql") else {
        return false;
    };
    let is_word = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
    number.len() == 4
        && number.bytes().all(|it| it.is_ascii_digit())
        && !what.is_empty()
        && what.bytes().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_and_alike_in_every_backend() {
        crate::tidy::assert_holds(check);
    }

    fn backend(dir: &str, names: &[&str]) -> Backend {
        Backend { dir: dir.to_owned(), names: names.iter().map(|&it| it.to_owned()).collect() }
    }

    #[track_caller]
    fn check_within(names: &[&str], expected: &[&str]) {
        assert_eq!(problems_within(&backend("m", names)), expected);
    }

    #[test]
    fn numbers_have_no_gap() {
        check_within(&["0001_start.sql", "0002_add_runs.sql"], &[]);
        check_within(&["0002_start.sql"], &["m/0002_start.sql should be number 0001"]);
        check_within(&["0001_a.sql", "0003_b.sql"], &["m/0003_b.sql should be number 0002"]);
        check_within(&["0001_a.sql", "0001_b.sql"], &["m/0001_b.sql should be number 0002"]);
        check_within(&[], &["m has no migrations"]);
    }

    #[test]
    fn names_have_one_form() {
        assert!(is_migration("0001_start.sql"));
        assert!(is_migration("0012_runs_v2.sql"));
        for name in ["1_start.sql", "0001-start.sql", "0001_.sql", "0001_Start.sql", "0001_start"] {
            assert!(!is_migration(name), "{name}");
        }
        check_within(&["README.md"], &["m/README.md is not named `NNNN_what.sql`"]);
    }

    #[test]
    fn a_migration_of_one_backend_is_missing_in_the_other() {
        let a = backend("a", &["0001_start.sql", "0002_runs.sql"]);
        let b = backend("b", &["0001_start.sql", "0002_jobs.sql"]);
        assert_eq!(problems_between(&a, &a), [""; 0]);
        assert_eq!(
            problems_between(&a, &b),
            ["a/0002_runs.sql is missing in b", "b/0002_jobs.sql is missing in a"]
        );
    }
}

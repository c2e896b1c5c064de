//! schemathesis sends valid and invalid requests to a store with something of everything in it, and
//! looks for undocumented responses.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::server::Server;
use super::tools::{must_succeed, python, python_dir};
use crate::project_root;

/// No undocumented response, and no server error. A well-formed request may still be refused by the
/// rules.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// Of the operations, how many may have nothing but 404 as their answer: such an operation was not
/// tested.
const MOST_NOT_FOUND_PERCENT: usize = 5;

/// What it sent, for the verdict.
pub(super) fn check(server: &Server) -> Result<String> {
    let scripts = project_root().join("xtask/api");
    let dir = python_dir();
    let (seeded, statuses) = (dir.join("seeded.json"), dir.join("statuses.json"));
    must_succeed(python("python").arg(scripts.join("seed.py")).arg(&server.url).arg(&seeded))?;
    let mut schemathesis = python("schemathesis");
    schemathesis
        .arg("run")
        .arg(format!("{}/openapi.json", server.url))
        // A stream has no end to wait for.
        .args(["--exclude-path", "/api/events", "--exclude-path", "/api/v1/events"])
        // It waits for an answer longer than a test waits for a response.
        .args(["--exclude-path", "/api/v1/runs/{run}/questions/{number}"])
        .args(["--checks", CHECKS, "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "20", "--generation-deterministic", "--no-color"])
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", scripts)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SEEDED", seeded)
        .env("STATUSES", &statuses)
        // Its cache goes into the working directory, whatever is asked for.
        .current_dir(&dir);
    must_succeed(&mut schemathesis)?;
    let text = std::fs::read_to_string(&statuses).context("schemathesis left no statuses")?;
    let summary = Summary::of(&serde_json::from_str(&text)?);
    eprintln!("{}", summary.sentence());
    ensure!(
        summary.not_found.len() * 100 < MOST_NOT_FOUND_PERCENT * summary.n_operations,
        "too many operations have only ever answered 404; xtask/api/hooks.py names what there is"
    );
    Ok(summary.sentence())
}

/// How the operations have answered.
struct Summary {
    n_operations: usize,
    /// How many have carried something out.
    n_succeeded: usize,
    /// Those that only ever answered 404.
    not_found: Vec<String>,
}

impl Summary {
    fn of(statuses: &BTreeMap<String, Vec<u16>>) -> Self {
        let succeeded = statuses.values().filter(|it| it.iter().any(|it| (200..300).contains(it)));
        let not_found = statuses.iter().filter(|(_, it)| it.iter().all(|it| *it == 404));
        Self {
            n_operations: statuses.len(),
            n_succeeded: succeeded.count(),
            not_found: not_found.map(|(name, _)| name.clone()).collect(),
        }
    }

    fn sentence(&self) -> String {
        let percent = 100.0 * self.not_found.len() as f64 / self.n_operations.max(1) as f64;
        let names = match self.not_found.as_slice() {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        format!(
            "{} API operations, {} answered 2xx, {percent:.1} % only 404{names}",
            self.n_operations, self.n_succeeded
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_is_never_found_is_named() {
        let statuses = BTreeMap::from([
            ("GET /a".to_owned(), vec![200, 404]),
            ("GET /b".to_owned(), vec![404]),
            ("GET /c".to_owned(), vec![409]),
            ("POST /d".to_owned(), vec![201]),
        ]);
        let expected = "4 API operations, 2 answered 2xx, 25.0 % only 404 (GET /b)";
        assert_eq!(Summary::of(&statuses).sentence(), expected);
    }
}

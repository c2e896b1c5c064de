//! `cargo xtask seeds`: every row of `docs/seeds.md` names the tests that show it; this runs them, and says for each row
//! whether they passed. A row without a test has to say why it needs none.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::cargo;
use crate::tidy::seeds::{PAGE, names_of_tests};

/// What a row may say in place of a test.
const REASONS: [&str; 3] = ["deliberately different, because", "later: ", "not a promise: "];

pub(crate) fn run() -> Result<()> {
    let page = std::fs::read_to_string(crate::project_root().join(PAGE))
        .with_context(|| format!("{PAGE} cannot be read"))?;
    let rows = rows(&page);
    let names: BTreeSet<&str> = rows.iter().flat_map(|it| it.tests.iter().copied()).collect();
    let one_of = names.iter().copied().collect::<Vec<_>>().join("|");
    let only = format!("test(/(^|::)({one_of})$/)");
    let args = ["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "pass", "-E"];
    // The rows say which test failed; the exit code would hide the others.
    let output = cargo::run_and_read_any(&[&args[..], &[only.as_str()]].concat())?;
    let passed = passed_tests(&output);
    let broken: Vec<String> = rows.iter().filter_map(|it| it.problem(&passed)).collect();
    for problem in &broken {
        eprintln!("{PAGE}:{problem}");
    }
    println!("{} rows, {} tests, {} rows broken", rows.len(), names.len(), broken.len());
    ensure!(broken.is_empty(), "rows of {PAGE} are not shown by their tests: {}", broken.len());
    Ok(())
}

/// A row of a table whose last column is `shown by`.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    line: usize,
    tests: Vec<&'a str>,
    has_reason: bool,
}

impl Row<'_> {
    fn problem(&self, passed: &BTreeSet<&str>) -> Option<String> {
        let line = self.line;
        if self.tests.is_empty() && !self.has_reason {
            return Some(format!("{line}: names no test, and does not say why it needs none"));
        }
        let missing: Vec<&str> =
            self.tests.iter().copied().filter(|it| !passed.contains(it)).collect();
        (!missing.is_empty())
            .then(|| format!("{line}: did not run or did not pass: {}", missing.join(", ")))
    }
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let names = names_of_tests(page);
    let mut rows = Vec::new();
    let mut is_shown_by = false;
    for (i, line) in page.lines().enumerate() {
        if !line.starts_with('|') {
            is_shown_by = false;
        } else if line.trim_end().ends_with("| shown by |") {
            is_shown_by = true;
        } else if is_shown_by && !line.starts_with("|---") {
            let line_no = i + 1;
            let tests = names.iter().filter(|(at, _)| *at == line_no).map(|(_, it)| *it).collect();
            let has_reason = REASONS.iter().any(|it| line.contains(it));
            rows.push(Row { line: line_no, tests, has_reason });
        }
    }
    rows
}

/// The last part of the name of each test that nextest reports as passed.
fn passed_tests(output: &str) -> BTreeSet<&str> {
    let passed = output.lines().filter(|it| it.trim_start().starts_with("PASS "));
    passed.filter_map(|it| it.split_whitespace().next_back()?.rsplit("::").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| word | meaning |
|---|---|
| x | y |

| the document | lives in | shown by |
|---|---|---|
| a rule | `core` | `test:a_rule_holds` `test:b_holds` |
| a wish | – | later: the runner |
| nothing | `core` | – |
";

    #[test]
    fn a_row_is_shown_by_tests_that_passed_or_says_why_not() {
        let rows = rows(TABLE);
        assert_eq!(rows.iter().map(|it| it.line).collect::<Vec<_>>(), [7, 8, 9]);
        let output = "        PASS [   0.010s] baton-core decide::a_rule_holds\n    FAIL [ 1s] x y::b_holds\n";
        let passed = passed_tests(output);
        let problems: Vec<String> = rows.iter().filter_map(|it| it.problem(&passed)).collect();
        assert_eq!(
            problems,
            [
                "7: did not run or did not pass: b_holds",
                "9: names no test, and does not say why it needs none",
            ]
        );
    }
}

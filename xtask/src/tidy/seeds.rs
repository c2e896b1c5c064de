//! `docs/seeds.md` says which test shows which promise, as `test:the_name_of_the_test`. A promise
//! without its test would read as kept.

use std::collections::BTreeSet;

use anyhow::Result;

use super::project;

pub(crate) const PAGE: &str = "docs/seeds.md";

const MARK: &str = "test:";

pub(super) fn check() -> Result<Vec<String>> {
    let Some(page) = project::read(PAGE)? else {
        return Ok(vec![format!("{PAGE} is missing")]);
    };
    let files = project::rust_files()?;
    let functions = files.iter().flat_map(|it| functions_in(&it.text)).collect();
    Ok(problems(&page, &functions))
}

fn problems(page: &str, functions: &BTreeSet<&str>) -> Vec<String> {
    let names = names_of_tests(page);
    if names.is_empty() {
        return vec![format!("{PAGE} names no test; write `{MARK}name_of_the_test`")];
    }
    let mut problems = Vec::new();
    for (number, name) in names {
        if name.is_empty() {
            problems.push(format!("{PAGE}:{number}: no name stands right behind `{MARK}`"));
        } else if !functions.contains(name) {
            problems.push(format!("{PAGE}:{number}: there is no test `{name}`"));
        }
    }
    problems
}

/// What stands behind each mark, with its line. An empty name is a mark in backticks with nothing
/// behind it; elsewhere such a mark is only the end of a clause.
pub(crate) fn names_of_tests(page: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    for (i, line) in page.lines().enumerate() {
        for (at, _) in line.match_indices(MARK) {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|it| it.is_alphanumeric() || it == '_') {
                continue;
            }
            let name = leading_name(&line[at + MARK.len()..]);
            if !name.is_empty() || before == Some('`') {
                names.push((i + 1, name));
            }
        }
    }
    names
}

/// The names behind `fn` that have a parenthesis behind them.
fn functions_in(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, keyword) in text.match_indices("fn ") {
        let rest = &text[at + keyword.len()..];
        let name = leading_name(rest);
        if rest[name.len()..].starts_with('(') {
            names.push(name);
        }
    }
    names
}

fn leading_name(text: &str) -> &str {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let end = text.find(|it| !is_part(it)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_that_the_page_of_seeds_names_exists() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn functions_are_found_by_their_definition() {
        let text = "fn one() {}\n    pub async fn two(x: u8) {}\n// the fn three is gone\n";
        assert_eq!(functions_in(text), ["one", "two"]);
    }

    #[track_caller]
    fn check_problems(page: &str, expected: &[&str]) {
        assert_eq!(problems(page, &BTreeSet::from(["a_rule_holds"])), expected);
    }

    #[test]
    fn a_named_test_must_exist() {
        check_problems("| 3.1 | core | `test:a_rule_holds` |", &[]);
        check_problems("test:a_rule_holds, test:a_rule_holds", &[]);
        check_problems(
            "# Seeds\n`test:a_rule_holds` `test:another_one`",
            &["docs/seeds.md:2: there is no test `another_one`"],
        );
    }

    #[test]
    fn a_mark_in_backticks_needs_its_name_without_a_space() {
        check_problems(
            "`test: a_rule_holds`",
            &["docs/seeds.md:1: no name stands right behind `test:`"],
        );
        check_problems("The test: see `test:a_rule_holds`, not contest:x.", &[]);
    }

    #[test]
    fn a_page_that_names_no_test_shows_nothing() {
        check_problems(
            "# Seeds\n",
            &["docs/seeds.md names no test; write `test:name_of_the_test`"],
        );
    }
}

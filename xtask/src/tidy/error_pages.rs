//! Every error code has a page in `docs/errors/`, and every page there has its code.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::project;

const PAGES: &str = "docs/errors";

/// The files whose `fn code` or `fn row` give the codes.
const SOURCES: &[&str] = &["refusal.rs", "error.rs", "names.rs"];

/// What stands before a code where one is made on the spot. Up to the code there may be one more argument.
const MAKERS: &[&str] = &["malformed(", "not_found(", "FailureClass::new(", "StatusCode::"];

/// The list of the pages is not a page itself.
const INDEX: &str = "README.md";

pub(super) fn check() -> Result<Vec<String>> {
    let files = project::rust_files()?;
    let product =
        || files.iter().filter(|it| it.path.starts_with("crates/") && it.path.contains("/src/"));
    let typed =
        product().filter(|it| SOURCES.contains(&it.name())).flat_map(|it| codes_in(&it.text));
    let made = product().flat_map(|it| codes_made_in(it.text_before_tests()));
    let codes: BTreeSet<&str> = typed.chain(made).collect();

    let mut pages = BTreeMap::new();
    for name in project::names_in(PAGES)?.into_iter().filter(|it| it != INDEX) {
        let path = format!("{PAGES}/{name}");
        let text = project::read(&path)?.with_context(|| format!("{path} is not text"))?;
        pages.insert(name, text);
    }
    Ok(problems(&codes, &pages))
}

/// The codes in the bodies of the functions named `code`, or `row` where they stand in a table: a body ends where
/// rustfmt puts the brace of a method, a code is the literal, or the first one of a tuple, on the right of an arrow.
pub(super) fn codes_in(text: &str) -> Vec<&str> {
    let bodies = ["fn code(", "fn row("]
        .into_iter()
        .flat_map(|it| text.split(it).skip(1))
        .map(|rest| rest.split_once("\n    }\n").map_or(rest, |(body, _)| body));
    let arms = bodies.flat_map(|body| body.split("=>").skip(1));
    arms.filter_map(literal).collect()
}

/// The codes that stand directly in an expression that makes a problem of the API or a failure of the command line.
fn codes_made_in(text: &str) -> Vec<&str> {
    let after = MAKERS.iter().flat_map(|maker| text.split(maker).skip(1));
    after
        .filter_map(|it| {
            let name = |it: char| it.is_alphanumeric() || it == '_';
            literal(it).or_else(|| literal(it.trim_start_matches(name).strip_prefix(',')?))
        })
        .collect()
}

/// The arm's value when it is a code. rustfmt may have put it on a line of its own, in braces.
fn literal(arm: &str) -> Option<&str> {
    let arm = arm.trim_start_matches(|it: char| it.is_whitespace() || it == '{' || it == '(');
    let (word, _) = arm.strip_prefix('"')?.split_once('"')?;
    is_snake_case(word).then_some(word)
}

fn is_snake_case(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_lowercase())
        && word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

/// `pages` are texts by file name.
fn problems(codes: &BTreeSet<&str>, pages: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for code in codes {
        if !pages.contains_key(&format!("{code}.md")) {
            problems.push(format!("the error code `{code}` has no page {PAGES}/{code}.md"));
        }
    }
    for (name, text) in pages {
        let code = name.strip_suffix(".md").unwrap_or(name);
        if !codes.contains(code) {
            problems.push(format!("{PAGES}/{name} is about no error code that exists"));
        }
        let title = format!("# `{code}`");
        if text.lines().next() != Some(title.as_str()) {
            problems.push(format!("{PAGES}/{name} must begin with the line: {title}"));
        }
        if !text.lines().any(|it| it == "## What to do") {
            problems.push(format!("{PAGES}/{name} must have the heading: ## What to do"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_code_has_its_page() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn codes_are_the_literals_in_the_functions_named_code() {
        let text = r#"
impl Refusal {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale_version",
            Self::A | Self::B | Self::C => {
                "not_the_receiver"
            }
            Self::Store(error) => error.code(),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale",
        }
    }
}

impl Other {
    fn row(&self) -> (&'static str, Class) {
        match self {
            Self::Gone => ("gone", Class::Conflict),
        }
    }
}
"#;
        assert_eq!(codes_in(text), ["stale_version", "not_the_receiver", "gone"]);
    }

    #[test]
    fn codes_are_found_where_a_problem_is_made() {
        let text = r#"
            ApiProblem::malformed("bad_key", message);
            ApiProblem::new(
                StatusCode::CONFLICT,
                "story_exists",
                message,
            );
            FailureClass::new(USAGE, "usage");
            ApiProblem::new(StatusCode::OK, code, "a message");
            not_found(format!("no code"));
        "#;
        assert_eq!(codes_made_in(text), ["bad_key", "usage", "story_exists"]);
    }

    const GOOD_PAGE: &str = "# `gone`\n\nIt went.\n\n## What to do\n\nLook elsewhere.\n";

    #[track_caller]
    fn check_problems(codes: &[&str], pages: &[(&str, &str)], expected: &[&str]) {
        let codes = codes.iter().copied().collect();
        let pages = pages.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
        assert_eq!(problems(&codes, &pages), expected);
    }

    #[test]
    fn codes_and_pages_are_compared_both_ways() {
        check_problems(&[], &[], &[]);
        check_problems(&["gone"], &[("gone.md", GOOD_PAGE)], &[]);
        check_problems(&["gone"], &[], &["the error code `gone` has no page docs/errors/gone.md"]);
        check_problems(
            &[],
            &[("gone.md", GOOD_PAGE)],
            &["docs/errors/gone.md is about no error code that exists"],
        );
    }

    #[test]
    fn a_page_names_its_code_and_says_what_to_do() {
        check_problems(
            &["gone"],
            &[("gone.md", "# gone\n")],
            &[
                "docs/errors/gone.md must begin with the line: # `gone`",
                "docs/errors/gone.md must have the heading: ## What to do",
            ],
        );
    }
}

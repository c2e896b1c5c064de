//! Every rule of the linter has a page in `docs/lint/`, and every page there has its rule.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::{error_pages, project};

const PAGES: &str = "docs/lint";
const SOURCE: &str = "crates/core/src/lint/rule.rs";

/// Pages that are about all of them.
const OTHERS: &[&str] = &["README.md", "score.md"];
const HEADINGS: &[&str] = &["## Bad", "## Good", "## What to do"];

pub(super) fn check() -> Result<Vec<String>> {
    let source = project::read(SOURCE)?.with_context(|| format!("{SOURCE} is not text"))?;
    let codes: BTreeSet<&str> = error_pages::codes_in(&source).into_iter().collect();
    let mut pages = BTreeMap::new();
    for name in project::names_in(PAGES)?.into_iter().filter(|it| !OTHERS.contains(&it.as_str())) {
        let path = format!("{PAGES}/{name}");
        let text = project::read(&path)?.with_context(|| format!("{path} is not text"))?;
        pages.insert(name, text);
    }
    Ok(problems(&codes, &pages))
}

/// `pages` are texts by file name.
fn problems(codes: &BTreeSet<&str>, pages: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for code in codes {
        if !pages.contains_key(&format!("{code}.md")) {
            problems.push(format!("the rule `{code}` has no page {PAGES}/{code}.md"));
        }
    }
    for (name, text) in pages {
        let code = name.strip_suffix(".md").unwrap_or(name);
        if !codes.contains(code) {
            problems.push(format!("{PAGES}/{name} is about no rule that exists"));
        }
        let title = format!("# `{code}`");
        if text.lines().next() != Some(title.as_str()) {
            problems.push(format!("{PAGES}/{name} must begin with the line: {title}"));
        }
        for heading in HEADINGS.iter().filter(|it| !text.lines().any(|line| line == **it)) {
            problems.push(format!("{PAGES}/{name} must have the heading: {heading}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_page() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn rules_and_pages_are_compared_both_ways() {
        let page = "# `vague`\n\n## Bad\n\n## Good\n\n## What to do\n".to_owned();
        let one = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
        assert_eq!(problems(&["vague"].into(), &one("vague.md", &page)), Vec::<String>::new());
        let none = problems(&["vague"].into(), &BTreeMap::new());
        assert_eq!(none, ["the rule `vague` has no page docs/lint/vague.md"]);
        let other = problems(&[].into(), &one("vague.md", "# x\n\n## Bad\n"));
        assert_eq!(other.len(), 4, "{other:?}");
    }
}

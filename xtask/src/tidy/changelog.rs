//! A change that a user can see has a line in the changelog, so there is always a place for it.

use anyhow::Result;

use super::project;

const CHANGELOG: &str = "CHANGELOG.md";

pub(super) fn check() -> Result<Vec<String>> {
    Ok(match project::read(CHANGELOG)? {
        None => vec![format!("{CHANGELOG} is missing")],
        Some(text) => problem(&text).into_iter().collect(),
    })
}

fn problem(text: &str) -> Option<String> {
    let mut headings = text.lines().filter(|it| it.starts_with('#'));
    if !headings.next().is_some_and(|it| it.starts_with("# ")) {
        return Some(format!("{CHANGELOG} must begin with its title"));
    }
    if headings.next() != Some("## Unreleased") {
        return Some(format!("the first heading in {CHANGELOG} must be: ## Unreleased"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_has_a_place_for_the_next_change() {
        crate::tidy::assert_holds(check);
    }

    #[track_caller]
    fn check_problem(text: &str, expected: Option<&str>) {
        assert_eq!(problem(text).as_deref(), expected);
    }

    #[test]
    fn unreleased_comes_first() {
        check_problem("# Changelog\n\n## Unreleased\n\n## 0.1.0\n", None);
        check_problem("# Changelog\n\nWhat changed.\n\n## Unreleased\n\n### Added\n", None);
        let expected = Some("the first heading in CHANGELOG.md must be: ## Unreleased");
        check_problem("# Changelog\n\n## 0.1.0\n\n## Unreleased\n", expected);
        check_problem("# Changelog\n", expected);
        check_problem("## Unreleased\n", Some("CHANGELOG.md must begin with its title"));
    }
}

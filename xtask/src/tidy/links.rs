//! Every link from one document to another leads to a file, and every document in `docs/` can be reached from one of
//! the indexes.

use std::collections::BTreeSet;

use anyhow::Result;

use super::project::{self, File};

/// Where a reader begins.
const INDEXES: &[&str] = &[
    "README.md",
    "docs/README.md",
    "docs/adr/README.md",
    "docs/errors/README.md",
    "docs/lint/README.md",
];

pub(super) fn check() -> Result<Vec<String>> {
    let files = project::kept_files()?;
    let paths: BTreeSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let documents: Vec<&File> = files.iter().filter(|it| it.path.ends_with(".md")).collect();
    // Fixtures are texts of others.
    let ours = documents.iter().copied().filter(|it| !it.path.starts_with("crates/"));
    let mut problems = Vec::new();
    let mut reached: BTreeSet<String> = INDEXES.iter().map(|&it| it.to_owned()).collect();
    for file in ours.clone() {
        for target in targets(&file.text) {
            let path = resolve(&file.path, target);
            if !paths.contains(path.as_str()) && !project::is_dir(&path) {
                problems.push(format!("{}: the link `{target}` leads nowhere", file.path));
            }
            if INDEXES.contains(&file.path.as_str()) {
                reached.insert(path);
            }
        }
    }
    for file in ours.filter(|it| it.path.starts_with("docs/") && !reached.contains(&it.path)) {
        problems.push(format!("{} is in no index", file.path));
    }
    Ok(problems)
}

/// The files that a document links to, without anchors. Links to elsewhere are left out, and so is what is between
/// backticks.
fn targets(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|it| it.split_once(')'))
        .map(|(target, _)| target.split_once('#').map_or(target, |(file, _)| file))
        .filter(|it| !it.is_empty() && !it.contains("://") && !it.contains(char::is_whitespace))
        .collect()
}

/// The path of a link's target, from the root of the repository.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_a_file() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn links_are_read_without_anchors_and_addresses() {
        let text = "[a](b.md#c), [d](https://example.org), [e](#f), [g](../h.md)";
        assert_eq!(targets(text), ["b.md", "../h.md"]);
    }

    #[test]
    fn a_link_is_relative_to_its_page() {
        assert_eq!(resolve("docs/errors/a.md", "../how-to/b.md"), "docs/how-to/b.md");
        assert_eq!(resolve("README.md", "docs/adr"), "docs/adr");
    }
}

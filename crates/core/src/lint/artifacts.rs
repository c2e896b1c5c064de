//! Files that a document names: whether they are inside the project, exist, and are unchanged since
//! the handoff.

use super::facts::{Facts, FileFact};
use super::ranges;
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;

/// Lists of files that exist once the sender is done. `files_to_modify` is not among them: a plan
/// may name files that do not exist yet.
pub(super) const LISTS: &[&str] = &[
    "artifacts",
    "context.artifacts",
    "files_modified",
    "files_changed",
    "files_created",
    "context.files_modified",
    "context.files_changed",
];

/// The paths that a document names, for callers that can inspect them.
pub fn paths(document: &Node) -> Vec<String> {
    let body = Body::of(document);
    let mut paths = Vec::new();
    each(&body, |_, _, path, _| paths.extend(path.map(str::to_owned)));
    ranges::each(&body, |_, range| paths.push(range.path.to_owned()));
    paths.sort();
    paths.dedup();
    paths
}

pub(super) fn check(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    each(body, |list, index, path, item| {
        let place = || format!("{}[{index}]", body.field_path(list));
        match path {
            None => sink.say(LintRule::ArtifactWithoutPath, place(), "has no path"),
            Some(path) if is_address(path) => {}
            Some(path) if is_outside(path) => {
                sink.say(LintRule::ArtifactOutside, place(), "is outside the project");
            }
            Some(_) if is_deleted(item) => {}
            Some(path) => verify(path, item, &place, facts, sink),
        }
    });
}

fn verify(path: &str, item: &Node, place: &dyn Fn() -> String, facts: &Facts, sink: &mut Sink) {
    let claimed =
        ["sha256", "@sha256", "hash", "@hash"].iter().find_map(|it| item.member(it)?.as_text());
    match facts.files.get(path) {
        None => sink.unverified.push(place()),
        Some(FileFact::Missing) => {
            sink.say(LintRule::ArtifactMissing, place(), "does not exist");
        }
        Some(FileFact::Folder) => {}
        Some(FileFact::File { sha256, .. }) => {
            let (Some(claimed), Some(sha256)) = (claimed, sha256) else { return };
            let claimed = claimed.trim_start_matches("sha256:").trim();
            if !claimed.eq_ignore_ascii_case(sha256) {
                sink.say(LintRule::ArtifactChanged, place(), "is not what it was");
            }
        }
    }
}

/// Every item of every list: the list, the index, the path and the item.
fn each<'a>(
    body: &Body<'a>,
    mut visit: impl FnMut(&'static str, usize, Option<&'a str>, &'a Node),
) {
    for list in LISTS {
        let Some(items) = body.fields().at(list).and_then(items) else { continue };
        for (index, item) in items.iter().enumerate() {
            match item {
                // Blank items have a rule of their own.
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Text(text) => visit(list, index, Some(text.trim()), item),
                Node::Map(_) => visit(list, index, path_of(item), item),
                Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) => {}
            }
        }
    }
}

fn path_of(item: &Node) -> Option<&str> {
    let keys = ["path", "@path", "file", "#text"];
    let path = keys.iter().find_map(|it| item.member(it)?.as_text());
    path.map(str::trim).filter(|it| !it.is_empty())
}

fn is_deleted(item: &Node) -> bool {
    let keys = ["status", "action", "change"];
    let word = keys.iter().find_map(|it| item.member(it)?.as_text());
    word.is_some_and(|it| ["deleted", "removed", "renamed"].contains(&it))
}

/// A URL is not in the project and need not be.
fn is_address(path: &str) -> bool {
    path.starts_with("https://") || path.starts_with("http://")
}

fn is_outside(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '\\', '~']) || is_drive || path.starts_with("file:") {
        return true;
    }
    let mut depth = 0_i32;
    path.split(['/', '\\']).any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_climb_but_not_out() {
        for inside in ["src/a.rs", "./a", "a/../b", ".project/x/", "src\\a.rs", "..a/b", "a..b"] {
            assert!(!is_outside(inside), "{inside}");
        }
        for outside in
            ["/etc/passwd", "../a", "a/../../b", "~/x", "C:\\x", "file:///x", "\\\\host\\x"]
        {
            assert!(is_outside(outside), "{outside}");
        }
    }
}

//! Files that a document names: whether they are inside the project, exist, and are unchanged since
//! the handoff.

use std::collections::BTreeSet;

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

/// The places of claims about the content of files that are there, but were not read.
pub fn uncompared(document: &Node, facts: &Facts) -> Vec<String> {
    let body = Body::of(document);
    let is_unread = |path: &str| {
        matches!(facts.files.get(path), Some(FileFact::File { sha256: None, n_lines: None }))
    };
    let mut places = Vec::new();
    each(&body, |list, index, path, item| {
        if path.is_some_and(is_unread) && claimed_hash(item).is_some() {
            places.push(format!("{}[{index}]", body.field_path(list)));
        }
    });
    ranges::each(&body, |index, range| {
        if is_unread(range.path) && range.has_lines() {
            places.push(format!("{}[{index}]", body.field_path(ranges::FIELD)));
        }
    });
    places
}

fn claimed_hash(item: &Node) -> Option<&str> {
    ["sha256", "@sha256", "hash", "@hash"].iter().find_map(|it| item.member(it)?.as_text())
}

pub(super) fn check(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    let deleted = deleted(body);
    each(body, |list, index, path, item| {
        let place = || format!("{}[{index}]", body.field_path(list));
        match path {
            None => sink.say(LintRule::ArtifactWithoutPath, place(), "has no path"),
            Some(path) if is_address(path) => {}
            Some(path) if is_outside(path) => {
                sink.say(LintRule::ArtifactOutside, place(), "is outside the project");
            }
            Some(path) if is_deleted(item) || deleted.contains(path) => {}
            Some(path) => verify(path, item, &place, facts, sink),
        }
    });
}

fn verify(path: &str, item: &Node, place: &dyn Fn() -> String, facts: &Facts, sink: &mut Sink) {
    let claimed = claimed_hash(item);
    match facts.files.get(path) {
        None => sink.unverified.push(place()),
        Some(FileFact::Missing) => {
            let message = "does not exist, and is not said to be deleted";
            sink.say(LintRule::ArtifactMissing, place(), message);
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
                Node::Text(text) => visit(list, index, Some(plain_path(text)), item),
                // Another system's artifact holds its content itself.
                Node::Map(_) if item.member("parts").is_some() => {}
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

/// Words for a file that is gone on purpose, `D` and `R` as git has them.
const DELETED: [&str; 9] =
    ["deleted", "delete", "removed", "remove", "renamed", "rename", "moved", "d", "r"];

/// Where an item says what happened to its file.
const CHANGES: [&str; 13] = [
    "status",
    "@status",
    "action",
    "@action",
    "change",
    "@change",
    "change_type",
    "@change_type",
    "changeType",
    "operation",
    "@operation",
    "op",
    "type",
];

/// True for an item that says that its file was deleted.
fn is_deleted(item: &Node) -> bool {
    let is_word = |it: &str| DELETED.iter().any(|word| it.trim().eq_ignore_ascii_case(word));
    match item {
        Node::Text(text) => mark_of(text).is_some_and(is_word),
        Node::Map(_) => {
            let says = |key: &&str| item.member(key).and_then(Node::as_text).is_some_and(is_word);
            let is_flagged = item.member("deleted").and_then(Node::scalar_text) == Some("true");
            is_flagged || CHANGES.iter().any(says)
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) => false,
    }
}

/// The word in brackets behind a path: `src/old.rs (deleted)`.
fn mark_of(text: &str) -> Option<&str> {
    text.trim_end().strip_suffix(')')?.rsplit_once(" (").map(|(_, mark)| mark)
}

/// A path without the word behind it that says that its file is gone.
fn plain_path(text: &str) -> &str {
    let is_word = |it: &str| DELETED.iter().any(|word| it.trim().eq_ignore_ascii_case(word));
    match mark_of(text) {
        Some(mark) if is_word(mark) => text.rsplit_once(" (").map_or(text, |(path, _)| path).trim(),
        Some(_) | None => text.trim(),
    }
}

/// The paths in the document's own list of deleted files.
fn deleted<'a>(body: &Body<'a>) -> BTreeSet<&'a str> {
    let lists = ["files_deleted", "files_removed", "deleted_files", "context.files_deleted"];
    let items = lists.iter().filter_map(|it| body.fields().at(it).and_then(items)).flatten();
    items.filter_map(|it| it.as_text().map(str::trim).or_else(|| path_of(it))).collect()
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

    #[test]
    fn a_file_that_was_deleted_is_said_to_be_in_many_ways() {
        let item = |key: &'static str, word: &str| {
            Node::map([("path", Node::text("src/old.rs")), (key, Node::text(word))])
        };
        let text = |it: &str| Node::text(it);
        for deleted in [
            item("status", "deleted"),
            item("action", "Removed"),
            item("change_type", "delete"),
            item("@change", "D"),
            item("deleted", "true"),
            text("src/old.rs (deleted)"),
        ] {
            assert!(is_deleted(&deleted), "{deleted:?}");
        }
        for there in [
            item("status", "modified"),
            item("type", "code"),
            item("description", "deleted"),
            text("src/old.rs"),
            text("src/(deleted)"),
            text("docs/a (b)"),
        ] {
            assert!(!is_deleted(&there), "{there:?}");
        }
        assert_eq!(plain_path("src/old.rs (deleted) "), "src/old.rs");
        assert_eq!(plain_path("docs/a (b)"), "docs/a (b)");
    }
}

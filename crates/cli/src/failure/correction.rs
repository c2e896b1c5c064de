//! The parts of a refused package that have to change.

use std::collections::BTreeSet;

use baton_core::document::Node;
use baton_core::skeleton;
use baton_wire::{formats, json};

use super::Failure;
use crate::show;

/// More do not fit on a screen.
const MOST_PARTS: usize = 30;
/// Enough to recognize a text by.
const MOST_SHOWN: usize = 300;

/// A longer skeleton would push the problems off the screen.
const MOST_SKELETON_LINES: usize = 20;
const MOST_SKELETON_BYTES: usize = 1500;

impl Failure {
    /// What would pass, where a package was refused: the whole of it, or of a long one the parts that
    /// change.
    pub(super) fn correction(&self) -> Option<String> {
        let Failure::Refused { problem, format, .. } = self else { return None };
        let skeleton = json::parse(problem.skeleton.as_ref()?.get()).ok()?;
        let whole = formats::encode(&skeleton, *format).trim_end().to_owned();
        if whole.lines().count() <= MOST_SKELETON_LINES && whole.len() <= MOST_SKELETON_BYTES {
            return Some(format!("what would pass, once the marks are filled in:\n{whole}"));
        }
        let paths = problem.problems.iter().map(|it| it.path.as_str());
        let parts = changed_parts(&skeleton, paths);
        Some(format!(
            "what has to change; the rest can stay as it is:\n{}\n\n`--json` has the whole package \
             with these marks, and `baton handoff template HANDOFF` an empty one",
            parts.join("\n")
        ))
    }
}

/// A line for each mark with its path, and for each text that was corrected without one.
fn changed_parts<'a>(skeleton: &Node, problems: impl Iterator<Item = &'a str>) -> Vec<String> {
    let marks = skeleton::marks(skeleton);
    let mut parts: Vec<String> = marks.iter().map(|(path, mark)| line(path, mark)).collect();
    let marked: BTreeSet<&str> = marks.iter().map(|(path, _)| path.as_str()).collect();
    let mut named = BTreeSet::new();
    for path in problems.filter(|it| !marked.contains(it)) {
        let value = skeleton::value_at(skeleton, path).and_then(Node::as_text);
        if let Some(text) = value.filter(|_| named.insert(path)) {
            parts.push(line(path, text));
        }
    }
    if parts.len() > MOST_PARTS {
        let n_more = parts.len() - MOST_PARTS;
        parts.truncate(MOST_PARTS);
        parts.push(format!("  and {n_more} more"));
    }
    parts
}

fn line(path: &str, text: &str) -> String {
    let mut text = text.to_owned();
    if text.len() > MOST_SHOWN {
        text.truncate(text.floor_char_boundary(MOST_SHOWN));
        text.push('…');
    }
    format!("  {}: {}", show::visible(path), show::visible(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_named_once_with_its_path() {
        let decision = Node::map([
            ("decision", Node::text("PostgreSQL")),
            ("rationale", Node::text("<text: why this and nothing else>")),
        ]);
        let skeleton = Node::map([
            ("plan", Node::text("in 3 steps")),
            ("decisions", Node::List(vec![decision])),
            ("notes", Node::text("DB_PASSWORD=[redacted]")),
        ]);
        let parts = changed_parts(&skeleton, ["decisions[0]", "notes", "notes"].into_iter());
        assert_eq!(
            parts,
            [
                "  decisions[0].rationale: <text: why this and nothing else>",
                "  notes: DB_PASSWORD=[redacted]"
            ]
        );
    }
}

//! Numbers that contradict the lists they count. A list may be shorter, since it need not name
//! everything; it is never longer.

use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;

/// The number, the lists it may count, and which of their items.
pub(super) const COUNTS: &[(&str, &[&str], Option<&str>)] = &[
    ("critical_count", FOUND, Some("critical")),
    ("important_count", FOUND, Some("important")),
    ("suggestion_count", FOUND, Some("suggestion")),
    ("commits_added", &["commits", "commits_list"], None),
    ("total_commits", &["commits"], None),
    ("metrics.total_commits", &["commits"], None),
    ("files_changed", &["files", "files_modified", "artifacts"], None),
    ("fixes_count", &["fixes_applied"], None),
    ("failure_count", &["failures"], None),
    ("learnings_added", &["learnings"], None),
    ("gotchas_added", &["gotchas"], None),
];
const FOUND: &[&str] = &["blocking_issues", "findings", "issues", "suggestions"];

pub(super) fn check(body: &Body<'_>, sink: &mut Sink) {
    for (count, lists, severity) in COUNTS {
        let number = body.fields().at(count).and_then(Node::scalar_text);
        let Some(most) = number.and_then(|it| it.trim().parse::<usize>().ok()) else { continue };
        for list in *lists {
            let Some(items) = body.fields().at(list).and_then(items) else { continue };
            let is_counted = |it: &&Node| severity.is_none_or(|word| severity_of(it) == Some(word));
            let n_items = items.iter().filter(is_counted).count();
            if n_items > most {
                let which = severity.map_or(String::new(), |it| format!("{it} "));
                let message = format!("says {most}, and `{list}` lists {n_items} {which}items");
                sink.say(LintRule::CountMismatch, body.field_path(count), message);
            }
        }
    }
}

fn severity_of(item: &Node) -> Option<&str> {
    item.member("severity").or_else(|| item.member("@severity")).and_then(Node::scalar_text)
}

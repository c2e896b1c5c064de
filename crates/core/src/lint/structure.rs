//! The frame of a handoff: its two sides, single values that are there once, the status and the
//! time.

use jiff::Timestamp;

use super::blanks::is_placeholder;
use super::facts::{Facts, Parties};
use super::rule::LintRule;
use super::sink::Sink;
use crate::acknowledgement::Acknowledgement;
use crate::contract::Body;
use crate::document::Node;
use crate::document::foreign::OtherSystem;
use crate::document::kind::{DocumentKind, root};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::view::read::text;
use crate::view::{Meaning, OutcomeClaim};

/// Elements of the XML handoff that have one value. A second one of the same name makes a list.
const SINGLE: &[&str] = &[
    "from",
    "to",
    "timestamp",
    "issue_number",
    "issue_url",
    "issue_title",
    "pr_number",
    "pr_url",
    "status",
    "summary",
    "type",
    "priority",
    "branch",
    "workspace_path",
    "workspace_type",
    "port",
    "coverage",
    "review_status",
    "critical_count",
    "important_count",
    "suggestion_count",
    "commits_added",
    "merge_status",
    "merge_sha",
    "merge_strategy",
    "validation_status",
    "cycle_time",
    "error",
];

/// When the document was written.
pub(super) const TIMESTAMP: &str = "timestamp";

const STATUSES: &[&str] = &["status", "review_status", "validation_status", "merge_status"];

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, facts: &Facts, sink: &mut Sink) {
    match kind {
        DocumentKind::XmlHandoff => {
            repeated(body, sink);
            statuses(body, STATUSES, sink);
            timestamp(body, sink);
            parties(body, [("from", "from"), ("to", "to")], facts, sink);
        }
        DocumentKind::WorkflowComplete => {
            repeated(body, sink);
            statuses(body, STATUSES, sink);
            timestamp(body, sink);
        }
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => {
            statuses(body, &["status"], sink);
            timestamp(body, sink);
            parties(body, [("from", "from.agent"), ("to", "to.agent")], facts, sink);
        }
        DocumentKind::MetadataBlock(_) => {
            statuses(body, &["status"], sink);
            timestamp(body, sink);
        }
        DocumentKind::Acknowledgement(_) => acknowledgement(body, sink),
        DocumentKind::Other(system) => other_parties(body, system, facts, sink),
        DocumentKind::Payload => {}
    }
}

/// Another system's handoff that says neither who gets it nor how its step ended.
fn other_parties(body: &Body<'_>, system: OtherSystem, facts: &Facts, sink: &mut Sink) {
    let is_complete =
        system.receiver(body.fields()).is_some() || system.claim(body.fields()).is_some();
    match facts.parties {
        Parties::InDocument if !is_complete => {
            let message = format!("this looks like {}, which names no receiver", system.title());
            sink.say(LintRule::MissingParty, body.field_path(OTHER_RECEIVER), message);
        }
        Parties::InDocument | Parties::Known => {}
    }
}

/// How a document of another system names its receiver.
const OTHER_RECEIVER: &str = "to_agent";

/// By the reader that takes it with an accept, so that both say the same.
fn acknowledgement(body: &Body<'_>, sink: &mut Sink) {
    // What stands under the root may be no map, and then the body has no fields.
    let root = root(body.document).map(|(key, _)| key);
    for problem in Acknowledgement::read(body.document, "").err().unwrap_or_default() {
        let path = match root {
            Some(root) => format!("{root}.{}", problem.path),
            None => problem.path,
        };
        sink.say_once(LintRule::UnclearAcknowledgement, path, problem.message);
    }
}

fn repeated(body: &Body<'_>, sink: &mut Sink) {
    for key in SINGLE {
        if let Some(Node::List(items)) = body.fields().member(key)
            && items.len() > 1
        {
            let message = format!("is there {} times", items.len());
            sink.say(LintRule::RepeatedField, body.field_path(key), message);
        }
    }
}

fn statuses(body: &Body<'_>, keys: &[&str], sink: &mut Sink) {
    for key in keys {
        let Some(word) = body.fields().member(key).and_then(text) else { continue };
        let is_known = OutcomeClaim::parse(word).meaning != Meaning::Unknown;
        if !is_known && !word.trim().is_empty() && !is_placeholder(word) {
            let message = "is not a status of any document";
            sink.say_once(LintRule::UnknownStatus, body.field_path(key), message);
        }
    }
}

/// The words to offer in the place of a status that no document has.
pub(crate) fn usual_statuses(kind: DocumentKind, key: &str) -> &'static [&'static str] {
    match (kind, key) {
        (DocumentKind::MetadataBlock(_), _) => &["complete", "blocked", "needs_review"],
        (_, "review_status") => &["approved", "changes_requested"],
        (_, "validation_status") => &["passed", "failed"],
        (_, "merge_status") => &["merged", "blocked"],
        (
            DocumentKind::XmlHandoff
            | DocumentKind::WorkflowComplete
            | DocumentKind::YamlHandoff
            | DocumentKind::YamlGate
            | DocumentKind::Acknowledgement(_)
            | DocumentKind::Other(_)
            | DocumentKind::Payload,
            _,
        ) => &["success", "failure", "blocked"],
    }
}

fn timestamp(body: &Body<'_>, sink: &mut Sink) {
    let Some(node) = body.fields().member(TIMESTAMP) else { return };
    let word = text(node).map(str::trim);
    if word.is_some_and(|it| it.is_empty() || is_placeholder(it)) || node.is_blank() {
        return;
    }
    if !word.is_some_and(is_time) && !matches!(node, Node::List(_)) {
        sink.say_once(
            LintRule::BadTimestamp,
            body.field_path(TIMESTAMP),
            "is not a time with its offset",
        );
    }
}

/// RFC 3339: a date, `T`, a time with seconds, and `Z` or an offset.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let has_shape = (20..=40).contains(&bytes.len())
        && [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18].into_iter().all(is_digit)
        && [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')].iter().all(|(at, it)| bytes[*at] == *it)
        && matches!(bytes[10], b'T' | b't' | b' ');
    has_shape && text.parse::<Timestamp>().is_ok()
}

/// Both sides, unless the caller knows them without the document.
fn parties(body: &Body<'_>, sides: [(&str, &str); 2], facts: &Facts, sink: &mut Sink) {
    match facts.parties {
        Parties::Known => return,
        Parties::InDocument => {}
    }
    for (side, path) in sides {
        let named = body.fields().at(path).or_else(|| body.fields().member(side));
        let name = named.and_then(text).map(str::trim).filter(|it| !it.is_empty());
        match name {
            Some(name) if is_placeholder(name) || AgentId::parse(name).is_ok() => {}
            Some(_) => {
                sink.say(
                    LintRule::MissingParty,
                    body.field_path(path),
                    "is not the id of an agent",
                );
            }
            None if matches!(named, Some(Node::List(_))) => {}
            None if side == "to" && may_name_no_receiver(body) => {}
            None => sink.say(LintRule::MissingParty, body.field_path(path), "names no agent"),
        }
    }
}

/// A sender that failed or is blocked need not know who comes next.
fn may_name_no_receiver(body: &Body<'_>) -> bool {
    let claim = body.fields().member("status").and_then(text).map(OutcomeClaim::parse);
    claim.is_some_and(|it| match it.meaning {
        Meaning::Ended(Outcome::Failure | Outcome::Blocked | Outcome::Unknown) => true,
        Meaning::Ended(
            Outcome::Success
            | Outcome::NeedsReview
            | Outcome::NeedsClarification
            | Outcome::Skipped,
        )
        | Meaning::Unknown => false,
        Meaning::UnderWay => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_date_a_time_and_an_offset() {
        for good in [
            "2024-01-15T10:30:00Z",
            "2024-01-15T10:30:00.123Z",
            "2024-01-15T10:30:00+02:00",
            "2024-01-15 10:30:00-05:30",
            "2025-12-30t15:45:00z",
        ] {
            assert!(is_time(good), "{good}");
        }
        for bad in [
            "yesterday",
            "2024-01-15",
            "2024-01-15T10:30:00",
            "2024-02-30T10:30:00Z",
            "2024-01-15T25:30:00Z",
            "15/01/2024 10:30",
            "1736937000",
            "20240115T103000Z",
            "not a time",
            "2024-01-15T10:30Z",
            "ééééééééééééééé",
        ] {
            assert!(!is_time(bad), "{bad}");
        }
    }
}

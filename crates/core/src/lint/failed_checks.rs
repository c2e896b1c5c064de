//! Success beside a check that failed: "complete" with `tests_passed: false`.

use super::claims::{CLAIMS, MAPS, map_at};
use super::rule::LintRule;
use super::sink::Sink;
use super::tokens::words;
use crate::contract::Body;
use crate::document::Node;
use crate::document::kind::DocumentKind;
use crate::outcome::Outcome;
use crate::view::OutcomeClaim;
use crate::view::read::text;

/// Where the XML handoff writes what was checked, each in a few words.
const REPORTED: &[&str] = &["validation", "validation_summary"];

/// The first words of a result that is no success.
const FAILED: &[&str] = &["failed", "failing", "fails", "failure", "broken", "error", "errors"];

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, sink: &mut Sink) {
    if !claims_success(body, kind) {
        return;
    }
    for path in MAPS {
        let Some(map) = map_at(body, path) else { continue };
        for claim in CLAIMS {
            if map.member(claim).and_then(Node::scalar_text).map(str::trim) == Some("false") {
                let place =
                    if path.is_empty() { (*claim).to_owned() } else { format!("{path}.{claim}") };
                sink.say_once(
                    LintRule::FailedCheck,
                    body.field_path(&place),
                    "is false, beside success",
                );
            }
        }
    }
    for path in REPORTED {
        for key in body.fields().at(path).map(failed_results).unwrap_or_default() {
            // The key is the sender's, so it is not repeated.
            let place = match key {
                "tests" | "coverage" | "lint" | "type_check" | "security" | "dependencies"
                | "build" | "dev_server" => format!("{path}.{key}"),
                _ => (*path).to_owned(),
            };
            let message = "failed, beside success";
            sink.say_once(LintRule::FailedCheck, body.field_path(&place), message);
        }
    }
}

/// The results of a map that say in words that a check failed, by their keys.
pub(crate) fn failed_results(map: &Node) -> Vec<&str> {
    let Node::Map(members) = map else { return Vec::new() };
    let failed = members.iter().filter(|(_, node)| text(node).is_some_and(is_failure));
    failed.map(|(key, _)| key.as_str()).collect()
}

fn claims_success(body: &Body<'_>, kind: DocumentKind) -> bool {
    let keys: &[&str] = match kind {
        DocumentKind::XmlHandoff | DocumentKind::WorkflowComplete => {
            &["status", "review_status", "validation_status", "merge_status"]
        }
        DocumentKind::MetadataBlock(_) | DocumentKind::YamlHandoff | DocumentKind::YamlGate => {
            &["status"]
        }
        DocumentKind::Acknowledgement(_) | DocumentKind::Other(_) | DocumentKind::Payload => &[],
    };
    let outcome =
        |key: &&str| OutcomeClaim::parse(body.fields().member(key).and_then(text)?).outcome();
    keys.iter().find_map(outcome) == Some(Outcome::Success)
}

/// "failed", "not installed", "passed (150/156)", "3 vulnerabilities".
fn is_failure(text: &str) -> bool {
    let mut words = words(text).take(20);
    let Some(first) = words.next() else { return false };
    let is = |it: &str| first.eq_ignore_ascii_case(it);
    FAILED.iter().any(|it| is(it)) || is("not") || is_part(text) || {
        let number: Option<u32> = first.parse().ok();
        let counts_bad = |it: &str| {
            let it = it.to_ascii_lowercase();
            ["fail", "vulnerab", "error"].iter().any(|bad| it.starts_with(bad))
        };
        number.is_some_and(|it| it > 0) && words.take(3).any(counts_bad)
    }
}

/// `150/156`: fewer than all.
fn is_part(text: &str) -> bool {
    text.split(|it: char| it.is_whitespace() || matches!(it, '(' | ')' | ',')).any(|word| {
        let numbers = word
            .split_once('/')
            .and_then(|(some, all)| Some((some.parse::<u64>().ok()?, all.parse::<u64>().ok()?)));
        numbers.is_some_and(|(some, all)| some < all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_words_are_told_apart() {
        for good in [
            "passed (156/156)",
            "94%",
            "passed",
            "no vulnerabilities",
            "installed",
            "passing",
            "verified",
            "0 errors, 3 notes",
            "24 tests",
        ] {
            assert!(!is_failure(good), "{good}");
        }
        for bad in [
            "failed",
            "Failing since Tuesday",
            "not installed",
            "passed (150/156)",
            "3 vulnerabilities",
            "2 tests failed",
            "12 errors",
        ] {
            assert!(is_failure(bad), "{bad}");
        }
    }
}

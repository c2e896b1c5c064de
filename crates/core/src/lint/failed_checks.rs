//! Success beside a check that failed: "complete" with `tests_passed: false`.

use super::claims::{CLAIMS, MAPS, map_at};
use super::facts::Facts;
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

pub(super) fn check(body: &Body<'_>, kind: DocumentKind, facts: &Facts, sink: &mut Sink) {
    if !claims_success(body, kind, facts) {
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

/// Says it in its status, or else by the command that brings it.
fn claims_success(body: &Body<'_>, kind: DocumentKind, facts: &Facts) -> bool {
    let keys: &[&str] = match kind {
        DocumentKind::XmlHandoff | DocumentKind::WorkflowComplete => {
            &["status", "review_status", "validation_status", "merge_status"]
        }
        DocumentKind::MetadataBlock(_) | DocumentKind::YamlHandoff | DocumentKind::YamlGate => {
            &["status"]
        }
        DocumentKind::Payload => &["status", "outcome"],
        DocumentKind::Acknowledgement(_) | DocumentKind::Other(_) => &[],
    };
    let outcome =
        |key: &&str| OutcomeClaim::parse(body.fields().member(key).and_then(text)?).outcome();
    let brought = facts.outcome.filter(|_| kind == DocumentKind::Payload);
    keys.iter().find_map(outcome).or(brought) == Some(Outcome::Success)
}

/// How the work ended that a package tells of, where nothing beside it says so: well, unless it tells
/// what went wrong.
pub fn likely_outcome(package: &Node) -> Option<Outcome> {
    const STUCK: &[&str] = &[
        "reason",
        "blocked_reason",
        "rejection_reason",
        "blockers",
        "error",
        "failures",
        "issues",
    ];
    let body = Body::of(package);
    let is_stuck = STUCK.iter().any(|it| body.fields().member(it).is_some());
    (!is_stuck).then_some(Outcome::Success)
}

/// What follows "not" where nothing had to be checked.
const NOT_DUE: &[&str] = &["applicable", "needed", "required", "relevant", "necessary"];

/// "failed", "not installed", "passed (150/156)", "3 vulnerabilities".
fn is_failure(text: &str) -> bool {
    let mut words = words(text).take(20);
    let Some(first) = words.next() else { return false };
    let is = |it: &str| first.eq_ignore_ascii_case(it);
    if is("not") {
        let is_due = |next: &str| !NOT_DUE.iter().any(|it| next.eq_ignore_ascii_case(it));
        return words.next().is_none_or(is_due);
    }
    FAILED.iter().any(|it| is(it)) || is_part(text) || {
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

    #[track_caller]
    fn check_package(
        members: &[(&'static str, Node)],
        outcome: Option<Outcome>,
        expected: &[&str],
    ) {
        let document = Node::map(members.iter().cloned());
        let facts = Facts { outcome, ..Facts::default() };
        let found = crate::lint::findings(&document, &facts);
        let found = found.iter().filter(|it| it.rule == Some(LintRule::FailedCheck));
        assert_eq!(found.map(|it| it.path.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_package_of_a_success_says_of_no_check_that_it_failed() {
        let failed = [("plan", Node::text("p")), ("tests_passed", Node::Bool(false))];
        check_package(&failed, Some(Outcome::Success), &["tests_passed"]);
        for honest in [Outcome::Failure, Outcome::Blocked, Outcome::NeedsReview] {
            check_package(&failed, Some(honest), &[]);
        }
        // A package for a person who is asked may say what failed.
        check_package(&failed, None, &[]);
        let nested = Node::map([("build_success", Node::Bool(false))]);
        let nested = [("verification", nested)];
        check_package(&nested, Some(Outcome::Success), &["verification.build_success"]);
        let said = [("status", Node::text("blocked")), ("tests_passed", Node::Bool(false))];
        check_package(&said, Some(Outcome::Success), &[]);
    }

    #[test]
    fn a_package_alone_tells_of_a_success_unless_it_says_what_went_wrong() {
        let package = |key: &'static str| Node::map([(key, Node::text("x"))]);
        assert_eq!(likely_outcome(&package("plan")), Some(Outcome::Success));
        for stuck in ["reason", "blockers", "failures"] {
            assert_eq!(likely_outcome(&package(stuck)), None, "{stuck}");
        }
    }

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
            "not applicable: nothing listens on a port",
            "Not needed",
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

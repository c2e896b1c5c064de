//! "The tests pass", without evidence.

use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::Body;
use crate::document::Node;

/// Where claims are found: at the top, or in a map of their own.
const MAPS: &[&str] = &["", "verification", "validation", "context.verification"];

const CLAIMS: &[&str] = &[
    "tests_passed",
    "tests_pass",
    "all_tests_pass",
    "build_success",
    "build_passes",
    "build_passed",
    "lint_passed",
    "lint_passes",
    "type_check_passed",
    "ci_passed",
    "checks_passed",
];

/// Evidence: a command, its output, or where that can be read.
const SHOWN: &[&str] = &[
    "command_output",
    "commands",
    "command",
    "output",
    "evidence",
    "exit_code",
    "exit_codes",
    "ci_url",
    "log",
    "logs",
    "test_output",
    "build_output",
    "checks",
    "report",
];

pub(super) fn check(body: &Body<'_>, sink: &mut Sink) {
    let Some((path, claim)) = claim(body) else { return };
    if has_evidence(body) {
        return;
    }
    let path = if path.is_empty() { claim.to_owned() } else { format!("{path}.{claim}") };
    sink.say(
        LintRule::ClaimWithoutEvidence,
        body.field_path(&path),
        "is said, and nothing shows it",
    );
}

fn claim(body: &Body<'_>) -> Option<(&'static str, &'static str)> {
    MAPS.iter().find_map(|path| {
        let map = map_at(body, path)?;
        let is_true = |it: &&str| map.member(it).and_then(Node::scalar_text) == Some("true");
        CLAIMS.iter().find(|it| is_true(it)).map(|it| (*path, *it))
    })
}

pub(super) fn has_evidence(body: &Body<'_>) -> bool {
    MAPS.iter()
        .filter_map(|it| map_at(body, it))
        .any(|map| SHOWN.iter().any(|it| map.member(it).is_some_and(|it| !it.is_blank())))
}

fn map_at<'a>(body: &Body<'a>, path: &str) -> Option<&'a Node> {
    if path.is_empty() { Some(body.fields()) } else { body.fields().at(path) }
}

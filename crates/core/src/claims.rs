//! What a package claims about itself, and what checks say to that.

use crate::contract::{Body, items};
use crate::document::Node;
use crate::evidence::Verdict;
use crate::names::CheckName;

/// Where claims are found: at the top, or in a map of their own.
const MAPS: &[&str] =
    &["", "verification", "validation", "validation_summary", "context.verification"];

/// Where packages name their commits.
const COMMITS: &[&str] =
    &["commit", "commit_sha", "commits", "context.commits", "git.commit", "context.commit"];

/// A document names no more than this many commits that are looked for.
pub const MOST_COMMITS: usize = 64;
const MOST_CLAIMS: usize = 64;

/// A claim that a check has found to be false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Where the claim is.
    pub path: String,
    pub check: CheckName,
}

/// The claims of a document that a failed check contradicts, each once.
pub fn contradictions(document: &Node, results: &[(CheckName, Verdict)]) -> Vec<Contradiction> {
    let body = Body::of(document);
    let mut found = Vec::new();
    for map in MAPS {
        let node = if map.is_empty() { Some(body.fields()) } else { body.fields().at(map) };
        let Some(Node::Map(members)) = node else { continue };
        for (key, _) in members.iter().filter(|(_, it)| is_success(it)) {
            let failed = results.iter().find(|(check, verdict)| {
                *verdict == Verdict::Failed && is_about(key, check.as_str(), map)
            });
            if let Some((check, _)) = failed {
                let path = if map.is_empty() { key.clone() } else { format!("{map}.{key}") };
                let path = body.field_path(&path);
                found.push(Contradiction { path, check: check.clone() });
            }
        }
    }
    found
}

/// The claims of a document that something passed, without those that one of `passed` confirms.
pub fn unverified(document: &Node, passed: &[CheckName]) -> Vec<String> {
    let body = Body::of(document);
    let mut found = Vec::new();
    for map in MAPS {
        let node = if map.is_empty() { Some(body.fields()) } else { body.fields().at(map) };
        let Some(Node::Map(members)) = node else { continue };
        for (key, _) in members.iter().filter(|(_, it)| is_success(it)) {
            let is_claim = !map.is_empty() || subject(key).is_some();
            let is_confirmed = passed.iter().any(|it| is_about(key, it.as_str(), map));
            if is_claim && !is_confirmed && found.len() < MOST_CLAIMS {
                let path = if map.is_empty() { key.clone() } else { format!("{map}.{key}") };
                found.push(body.field_path(&path));
            }
        }
    }
    found
}

/// `true`, or a word that says the same.
fn is_success(value: &Node) -> bool {
    let Some(text) = value.scalar_text() else { return false };
    let first = text.trim().split(|it: char| !it.is_ascii_alphanumeric()).next();
    let first = first.unwrap_or_default().to_ascii_lowercase();
    ["true", "passed", "pass", "passes", "passing", "success", "ok", "green", "yes"]
        .contains(&first.as_str())
}

/// `build_passes` is about the check `build`, `tests_passed` about `tests` and `test`; in a map of
/// results, `tests` is too. That tests were added does not mean that they pass.
fn is_about(key: &str, check: &str, map: &str) -> bool {
    let subject = match subject(key) {
        Some(subject) => subject,
        None if !map.is_empty() => key,
        None => return false,
    };
    subject == "checks" || singular(subject) == singular(check)
}

/// What a key says has passed: `tests` of `all_tests_pass`.
fn subject(key: &str) -> Option<&str> {
    match key.rsplit_once('_')? {
        (subject, "pass" | "passes" | "passed" | "passing" | "success" | "ok") => {
            Some(subject.strip_prefix("all_").unwrap_or(subject))
        }
        _ => None,
    }
}

fn singular(word: &str) -> String {
    word.replace('-', "_").trim_end_matches('s').to_owned()
}

/// Whether a claim by this key is about a check: `tests_passed` is about `tests`.
pub fn is_claim_about(key: &str, check: &CheckName) -> bool {
    is_about(key, check.as_str(), "") || singular(key) == singular(check.as_str())
}

/// The commits that a document names as its own, as it writes them: 7 to 64 hexadecimal digits.
pub fn commits(document: &Node) -> Vec<String> {
    let body = Body::of(document);
    let mut commits: Vec<String> = Vec::new();
    let mut add = |node: &Node| {
        let keys = ["sha", "commit", "hash", "id", "@sha", "#text"];
        let inner = keys.iter().find_map(|it| node.member(it)).unwrap_or(node);
        let Some(text) = inner.as_text().map(str::trim) else { return };
        let is_commit =
            (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
        if is_commit && !commits.iter().any(|it| it == text) && commits.len() < MOST_COMMITS {
            commits.push(text.to_owned());
        }
    };
    for path in COMMITS {
        let Some(node) = body.fields().at(path) else { continue };
        match items(node) {
            Some(items) => items.iter().for_each(&mut add),
            None => add(node),
        }
    }
    commits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(it: &str) -> Node {
        Node::text(it)
    }

    fn failed(check: &str) -> Vec<(CheckName, Verdict)> {
        vec![
            (CheckName::parse("lint").unwrap(), Verdict::Passed),
            (CheckName::parse(check).unwrap(), Verdict::Failed),
        ]
    }

    #[track_caller]
    fn check(document: &Node, failing: &str, expected: &[&str]) {
        let found = contradictions(document, &failed(failing));
        let paths: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn a_claim_is_contradicted_by_a_failed_check_of_the_same_thing() {
        let claims = Node::map([
            ("build_passes", Node::Bool(true)),
            ("tests_passed", Node::Bool(true)),
            ("lint_passed", Node::Bool(true)),
            ("tests_added", Node::Bool(true)),
        ]);
        check(&claims, "tests", &["tests_passed"]);
        check(&claims, "test", &["tests_passed"]);
        check(&claims, "build", &["build_passes"]);
        check(&claims, "types", &[]);
        let denied = Node::map([("tests_passed", Node::Bool(false))]);
        check(&denied, "tests", &[]);
        let nested = Node::map([(
            "verification",
            Node::map([("tests_pass", Node::Bool(true)), ("type_check_passed", text("true"))]),
        )]);
        check(&nested, "tests", &["verification.tests_pass"]);
        check(&nested, "type-check", &["verification.type_check_passed"]);
        let words = Node::map([("validation", Node::map([("tests", text("passed (156/156)"))]))]);
        check(&words, "tests", &["validation.tests"]);
        check(&Node::map([("all_tests_pass", Node::Bool(true))]), "tests", &["all_tests_pass"]);
        check(&Node::map([("checks_passed", Node::Bool(true))]), "build", &["checks_passed"]);
    }

    #[test]
    fn a_claim_without_a_check_that_passed_is_unverified() {
        let document = Node::map([
            ("tests_passed", Node::Bool(true)),
            ("lint_passed", Node::Bool(true)),
            ("approved", Node::Bool(true)),
            ("verification", Node::map([("build", text("passed")), ("notes", text("none"))])),
        ]);
        let passed = [CheckName::parse("tests").unwrap()];
        assert_eq!(unverified(&document, &passed), ["lint_passed", "verification.build"]);
        assert_eq!(unverified(&document, &[]).len(), 3);
    }

    #[test]
    fn commits_are_found_where_packages_name_them() {
        let listed = Node::List(vec![
            text("abcdef1"),
            Node::map([("sha", text("1234567890abcdef"))]),
            text("--upload-pack=evil"),
            text("abcdef1"),
            text("HEAD"),
        ]);
        let document = Node::map([("commits", listed), ("commit", text("7654321"))]);
        assert_eq!(commits(&document), ["7654321", "abcdef1", "1234567890abcdef"]);
        assert_eq!(commits(&text("no map")), [""; 0]);
    }
}

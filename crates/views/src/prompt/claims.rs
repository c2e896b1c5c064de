//! Unverified claims that a package makes about itself, and the files that it names.

use baton_core::claims::is_claim_about;
use baton_core::document::Node;
use baton_core::evidence::{Evidence, Verdict};
use baton_core::package::{Format, Package};

use super::brief::Parcel;

/// The paths at which packages claim that something holds.
const CLAIMS: &[&str] = &[
    "build_passes",
    "build_success",
    "tests_passed",
    "tests_added",
    "lint_passed",
    "approved",
    "questions_resolved",
    "refactored",
    "docs_updated",
    "coverage_percent",
];

/// Every member below these is a claim.
const CLAIM_MAPS: &[&str] = &["verification", "context.verification"];

/// A list has as many, and says how many more there are.
pub(super) const MOST_CLAIMS: usize = 40;
const MOST_CHARS: usize = 200;

/// One claim, as `verification.tests_passed: true`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CheckedClaim {
    pub(super) words: String,
    pub(super) standing: ClaimStanding,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClaimStanding {
    Unchecked,
    /// A check of it is recorded, and passed.
    Passed,
    /// A check of it is recorded, and failed.
    Failed,
}

pub(super) fn claims(parcel: &Parcel, evidence: &[Evidence]) -> Vec<CheckedClaim> {
    let Some(root) = parcel.root() else { return Vec::new() };
    let named = CLAIMS.iter().filter_map(|key| Some(((*key).to_owned(), root.member(key)?)));
    let below = CLAIM_MAPS.iter().flat_map(|path| match root.at(path) {
        Some(Node::Map(members)) => {
            members.iter().map(|(key, node)| (format!("{path}.{key}"), node)).collect()
        }
        Some(_) | None => Vec::new(),
    });
    named.chain(below).filter_map(|(path, node)| claim(&path, node, evidence)).collect()
}

/// A claim that something does not hold needs no check: the receiver would not rely on it.
fn claim(path: &str, node: &Node, evidence: &[Evidence]) -> Option<CheckedClaim> {
    let value = node.scalar_text().filter(|it| *it != "false")?;
    let mut words = format!("{path}: {value}");
    if let Some((end, _)) = words.char_indices().nth(MOST_CHARS) {
        words.truncate(end);
        words.push('…');
    }
    let key = path.rsplit('.').next().unwrap_or(path);
    let check = evidence.iter().find(|it| is_claim_about(key, &it.check));
    let standing = match check.map(|it| it.verdict) {
        None => ClaimStanding::Unchecked,
        Some(Verdict::Passed) => ClaimStanding::Passed,
        Some(Verdict::Failed) => ClaimStanding::Failed,
    };
    Some(CheckedClaim { words, standing })
}

/// The paths in a package, each once.
pub(super) fn files(parcel: &Parcel) -> Vec<String> {
    let Some(root) = parcel.root() else { return Vec::new() };
    let view = Package::new(Format::Json, "", root.clone()).view();
    let mut files: Vec<String> = Vec::new();
    for file in view.paths() {
        if !files.iter().any(|it| it == file) {
            files.push(file.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use baton_core::names::{AgentId, CheckName};
    use baton_wire::json;

    use super::*;

    fn parcel(text: &str) -> Parcel {
        let document = json::parse(text).ok();
        let by = AgentId::parse("analyst").unwrap();
        let format = Format::Json;
        Parcel { number: 1, by, format, hash: None, text: text.into(), document }
    }

    fn evidence(check: &str, verdict: Verdict) -> Evidence {
        let (check, fence) = (CheckName::parse(check).unwrap(), None);
        Evidence { check, verdict, fence, is_observed: true }
    }

    #[test]
    fn what_is_claimed_is_told_with_what_was_checked() {
        let text = r#"{"build_passes": true, "tests_added": true, "approved": false, "plan": "p",
            "verification": {"tests_passed": true, "lint_passed": true, "coverage_percent": 87, "x": {}}}"#;
        let seen = [evidence("tests", Verdict::Passed), evidence("lint", Verdict::Failed)];
        let claim = |words: &str, standing| CheckedClaim { words: words.to_owned(), standing };
        assert_eq!(
            claims(&parcel(text), &seen),
            [
                claim("build_passes: true", ClaimStanding::Unchecked),
                claim("tests_added: true", ClaimStanding::Unchecked),
                claim("verification.tests_passed: true", ClaimStanding::Passed),
                claim("verification.lint_passed: true", ClaimStanding::Failed),
                claim("verification.coverage_percent: 87", ClaimStanding::Unchecked),
            ]
        );
    }

    #[test]
    fn files_are_found_with_and_without_a_root() {
        let inner = r#"{"context": {"artifacts": [{"path": "a.md"}, "b.rs", "a.md"]}}"#;
        for text in [inner.to_owned(), format!(r#"{{"handoff": {inner}}}"#)] {
            assert_eq!(files(&parcel(&text)), ["a.md", "b.rs"]);
        }
        assert_eq!(files(&parcel("not JSON")), [""; 0]);
    }
}

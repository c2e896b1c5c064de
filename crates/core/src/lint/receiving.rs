//! The YAML handoff's checklist for receiving a package, as far as Baton can check it.

use super::facts::{Facts, FileFact};
use super::rule::LintRule;
use super::summary::{SUMMARIES, text_at};
use super::vague::is_vague;
use super::{artifacts, findings};
use crate::contract::Body;
use crate::document::Node;

/// One point of the list, in the words of the YAML handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub about: &'static str,
    pub answer: ReceiverAnswer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverAnswer {
    Yes,
    No,
    /// Not checked, or only the receiver can tell.
    Unverified,
}

/// The four points, in the order of the YAML handoff.
pub fn checklist(document: &Node, facts: &Facts) -> [Point; 4] {
    let body = Body::of(document);
    let summary = SUMMARIES.iter().find_map(|it| text_at(&body, it));
    let found = findings(document, facts);
    let has = |rule: LintRule| found.iter().any(|it| it.code == rule.code());
    let constraints_fail = found
        .iter()
        .any(|it| it.code == LintRule::Unmeasurable.code() && it.path.contains("constraints"));
    let is_understandable = summary.is_some_and(|it| !is_vague(it));
    let deliverable = ["expectations.deliverable", "deliverable", "validation_request.items"];
    let is_asked =
        deliverable.iter().any(|it| body.fields().at(it).is_some_and(|it| !it.is_blank()));
    let are_there = if has(LintRule::ArtifactMissing) || has(LintRule::ArtifactOutside) {
        ReceiverAnswer::No
    } else {
        known(document, facts)
    };
    [
        Point { about: "summary present and understandable", answer: answer(is_understandable) },
        Point { about: "all artifacts exist", answer: are_there },
        Point { about: "expectations.deliverable clear", answer: answer(is_asked) },
        Point {
            about: "constraints compatible with my capabilities",
            // From outside, only whether they can be measured is known.
            answer: if constraints_fail { ReceiverAnswer::No } else { ReceiverAnswer::Unverified },
        },
    ]
}

fn known(document: &Node, facts: &Facts) -> ReceiverAnswer {
    let is_known =
        |it: &String| matches!(facts.files.get(it), Some(FileFact::Folder | FileFact::File { .. }));
    if artifacts::paths(document).iter().all(is_known) {
        ReceiverAnswer::Yes
    } else {
        ReceiverAnswer::Unverified
    }
}

fn answer(is_so: bool) -> ReceiverAnswer {
    if is_so { ReceiverAnswer::Yes } else { ReceiverAnswer::No }
}

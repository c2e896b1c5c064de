//! How complete a handoff is, from 0 to 100, and what each part contributes.
//!
//! The parts depend on the shape of the document: see `docs/lint/score.md`. Findings are subtracted
//! at the end.

use std::borrow::Cow;

use super::Finding;
use super::claims;
use super::rule::Severity;
use super::summary::{SUMMARIES, text_at};
use super::vague::is_vague;
use crate::contract::{Body, Contract, items};
use crate::document::Node;
use crate::document::kind::DocumentKind;

const PER_ERROR: u32 = 20;
const PER_WARNING: u32 = 5;
const PER_ABSENT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    pub points: u8,
    pub parts: Vec<ScorePart>,
    /// Points subtracted for findings.
    pub taken: u8,
}

/// A part of the score: its subject, its points, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorePart {
    pub name: &'static str,
    pub points: u8,
    pub of: u8,
    pub why: Cow<'static, str>,
}

pub(super) fn score(
    body: &Body<'_>,
    kind: DocumentKind,
    contract: Option<&Contract>,
    findings: &[Finding],
) -> Score {
    let fields = body.fields();
    let is_there = |path: &str| fields.at(path).is_some_and(|it| !it.is_blank());
    let (parts, per_absent) = match kind {
        DocumentKind::MetadataBlock(_) => (phases(body), PER_ABSENT),
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => (package(body), PER_ABSENT),
        // A package may be without its root.
        DocumentKind::Payload if is_there("context") || is_there("expectations") => {
            (package(body), PER_ABSENT)
        }
        // There, the contract is a part of its own.
        DocumentKind::Payload
        | DocumentKind::Other(_)
        | DocumentKind::XmlHandoff
        | DocumentKind::WorkflowComplete
        | DocumentKind::Acknowledgement(_) => (message(body, contract), 0),
    };
    let total: u32 = parts.iter().map(|it| u32::from(it.points)).sum();
    let cost = |it: &Finding| match it.severity {
        Severity::Error => PER_ERROR,
        Severity::Warning => PER_WARNING,
        Severity::Info if it.code == "missing" => per_absent,
        Severity::Info => 0,
    };
    let taken: u32 = findings.iter().map(cost).sum::<u32>().min(total);
    let small = |it: u32| u8::try_from(it.min(100)).unwrap_or(100);
    Score { points: small(total - taken), parts, taken: small(taken) }
}

/// The metadata block: context 40, summary 20, verification 20, blockers 20.
fn phases(body: &Body<'_>) -> Vec<ScorePart> {
    let fields = body.fields();
    let text = |path: &str| fields.at(path).and_then(Node::scalar_text);
    let is_end = text("handoff.next_phase") == Some("complete");
    let context = match text_at(body, "handoff.context") {
        Some(it) if !is_vague(it) => part("context", 40, 40, "says what the next agent needs"),
        Some(_) => part("context", 10, 40, "says nothing in particular"),
        None if is_end => part("context", 40, 40, "not needed at the end"),
        None => part("context", 0, 40, "is missing"),
    };
    // The metadata profile has no summary: the files that were read count instead.
    let summary = match text_at(body, "summary") {
        None if n_items(fields, "source_files_verified") > 0 => {
            part("summary", 20, 20, "the files that were read stand in for it")
        }
        summary => summary_part(summary, 20),
    };
    let verification = match fields.at("verification") {
        _ if claims::has_evidence(body) => part("verification", 20, 20, "shows what was run"),
        Some(it) if !it.is_blank() => {
            part("verification", 15, 20, "claims without a command's output")
        }
        Some(_) | None if n_items(fields, "source_files_verified") > 0 => {
            part("verification", 15, 20, "names the lines that were read")
        }
        Some(_) | None => part("verification", 0, 20, "is missing"),
    };
    let is_blocked = text("status") == Some("blocked");
    let is_told = text("blocked_reason").is_some() || n_items(fields, "handoff.blockers") > 0;
    let blockers = match (is_blocked, is_told && n_items(fields, "attempted") > 0, is_told) {
        (false, _, _) => part("blockers", 20, 20, "nothing blocks"),
        (true, true, _) => part("blockers", 20, 20, "says what blocks and what was tried"),
        (true, false, true) => part("blockers", 10, 20, "says what blocks, not what was tried"),
        (true, false, false) => part("blockers", 0, 20, "does not say what blocks"),
    };
    vec![context, summary, verification, blockers]
}

/// The YAML handoff: summary 30, expectations 25, artifacts 20, decisions and open questions 25.
fn package(body: &Body<'_>) -> Vec<ScorePart> {
    let fields = body.fields();
    let is_there = |path: &str| fields.at(path).is_some_and(|it| !it.is_blank());
    let expectations = if is_there("gate") || is_there("validation_request") {
        match n_items(fields, "validation_request.items") {
            0 => part("expectations", 5, 25, "a gate without anything to validate"),
            _ => part("expectations", 25, 25, "says what to validate"),
        }
    } else {
        let has_criteria = n_items(fields, "expectations.success_criteria") > 0;
        match (is_there("expectations.deliverable"), has_criteria) {
            (true, true) => part("expectations", 25, 25, "a deliverable, and when it is reached"),
            (true, false) => part("expectations", 18, 25, "a deliverable without criteria"),
            (false, true) => part("expectations", 10, 25, "criteria without a deliverable"),
            (false, false) => part("expectations", 0, 25, "no deliverable is named"),
        }
    };
    let artifacts = match n_items(fields, "context.artifacts") + n_items(fields, "artifacts") {
        0 => part("artifacts", 5, 20, "none is named"),
        _ => part("artifacts", 20, 20, "named"),
    };
    let said =
        |key: &str| fields.at(&format!("context.{key}")).or_else(|| fields.at(key)).is_some();
    let thinking = match (said("decisions"), said("open_questions")) {
        (true, true) => part("thinking", 25, 25, "decisions, and what is open"),
        (true, false) => part("thinking", 18, 25, "decisions, but not what is open"),
        (false, true) => part("thinking", 15, 25, "what is open, but no decisions"),
        (false, false) => part("thinking", 8, 25, "neither decisions nor open questions"),
    };
    vec![summary_part(any_summary(body), 30), expectations, artifacts, thinking]
}

/// Pipeline payloads, the XML handoff and everything else: contract 50, summary 25, substance 25.
fn message(body: &Body<'_>, contract: Option<&Contract>) -> Vec<ScorePart> {
    let mut parts = Vec::new();
    let (mut of_summary, mut of_substance) = (50, 50);
    if let Some(contract) = contract {
        (of_summary, of_substance) = (25, 25);
        let (n_kept, n_rules) = contract.kept(body.document);
        let points = (50 * n_kept).checked_div(n_rules).unwrap_or(50);
        let why = Cow::Owned(format!("keeps {n_kept} of {n_rules} rules of `{}`", contract.name));
        parts.push(ScorePart {
            name: "contract",
            points: u8::try_from(points).unwrap_or(50),
            of: 50,
            why,
        });
    }
    // Many of these messages have no summary, but an equivalent field.
    parts.push(match any_summary(body) {
        None if STAND_INS
            .iter()
            .any(|it| body.fields().at(it).is_some_and(|it| !it.is_blank())) =>
        {
            part("summary", of_summary, of_summary, "another field says what it is about")
        }
        summary => summary_part(summary, of_summary),
    });
    let n_fields = match body.fields() {
        Node::Map(members) => members.iter().filter(|(_, it)| !it.is_blank()).count(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => 0,
    };
    parts.push(match n_fields {
        0 => part("substance", 0, of_substance, "is empty"),
        1 | 2 => part("substance", of_substance / 2, of_substance, "is short"),
        _ => part("substance", of_substance, of_substance, "has enough to work with"),
    });
    parts
}

const STAND_INS: &[&str] = &[
    "blocking_issues",
    "failures",
    "fixes_applied",
    "error.message",
    "validation",
    "plan",
    "story",
    "story_id",
    "review_notes",
    "notes",
    "reason",
    "feedback",
    "merge_sha",
];

fn any_summary<'a>(body: &Body<'a>) -> Option<&'a str> {
    SUMMARIES.iter().find_map(|it| text_at(body, it))
}

fn summary_part(summary: Option<&str>, of: u8) -> ScorePart {
    match summary {
        Some(it) if !is_vague(it) => part("summary", of, of, "says something in particular"),
        Some(_) => part("summary", of / 4, of, "says nothing in particular"),
        None => part("summary", 0, of, "is missing"),
    }
}

fn n_items(fields: &Node, path: &str) -> usize {
    fields.at(path).and_then(items).map_or(0, <[Node]>::len)
}

fn part(name: &'static str, points: u8, of: u8, why: &'static str) -> ScorePart {
    ScorePart { name, points, of, why: Cow::Borrowed(why) }
}

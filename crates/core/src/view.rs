//! What Baton reads in a document, whichever seed it follows and whichever format it came in.
//! Computed, never stored in place of the document, and the sender's own words are kept.

use std::collections::BTreeSet;

use crate::document::kind::{DocumentKind, Shape};
use crate::document::{Node, Number};
use crate::outcome::Outcome;

mod parts;
pub mod read;
mod subject;

pub use parts::{
    Artifact, ErrorReport, Expectations, OpenQuestion, ReportedBlocker, ReportedDecision,
    ReviewFinding, ValidationRequest,
};
pub(crate) use parts::{blockers, findings};
use read::{first_text, text_at, texts_at};
pub use subject::Subject;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub kind: DocumentKind,
    pub sender: Option<String>,
    /// Whom the sender means; seed 002 only suggests one.
    pub receiver: Option<String>,
    /// The step the sender was at.
    pub step: Option<StepReference>,
    /// The sender's own id for the handoff.
    pub external_id: Option<String>,
    pub timestamp: Option<String>,
    /// Which work this is about.
    pub subject: Subject,
    /// Seed 002's phase, and the one it says comes next.
    pub phase: Option<String>,
    pub next_phase: Option<String>,
    pub claim: Option<OutcomeClaim>,
    pub summary: Option<String>,
    /// Why this receiver, or why the work goes back.
    pub reason: Option<String>,
    pub blocked_reason: Option<String>,
    /// What a blocked sender had tried.
    pub attempted: Vec<String>,
    /// What the next agent has to know, in prose.
    pub context: Option<String>,
    pub decisions: Vec<ReportedDecision>,
    pub artifacts: Vec<Artifact>,
    /// Paths of the files that were changed.
    pub files: Vec<String>,
    pub open_questions: Vec<OpenQuestion>,
    pub expectations: Option<Expectations>,
    /// What the sender says it verified, by name, in its words.
    pub verification: Vec<(String, String)>,
    pub findings: BTreeSet<ReviewFinding>,
    /// The sender says that something went wrong.
    pub error: Option<ErrorReport>,
    pub blockers: Vec<ReportedBlocker>,
    /// What a person is asked to look at.
    pub validation: Option<ValidationRequest>,
}

/// How the sender says its step ended: its word, and what that means to Baton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeClaim {
    pub word: String,
    pub meaning: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Ended(Outcome),
    /// A progress note: it moves nothing.
    UnderWay,
    /// No word of any seed.
    Unknown,
}

/// A step as its sender wrote it: a name, a number, or the express statement that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepReference {
    Name(String),
    Number(Number),
    Outside,
}

impl View {
    pub fn of(document: &Node) -> Self {
        let Shape { kind, body } = Shape::of(document);
        let owned = |paths: &[&str]| first_text(body, paths).map(str::to_owned);
        Self {
            kind,
            sender: owned(&["from.agent", "from", "agent"]),
            receiver: owned(&["to.agent", "to", "handoff.next_agent", "next_agent"]),
            step: body.at("from.step").or_else(|| body.at("gate.step")).and_then(step),
            external_id: owned(&["id", "handoff_id"]),
            timestamp: owned(&["timestamp"]),
            subject: Subject::of(body),
            phase: owned(&["phase"]),
            next_phase: owned(&["handoff.next_phase", "next_phase"]),
            claim: OutcomeClaim::of(kind, body),
            summary: owned(&["summary", "context.summary"]),
            reason: owned(&["to.reason", "reason", "feedback"]),
            blocked_reason: owned(&["blocked_reason"]),
            attempted: texts_at(body, "attempted"),
            context: owned(&["handoff.context", "context"]),
            decisions: parts::decisions(body),
            artifacts: parts::artifacts(body),
            files: parts::files(body),
            open_questions: parts::open_questions(body),
            expectations: parts::expectations(body),
            verification: parts::verification(body),
            findings: findings(body),
            error: parts::error(body),
            blockers: blockers(body),
            validation: parts::validation(body),
        }
    }

    /// Every path that the document names as made or changed, artifacts first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let artifacts = self.artifacts.iter().filter_map(|it| it.path.as_deref());
        artifacts.chain(self.files.iter().map(String::as_str))
    }
}

impl OutcomeClaim {
    /// Seed 001 says it under several names. In a payload of seed 000, `status` is just data.
    fn of(kind: DocumentKind, body: &Node) -> Option<Self> {
        let keys: &[&str] = match kind {
            DocumentKind::Handoff001 | DocumentKind::WorkflowComplete => {
                &["status", "review_status", "validation_status", "merge_status"]
            }
            DocumentKind::Metadata002(_) | DocumentKind::Handoff004 | DocumentKind::Gate004 => {
                &["status"]
            }
            DocumentKind::Acknowledgement(_) | DocumentKind::Payload => &[],
        };
        first_text(body, keys).map(Self::parse)
    }

    pub fn parse(word: &str) -> Self {
        let meaning = match (Outcome::parse(word), word.trim().replace('-', "_").as_str()) {
            (Some(outcome), _) => Meaning::Ended(outcome),
            (None, "pending" | "in_progress") => Meaning::UnderWay,
            (None, _) => Meaning::Unknown,
        };
        Self { word: word.to_owned(), meaning }
    }

    pub fn outcome(&self) -> Option<Outcome> {
        match self.meaning {
            Meaning::Ended(outcome) => Some(outcome),
            Meaning::UnderWay | Meaning::Unknown => None,
        }
    }
}

fn step(node: &Node) -> Option<StepReference> {
    match node {
        Node::Null => Some(StepReference::Outside),
        Node::Number(number) => Some(StepReference::Number(number.clone())),
        Node::Text(text) if text.trim().is_empty() => None,
        Node::Text(text) => Some(StepReference::Name(text.clone())),
        Node::Bool(_) | Node::List(_) | Node::Map(_) => None,
    }
}

/// Why the work goes back, where the sender gave no reason beside the package.
pub(crate) fn stated_reason(document: &Node) -> Option<&str> {
    let body = Shape::of(document).body;
    let paths = ["reason", "context.reason", "feedback", "context.feedback", "summary"];
    first_text(body, &paths).or_else(|| text_at(body, "context.summary"))
}

#[cfg(test)]
mod tests;

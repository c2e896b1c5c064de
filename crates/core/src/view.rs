//! The typed view of a document, independent of its source and its format. Computed, never stored
//! in place of the document; the sender's own words are kept.

use std::collections::BTreeSet;

use crate::document::Node;
use crate::document::kind::{DocumentKind, Shape};
use crate::outcome::Outcome;

mod parts;
pub mod read;
mod subject;

pub use parts::{
    Artifact, ErrorReport, Expectations, FindingToAnswer, OpenQuestion, ReportedDecision,
    ReviewFinding, ValidationRequest,
};
pub(crate) use parts::{blockers, decisions, failures, findings};
use read::first_text;
pub use subject::Subject;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub kind: DocumentKind,
    pub sender: Option<String>,
    /// The receiver that the sender names; in the metadata block it is only a suggestion.
    pub receiver: Option<String>,
    /// The sender's own id for the handoff.
    pub external_id: Option<String>,
    /// The story that the document is about.
    pub subject: Subject,
    pub claim: Option<OutcomeClaim>,
    /// The phase that the sender wants next, in the metadata block.
    pub next_phase: Option<String>,
    pub summary: Option<String>,
    /// Why this receiver, or why the work goes back.
    pub reason: Option<String>,
    /// Context for the next agent, in prose.
    pub context: Option<String>,
    pub decisions: Vec<ReportedDecision>,
    pub artifacts: Vec<Artifact>,
    /// Paths of the files that were changed.
    pub files: Vec<String>,
    pub open_questions: Vec<OpenQuestion>,
    pub expectations: Option<Expectations>,
    pub findings: BTreeSet<ReviewFinding>,
    /// An error that the sender reports.
    pub error: Option<ErrorReport>,
    /// What a person is asked to review.
    pub validation: Option<ValidationRequest>,
}

/// The sender's word for how its step ended, and Baton's reading of it.
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
    /// Not in any source document's vocabulary.
    Unknown,
}

/// How other systems name the two sides, in a document that is otherwise one of ours. Without them
/// it would be taken for the holder's own.
const OTHER_SENDERS: &[&str] = &["from_agent", "fromAgent", "source_agent", "sourceAgent"];
const OTHER_RECEIVERS: &[&str] = &["to_agent", "toAgent", "target_agent", "targetAgent"];

impl View {
    pub fn of(document: &Node) -> Self {
        let Shape { kind, body } = Shape::of(document);
        // Fields may also stand beside a root.
        let owned = |paths: &[&str]| {
            first_text(body, paths).or_else(|| beside_root(document, paths)).map(str::to_owned)
        };
        let (sender, receiver, summary) = match kind {
            DocumentKind::Other(it) => {
                let summary = it.summary(body).or_else(|| it.summary(document));
                (it.sender(body), it.receiver(body), summary)
            }
            DocumentKind::XmlHandoff
            | DocumentKind::WorkflowComplete
            | DocumentKind::MetadataBlock(_)
            | DocumentKind::YamlHandoff
            | DocumentKind::YamlGate
            | DocumentKind::Acknowledgement(_)
            | DocumentKind::Payload => (
                owned(&[&["from.agent", "from", "agent"], OTHER_SENDERS].concat()),
                owned(
                    &[&["to.agent", "to", "handoff.next_agent", "next_agent"], OTHER_RECEIVERS]
                        .concat(),
                ),
                owned(&["summary", "context.summary"]),
            ),
        };
        Self {
            kind,
            sender,
            receiver,
            external_id: owned(&["id", "handoff_id"]),
            subject: Subject::of(body),
            claim: OutcomeClaim::of(kind, body).or_else(|| OutcomeClaim::of(kind, document)),
            next_phase: next_phase(kind, body).map(str::to_owned),
            summary,
            reason: owned(&["to.reason", "reason", "feedback"]),
            context: owned(&["handoff.context", "context"]),
            decisions: first_list(parts::decisions(body), || parts::decisions(document)),
            artifacts: first_list(parts::artifacts(body), || parts::artifacts(document)),
            files: first_list(parts::files(body), || parts::files(document)),
            open_questions: first_list(parts::open_questions(body), || {
                parts::open_questions(document)
            }),
            expectations: parts::expectations(body).or_else(|| parts::expectations(document)),
            findings: match findings(body) {
                none if none.is_empty() => findings(document),
                some => some,
            },
            error: parts::error(body).or_else(|| parts::error(document)),
            validation: parts::validation(body).or_else(|| parts::validation(document)),
        }
    }

    /// Every path that the document lists as created or changed, artifacts first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let artifacts = self.artifacts.iter().filter_map(|it| it.path.as_deref());
        artifacts.chain(self.files.iter().map(String::as_str))
    }
}

/// The findings of a review, as the agent that gets the document has to answer them.
pub fn findings_to_answer(document: &Node) -> Vec<FindingToAnswer> {
    let body = Shape::of(document).body;
    first_list(parts::findings_to_answer(body), || parts::findings_to_answer(document))
}

/// A text at the top of the document. A name there is that of a field, not that of the root.
pub(crate) fn beside_root<'a>(document: &'a Node, paths: &[&str]) -> Option<&'a str> {
    paths.iter().filter(|it| !it.starts_with("handoff.")).find_map(|it| first_text(document, &[it]))
}

fn first_list<T>(list: Vec<T>, beside: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if list.is_empty() { beside() } else { list }
}

/// Only the metadata block has phases.
pub(crate) fn next_phase(kind: DocumentKind, body: &Node) -> Option<&str> {
    match kind {
        DocumentKind::MetadataBlock(_) => first_text(body, &["handoff.next_phase"]),
        DocumentKind::XmlHandoff
        | DocumentKind::WorkflowComplete
        | DocumentKind::YamlHandoff
        | DocumentKind::YamlGate
        | DocumentKind::Acknowledgement(_)
        | DocumentKind::Other(_)
        | DocumentKind::Payload => None,
    }
}

impl OutcomeClaim {
    /// The XML handoff has several names for it. In a pipeline API payload, `status` is just data.
    fn of(kind: DocumentKind, body: &Node) -> Option<Self> {
        let keys: &[&str] = match kind {
            DocumentKind::XmlHandoff | DocumentKind::WorkflowComplete => {
                &["status", "review_status", "validation_status", "merge_status"]
            }
            DocumentKind::MetadataBlock(_) | DocumentKind::YamlHandoff | DocumentKind::YamlGate => {
                &["status"]
            }
            DocumentKind::Other(system) => return system.claim(body),
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

#[cfg(test)]
mod tests;

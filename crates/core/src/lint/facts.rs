//! Facts from outside the document. Callers with access to the disk or the run collect them first.

use std::collections::BTreeMap;

use crate::outcome::Outcome;

/// All of it is optional: what is not known is not judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// By the path as the document writes it; see [`paths`](super::paths).
    pub files: BTreeMap<String, FileFact>,
    pub run: Option<RunFact>,
    pub parties: Parties,
    /// How the sender's step ended, where the command says it and not the document.
    pub outcome: Option<Outcome>,
}

/// Where the sender and the receiver of a document are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parties {
    /// In the document, or nowhere.
    #[default]
    InDocument,
    /// In the command that brought it: the document need not repeat them.
    Known,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFact {
    Missing,
    Folder,
    File { n_lines: Option<u64>, sha256: Option<String> },
}

/// The position of the document's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFact {
    pub workflow: String,
    /// Every step of the workflow.
    pub steps: Vec<String>,
    /// The steps that the run has visited.
    pub visited: Vec<String>,
    /// The step of the work that the document ends, where it is one.
    pub at: Option<StepFact>,
    /// Every phase of the workflow: of each step its name and its word for the work.
    pub phases: Vec<StepFact>,
}

/// A step, as a document may call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFact {
    pub id: String,
    pub phase: String,
}

impl StepFact {
    pub(crate) fn is_called(&self, word: &str) -> bool {
        self.id.eq_ignore_ascii_case(word) || self.phase.eq_ignore_ascii_case(word)
    }
}

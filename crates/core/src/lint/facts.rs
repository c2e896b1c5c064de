//! Facts from outside the document. Callers with access to the disk or the run collect them first.

use std::collections::BTreeMap;

/// All of it is optional: what is not known is not judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// By the path as the document writes it; see [`paths`](super::paths).
    pub files: BTreeMap<String, FileFact>,
    pub run: Option<RunFact>,
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
}

//! What is known besides the document. Whoever has a disk or a run looks first and says what it saw.

use std::collections::BTreeMap;

/// Nothing in here is needed: what is not known is not judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// By the path as the document has it; see [`paths`](super::paths).
    pub files: BTreeMap<String, FileFact>,
    pub run: Option<RunFact>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFact {
    Missing,
    Folder,
    File { n_lines: Option<u64>, sha256: Option<String> },
}

/// Where the run of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFact {
    pub workflow: String,
    /// Every step that the workflow has.
    pub steps: Vec<String>,
    /// Those that the run has been at.
    pub visited: Vec<String>,
}

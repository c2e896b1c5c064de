//! One thing that is wrong with a document or a file, with how to fix it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Location, as a dotted path from the top of the document: `context.artifacts[2].path`.
    pub path: String,
    /// The rule, as one stable word.
    pub rule: String,
    /// What is wrong and what to do, as a sentence fragment.
    pub message: String,
}

impl Problem {
    pub fn new(
        path: impl Into<String>,
        rule: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), rule: rule.into(), message: message.into() }
    }
}

impl Problem {
    /// Where and what, without the rule: for a line that ends with a code of its own.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.path, self.message)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} [{}]", self.path, self.message, self.rule)
    }
}

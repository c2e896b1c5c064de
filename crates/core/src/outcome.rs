//! How a step ended, in one word, independent of the sender's vocabulary.

use serde::{Deserialize, Serialize};

use crate::named::named;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        Success = "success",
        Failure = "failure",
        Blocked = "blocked",
        NeedsReview = "needs_review",
        NeedsClarification = "needs_clarification",
        Skipped = "skipped",
        /// Set only by Baton: the attempt was lost, so its outcome is not known.
        Unknown = "unknown",
    }
}

impl Outcome {
    /// The outcomes an agent may claim. [`Outcome::Unknown`] is not among them.
    pub const CLAIMABLE: [Self; 6] = [
        Self::Success,
        Self::Failure,
        Self::Blocked,
        Self::NeedsReview,
        Self::NeedsClarification,
        Self::Skipped,
    ];

    /// Parses any source document's word; hyphen and underscore are equivalent.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase().replace('-', "_");
        Some(match word.as_str() {
            "success"
            | "complete"
            | "completed"
            | "passed"
            | "ready"
            | "ready_for_re_review"
            | "approved"
            | "merged" => Self::Success,
            "failure" | "failed" | "changes_requested" => Self::Failure,
            "blocked" => Self::Blocked,
            "needs_review" => Self::NeedsReview,
            "needs_clarification" => Self::NeedsClarification,
            "skipped" => Self::Skipped,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claimable_outcome_reads_its_own_name() {
        for outcome in Outcome::CLAIMABLE {
            assert_eq!(Outcome::parse(outcome.name()), Some(outcome));
        }
        assert_eq!(Outcome::parse("unknown"), None);
    }

    #[test]
    fn the_words_of_all_source_documents_are_normalised() {
        for (word, outcome) in [
            ("needs-review", Outcome::NeedsReview),
            ("passed", Outcome::Success),
            ("ready-for-re-review", Outcome::Success),
            ("changes_requested", Outcome::Failure),
        ] {
            assert_eq!(Outcome::parse(word), Some(outcome));
        }
        assert_eq!(Outcome::parse("in-progress"), None);
    }
}

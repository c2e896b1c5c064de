//! What the linter wants of a field, by its path: for the marks of a skeleton.

use super::{artifacts, counts, measure, persons, points, ranges, structure, summary};

/// The kinds of fields that a rule looks at in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldNature {
    Summary,
    /// What the next agent has to know, in prose.
    Context,
    /// A list of criteria or constraints, or one of them.
    Measured,
    /// A list of artifacts, each with its path.
    Artifacts,
    /// A list of paths.
    Files,
    Questions,
    Decisions,
    /// A list of line ranges.
    Ranges,
    Reason,
    /// When the document was written.
    Time,
    Plain,
}

/// The nature of the field at a path, counted from the fields of a document.
pub(crate) fn nature(path: &str) -> FieldNature {
    let last = path.rsplit('.').next().unwrap_or(path);
    if summary::SUMMARIES.contains(&path) {
        FieldNature::Summary
    } else if path == summary::CONTEXT {
        FieldNature::Context
    } else if measure::CRITERIA.contains(&path) || measure::CONSTRAINTS.contains(&path) {
        FieldNature::Measured
    } else if artifacts::LISTS.contains(&path) {
        if last == "artifacts" { FieldNature::Artifacts } else { FieldNature::Files }
    } else if points::QUESTIONS.contains(&path) {
        FieldNature::Questions
    } else if points::DECISIONS.contains(&path) {
        FieldNature::Decisions
    } else if path == ranges::FIELD {
        FieldNature::Ranges
    } else if path == structure::TIMESTAMP {
        FieldNature::Time
    } else if persons::REASONS.contains(&last) {
        FieldNature::Reason
    } else {
        FieldNature::Plain
    }
}

/// The lists that the number at a path counts, and the severity of the counted items.
pub(crate) fn counted_lists(path: &str) -> Vec<(&'static str, Option<&'static str>)> {
    let of_number = counts::COUNTS.iter().filter(|(count, ..)| *count == path);
    of_number
        .flat_map(|(_, lists, severity)| lists.iter().map(move |list| (*list, *severity)))
        .collect()
}

pub(crate) use super::failed_checks::failed_results;
pub(crate) use super::numbers::{bounds, number_in_address};
pub(crate) use super::state::meant_phase;
pub(crate) use super::structure::usual_statuses;
pub(crate) use super::vocabulary::{needs_of_items, words_of_field, words_of_member};

/// The words for how urgent a question is.
pub(crate) const PRIORITIES: &[&str] = points::PRIORITIES;

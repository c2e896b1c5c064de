//! Why work was sent back: the reasons of the newest rejects, equal ones together.

use std::collections::HashMap;

use baton_core::names::WorkflowName;
use baton_core::run::{Ended, HandoffState};
use baton_engine::{DAMAGED_TEXT, EngineError, LOST_TEXT, Text};
use baton_store::{HandoffFact, HandoffRef, HandoffRow};
use jiff::Timestamp;

use super::gate_rejects::GateRejects;
use super::{InsightEdge, place_name};
use crate::Views;

/// How many rejects are looked at: each is a row and a text of its own.
const MOST_REJECTS: usize = 200;
/// How many reasons are listed.
const MOST_REASONS: usize = 20;
/// How many characters of the first line of a reason are compared and shown.
const LONGEST_REASON: usize = 200;

/// One reason for which work was sent back along one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectReason {
    pub edge: InsightEdge,
    /// The first line of what was written, at most 200 characters of it.
    pub text: String,
    /// The text has more than that.
    pub is_cut: bool,
    pub n_times: u64,
    /// The number of the newest handoff that was rejected for it.
    pub last_number: u64,
    pub last_at: Timestamp,
}

/// One reject, as it was written.
pub(super) struct WrittenReject {
    pub(super) edge: InsightEdge,
    pub(super) text: String,
    /// Of the handoff, or of the gate.
    pub(super) number: u64,
    pub(super) at: Timestamp,
}

impl Views<'_> {
    /// The most frequent reasons first, equally frequent ones by the newest. `facts` are in the
    /// order of `handoff_facts`, newest first.
    pub(super) async fn reject_reasons(
        &self,
        facts: &[HandoffFact],
        at_gates: &GateRejects,
    ) -> Result<Vec<RejectReason>, EngineError> {
        let is_rejected = |it: &&HandoffFact| {
            it.state == HandoffState::Ended(Ended::Rejected) || at_gates.contains_key(&it.number)
        };
        let mut rows: Vec<(HandoffRow, WorkflowName)> = Vec::new();
        for fact in facts.iter().filter(is_rejected).take(MOST_REJECTS) {
            if let Some(row) = self.find_handoff(&HandoffRef::Number(fact.number)).await? {
                rows.push((row, fact.workflow.clone()));
            }
        }
        let only_rows: Vec<HandoffRow> = rows.iter().map(|(row, _)| row.clone()).collect();
        let texts = self.words_of(&only_rows).await?;
        let written = rows.into_iter().map(|(row, workflow)| {
            if let Some(reject) = at_gates.get(&row.number) {
                return reject.written(row.number);
            }
            let text = row.ended_reason.map(|id| shown(texts.get(id))).unwrap_or_default();
            let (from, to) = (place_name(&row.from.place), place_name(&row.to.place));
            let (number, at) = (row.number, row.ended_at.unwrap_or(row.created_at));
            WrittenReject { edge: InsightEdge { workflow, from, to }, text, number, at }
        });
        Ok(most_frequent(written))
    }
}

/// A text, or what is shown in its place.
pub(super) fn shown(text: Text<'_>) -> String {
    match text {
        Text::Whole(text) => text.to_owned(),
        Text::Gone => LOST_TEXT.to_owned(),
        Text::Damaged => DAMAGED_TEXT.to_owned(),
    }
}

fn most_frequent(rejects: impl Iterator<Item = WrittenReject>) -> Vec<RejectReason> {
    let mut found: Vec<RejectReason> = Vec::new();
    let mut index: HashMap<(InsightEdge, String), usize> = HashMap::new();
    for WrittenReject { edge, text, number, at } in rejects {
        let (text, is_cut) = first_line(&text);
        let key = (edge.clone(), text.clone());
        if let Some(known) = index.get(&key).and_then(|it| found.get_mut(*it)) {
            known.n_times += 1;
            continue;
        }
        index.insert(key, found.len());
        let (last_number, last_at) = (number, at);
        found.push(RejectReason { edge, text, is_cut, n_times: 1, last_number, last_at });
    }
    // Stable: equally frequent ones stay newest first.
    found.sort_by_key(|it| std::cmp::Reverse(it.n_times));
    found.truncate(MOST_REASONS);
    found
}

/// The first line that says something, cut to [`LONGEST_REASON`] characters; whether there is more.
fn first_line(written: &str) -> (String, bool) {
    let written = written.trim();
    let line = written.lines().next().unwrap_or_default().trim_end();
    let text: String = line.chars().take(LONGEST_REASON).collect();
    let is_cut = text.len() < written.len();
    (text, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_first_line(written: &str, text: &str, is_cut: bool) {
        assert_eq!(first_line(written), (text.to_owned(), is_cut), "{written:?}");
    }

    #[test]
    fn a_reason_is_known_by_its_first_line() {
        check_first_line("", "", false);
        check_first_line("  tests fail \n", "tests fail", false);
        check_first_line("\ntests fail\n\n- one\n- two", "tests fail", true);
        check_first_line(&"ä".repeat(200), &"ä".repeat(200), false);
        check_first_line(&"ä".repeat(201), &"ä".repeat(200), true);
    }
}

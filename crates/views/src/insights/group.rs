//! The figures of one group of handoffs.

use baton_core::budget::Usage;
use baton_core::run::{Ended, HandoffState, Kind};
use baton_core::workflow::Place;
use baton_store::HandoffFact;
use jiff::Timestamp;

/// All spans are in milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InsightGroup {
    pub n_handoffs: u64,
    pub n_open: u64,
    pub n_completed: u64,
    /// Sent back: each is a round of rework.
    pub n_rejected: u64,
    pub n_timed_out: u64,
    /// From the offer to the acceptance.
    pub to_accept: Percentiles,
    /// From the acceptance to the completion.
    pub to_complete: Percentiles,
    /// How many first handoffs of a run along an edge have ended as completed or rejected, and how
    /// many of these were completed.
    pub n_first: u64,
    pub n_first_passed: u64,
    pub rejected: RejectCounts,
    /// Handoffs to a person: gates and escalations, of the agent whose work stops at them.
    pub n_escalations: u64,
    /// How long people were waited for, an open wait up to now.
    pub waited_for_people_ms: u64,
    /// Handoffs that were taken with warnings of the linter or the contract.
    pub n_with_warnings: u64,
    /// Packages whose completeness was scored when they were sent, and the sum of their scores.
    pub n_scored: u64,
    pub sum_of_scores: u64,
    /// Handoffs whose agents said what they used.
    pub n_measured: u64,
    /// Where a program does not say what it cost, its price is not in it.
    pub used: Usage,
    spans_to_accept: Vec<u64>,
    spans_to_complete: Vec<u64>,
}

/// Of the spans that have ended; `None` without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Percentiles {
    pub p50_ms: Option<u64>,
    pub p95_ms: Option<u64>,
}

/// Who sent work back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RejectCounts {
    pub by_agent: u64,
    /// Its checks have failed.
    pub by_checks: u64,
    pub by_person: u64,
}

impl InsightGroup {
    /// The share of first handoffs that were not sent back, of those that have ended.
    pub fn first_pass_yield(&self) -> Option<f64> {
        (self.n_first > 0).then(|| self.n_first_passed as f64 / self.n_first as f64)
    }

    /// The mean completeness of the packages that were scored, from 0 to 100.
    pub fn mean_score(&self) -> Option<f64> {
        (self.n_scored > 0).then(|| self.sum_of_scores as f64 / self.n_scored as f64)
    }

    /// Adds what was used for a handoff.
    pub(super) fn spend(&mut self, used: Option<&Usage>) {
        if let Some(used) = used {
            self.n_measured += 1;
            self.used = self.used.plus(*used);
        }
    }

    /// Counts a handoff for its receiver.
    pub(super) fn receive(&mut self, fact: &HandoffFact) {
        self.n_handoffs += 1;
        match fact.state {
            HandoffState::Open(_) => self.n_open += 1,
            HandoffState::Ended(Ended::Completed) => self.n_completed += 1,
            HandoffState::Ended(Ended::TimedOut) => self.n_timed_out += 1,
            HandoffState::Ended(Ended::Rejected | Ended::Cancelled | Ended::Superseded) => {}
        }
        // Baton takes work back by itself, in no time: that says nothing of anybody.
        let is_own = fact.to.place == Place::Orchestrator && fact.ended_at == fact.accepted_at;
        if let Some(accepted_at) = fact.accepted_at.filter(|_| !is_own) {
            self.spans_to_accept.push(span(fact.created_at, accepted_at));
            if fact.state == HandoffState::Ended(Ended::Completed) {
                let ended_at = fact.ended_at.unwrap_or(accepted_at);
                self.spans_to_complete.push(span(accepted_at, ended_at));
            }
        }
    }

    /// Counts a handoff for its sender, who is also the one that waits for people.
    pub(super) fn send(&mut self, fact: &HandoffFact, is_first: bool, now: Timestamp) {
        if fact.kind == Kind::Escalation || fact.to.place == Place::Human {
            self.n_escalations += 1;
            self.waited_for_people_ms += span(fact.created_at, fact.ended_at.unwrap_or(now));
        }
        self.n_with_warnings += u64::from(fact.n_warnings > 0);
        self.n_scored += u64::from(fact.score.is_some());
        self.sum_of_scores += u64::from(fact.score.unwrap_or(0));
        let is_rejected = fact.state == HandoffState::Ended(Ended::Rejected);
        let is_completed = fact.state == HandoffState::Ended(Ended::Completed);
        if is_first && (is_rejected || is_completed) {
            self.n_first += 1;
            self.n_first_passed += u64::from(is_completed);
        }
        if is_rejected {
            self.n_rejected += 1;
            match fact.to.place {
                Place::Orchestrator => self.rejected.by_checks += 1,
                Place::Human => self.rejected.by_person += 1,
                Place::Step(_) | Place::Delegate(_) => self.rejected.by_agent += 1,
            }
        }
    }

    /// Counts work that a person sent back at a gate, for its sender.
    pub(super) fn reject_by_person(&mut self, is_first: bool) {
        self.n_first += u64::from(is_first);
        self.n_rejected += 1;
        self.rejected.by_person += 1;
    }

    pub(super) fn finished(mut self) -> Self {
        self.to_accept = Percentiles::of(std::mem::take(&mut self.spans_to_accept));
        self.to_complete = Percentiles::of(std::mem::take(&mut self.spans_to_complete));
        self
    }
}

impl Percentiles {
    /// By the nearest rank: a span that was measured, never one in between.
    fn of(mut spans: Vec<u64>) -> Self {
        spans.sort_unstable();
        let rank = |percent: usize| spans.get((spans.len() * percent).div_ceil(100).max(1) - 1);
        Self { p50_ms: rank(50).copied(), p95_ms: rank(95).copied() }
    }
}

/// Not negative, even where a clock was set back.
fn span(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_spans_that_were_measured() {
        let of = |spans: &[u64]| {
            let it = Percentiles::of(spans.to_vec());
            (it.p50_ms, it.p95_ms)
        };
        assert_eq!(of(&[]), (None, None));
        assert_eq!(of(&[7]), (Some(7), Some(7)));
        assert_eq!(of(&[4, 1, 3, 2]), (Some(2), Some(4)));
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(of(&hundred), (Some(50), Some(95)));
    }
}

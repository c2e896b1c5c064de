//! Behind a gate: which gates the work has passed. Found by walking the table, without any of the
//! graph's own ideas: a place is behind a gate if it cannot be reached with that gate shut.

use super::{Forward, Gate, Run, Said};
use crate::flows::{EdgeGate, Flow, ORCHESTRATOR};

/// The end, which the tables write as the orchestrator.
const END: &str = ORCHESTRATOR;

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    Rounds,
    SameFindings,
    Entries,
    Delegations,
    Failure,
    Blocked,
    NeedsClarification,
    NeedsReview,
    Declared,
    Checks,
    Escalation,
    Questions,
    LostLease,
    Releases,
    Expired,
}

impl Run {
    /// Work may be at a step only if it has passed what the step is behind.
    pub(super) fn check_gates(&self, place: &'static str) -> Said {
        if self.is_let_in(place) { Ok(()) } else { Err("behind_gate") }
    }

    pub(super) fn is_let_in(&self, place: &'static str) -> bool {
        self.flow.step(place).is_none() || self.missing(place).is_empty()
    }

    /// The gates on the way there count as passed.
    pub(super) fn waive(&mut self, place: &'static str) {
        if self.flow.step(place).is_some() {
            self.passed.extend(self.missing(place));
        }
    }

    /// As [`Self::waive`], for the end of the run.
    pub(super) fn waive_end(&mut self) {
        self.passed.extend(self.missing(END));
    }

    /// The work is at a place from which it can come to a gate again: that gate is lost.
    pub(super) fn is_back_at(&mut self, place: &'static str) {
        let flow = self.flow;
        let is_lost = |gate: &Forward| {
            flow.step(place).is_some()
                && !is_behind(flow, place, *gate)
                && flow.reaches(place, gate.0, None)
        };
        self.passed.retain(|it| !is_lost(it));
    }

    pub(super) fn shuts(&mut self, gate: &Gate) {
        if is_declared(gate) {
            self.passed.retain(|it| *it != gate.edge);
        }
    }

    pub(super) fn opens(&mut self, gate: &Gate) {
        if is_declared(gate) {
            self.passes(gate.edge);
        }
    }

    pub(super) fn passes(&mut self, edge: Forward) {
        if gates_of(self.flow).contains(&edge) && !self.passed.contains(&edge) {
            self.passed.push(edge);
        }
    }

    /// Whether every way to `step` comes by `earlier`.
    pub(super) fn is_always_before(&self, earlier: &'static str, step: &'static str) -> bool {
        let flow = self.flow;
        let are_steps = flow.step(earlier).is_some() && flow.step(step).is_some();
        are_steps && earlier != step && !flow.reaches_around(step, earlier)
    }

    fn missing(&self, place: &'static str) -> Vec<Forward> {
        let gates = gates_of(self.flow).into_iter().filter(|it| is_behind(self.flow, place, *it));
        gates.filter(|it| !self.passed.contains(it)).collect()
    }
}

fn is_declared(gate: &Gate) -> bool {
    matches!(gate.cause, Cause::Declared | Cause::Checks) && gate.beside.is_none()
}

fn gates_of(flow: &Flow) -> Vec<Forward> {
    let holds = |it: &Option<EdgeGate>| {
        use EdgeGate::{Approved, Automatic, Blocking};
        matches!(it, Some(Blocking | Approved(_) | Automatic(_)))
    };
    let of_step = |step: &'static crate::flows::Step| {
        step.edges.iter().filter(move |it| holds(&it.gate)).map(|it| (step.id, it.to))
    };
    flow.steps.iter().flat_map(of_step).collect()
}

fn is_behind(flow: &Flow, place: &'static str, gate: Forward) -> bool {
    place != flow.start.to && !flow.reaches(flow.start.to, place, Some(gate))
}

impl Flow {
    /// Whether work can come from one step to a place, with one edge shut.
    fn reaches(&self, from: &'static str, to: &'static str, shut: Option<Forward>) -> bool {
        self.walks(from, to, |edge| Some(edge) != shut)
    }

    pub(super) fn comes_to(&self, from: &'static str, to: &'static str) -> bool {
        self.reaches(from, to, None)
    }

    /// Whether work can come from the start to a step without ever being at another.
    fn reaches_around(&self, to: &'static str, around: &'static str) -> bool {
        let start = self.start.to;
        start != around && self.walks(start, to, |(_, next)| next != around)
    }

    fn walks(
        &self,
        from: &'static str,
        to: &'static str,
        is_open: impl Fn(Forward) -> bool,
    ) -> bool {
        let mut seen = vec![from];
        let mut n_done = 0;
        while let Some(at) = seen.get(n_done).copied() {
            if at == to {
                return true;
            }
            n_done += 1;
            // From the end nothing goes on.
            let edges = if at == END { &[] } else { self.edges_from(at) };
            for edge in edges.iter().filter(|it| is_open((at, it.to))) {
                if !seen.contains(&edge.to) {
                    seen.push(edge.to);
                }
            }
        }
        false
    }
}

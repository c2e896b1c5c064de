//! What a run waits for: gates, questions, checks, blockers.

use super::{Handoff, Kind, Run};
use crate::checked_work::CheckedWork;
use crate::gate::{Gate, GateKind};

impl Run {
    /// The open gate that blocks the run, if there is one.
    pub fn gate(&self) -> Option<(&Handoff, &Gate)> {
        self.gates().find(|(_, gate)| gate.kind != GateKind::Advisory)
    }

    /// Every open gate, including advisory ones.
    pub fn gates(&self) -> impl Iterator<Item = (&Handoff, &Gate)> {
        self.handoffs.iter().filter_map(|it| Some((it, it.gate.as_ref()?)))
    }

    pub fn questions(&self) -> impl Iterator<Item = &Handoff> {
        self.handoffs.iter().filter(|it| it.kind == Kind::Question)
    }

    /// Whether it waits for an answer or an action: on a gate, a question, a blocker or a loose
    /// baton.
    pub fn is_waiting(&self) -> bool {
        let is_loose = self.loose_branch().is_some();
        let is_asked = self.gates().next().is_some() || self.questions().next().is_some();
        !self.is_finished() && (is_asked || is_loose || !self.blockers.is_empty())
    }

    /// The work that is parked on its checks, with its handoff.
    pub fn checked_work(&self) -> Option<(&Handoff, &CheckedWork)> {
        self.handoffs.iter().find_map(|it| Some((it, it.checks.as_deref()?)))
    }

    /// Whether an open blocker waits for a person.
    pub fn is_blocked(&self) -> bool {
        !self.is_finished() && !self.blockers.is_empty()
    }

    pub fn is_finished(&self) -> bool {
        !self.status.is_open()
    }
}

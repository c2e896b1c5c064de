//! What each event does to the record of the gates that a run's work has passed.

use crate::gate::{Answer, GateCause, GateEdge, GateKind};
use crate::run::{HandoffNo, Run};

impl Run {
    /// A person lets the work pass a gate that the workflow declares.
    pub(super) fn open_declared(&mut self, no: HandoffNo, answer: &Answer) {
        let opens = match answer {
            Answer::Approve | Answer::Modify => true,
            Answer::Continue
            | Answer::Accept
            | Answer::HandTo(_)
            | Answer::Abort
            | Answer::Reject
            | Answer::Reply
            | Answer::Question => false,
        };
        let Some(gate) = self.handoff(no).and_then(|it| it.gate.as_ref()).filter(|_| opens) else {
            return;
        };
        let is_declared = matches!(gate.cause, GateCause::Declared | GateCause::Checks);
        if is_declared
            && gate.kind != GateKind::Advisory
            && let Some(edge) = gate.edge.clone()
        {
            self.pass_gate(self.branch_of(no), &edge);
        }
    }

    pub(super) fn record_gates(&mut self, has_gates: bool, has_checks: bool) {
        self.has_checks = has_checks;
        if let Some(branch) = self.branch_mut(0) {
            branch.passed = has_gates.then(Vec::new);
        }
    }

    pub(super) fn pass_gate(&mut self, branch: u16, edge: &GateEdge) {
        if let Some(passed) = self.branch_mut(branch).and_then(|it| it.passed.as_mut())
            && !passed.contains(edge)
        {
            passed.push(edge.clone());
        }
    }

    pub(super) fn lose_gate(&mut self, branch: u16, edge: &GateEdge) {
        if let Some(passed) = self.branch_mut(branch).and_then(|it| it.passed.as_mut()) {
            passed.retain(|it| it != edge);
        }
    }

    pub(super) fn carry_gates(&mut self, branch: u16, gates: &[GateEdge]) {
        if let Some(branch) = self.branch_mut(branch) {
            branch.passed = Some(gates.to_vec());
        }
    }
}

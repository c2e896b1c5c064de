//! What each event does to what a run counts. Nothing is counted for an event of an older Baton but
//! what that Baton counted: it lacks the fields.

use super::{Created, StepEntry};
use crate::gate::{GateCause, GateEdge};
use crate::hash::Hash;
use crate::names::{CommitId, StepId};
use crate::run::{CounterScope, EdgeKey, HandoffNo, Run, RunCounter};
use crate::workflow::Place;

impl Run {
    pub(super) fn count_round(&mut self, branch: u16, forward: &EdgeKey, findings: Option<Hash>) {
        let rounds = self.counter_mut(branch, CounterScope::Rounds(forward.clone()));
        rounds.n += 1;
        rounds.findings = findings;
    }

    /// The tree of work that was checked before it was rejected.
    pub(super) fn note_tree(&mut self, branch: u16, forward: &EdgeKey, tree: Option<CommitId>) {
        if tree.is_some() {
            self.counter_mut(branch, CounterScope::Rounds(forward.clone())).tree = tree;
        }
    }

    /// Counts an entry of the receiver's step, and what the sender's step wanted by it.
    pub(super) fn enter(&mut self, created: &Created) {
        let Some(entry) = created.entry else { return };
        if let Place::Step(step) = &created.to.place {
            self.counter_mut(created.branch, CounterScope::Entries(step.clone())).n += 1;
        }
        self.leave(created.branch, &created.from.place, entry);
    }

    /// What a step wanted by sending the work on.
    pub(super) fn leave(&mut self, branch: u16, from: &Place, entry: StepEntry) {
        let Place::Step(sender) = from else { return };
        let blocks = CounterScope::Blocks(sender.clone());
        match entry {
            StepEntry::Onward => {
                self.find_anew(branch, sender, None);
                self.forget_counter(branch, &blocks);
            }
            StepEntry::Rework { findings } => {
                self.find_anew(branch, sender, findings);
                self.forget_counter(branch, &blocks);
            }
            StepEntry::Blocked => self.counter_mut(branch, blocks).n += 1,
        }
    }

    fn find_anew(&mut self, branch: u16, step: &StepId, findings: Option<Hash>) {
        let scope = CounterScope::Entries(step.clone());
        if findings.is_some() || self.counter(branch, &scope).is_some() {
            self.counter_mut(branch, scope).findings = findings;
        }
    }

    /// All parts that are delegated inside one holding of a step count there, however deep.
    pub(super) fn count_delegation(&mut self, caller: HandoffNo) {
        let branch = self.branch_of(caller);
        let holding = self.outermost(branch, caller);
        self.counter_mut(branch, CounterScope::Delegations(holding)).n += 1;
    }

    pub(super) fn count_releases(&mut self, handoff: HandoffNo, n: u32) {
        if n > 0 {
            let branch = self.branch_of(handoff);
            self.counter_mut(branch, CounterScope::Releases(handoff)).n += n;
        }
    }

    /// What is counted for an open handoff is over when the handoff is.
    pub(super) fn forget_handoff(&mut self, handoff: HandoffNo) {
        self.counters.retain(|it| match &it.scope {
            CounterScope::Delegations(no) | CounterScope::Releases(no) => *no != handoff,
            CounterScope::Rounds(_)
            | CounterScope::Entries(_)
            | CounterScope::Blocks(_)
            | CounterScope::WholeRun
            | CounterScope::Budget(_) => true,
        });
    }

    pub(super) fn forget_handoffs(&mut self) {
        self.counters.retain(|it| {
            !matches!(it.scope, CounterScope::Releases(_) | CounterScope::Delegations(_))
        });
    }

    pub(super) fn forget_delegations(&mut self, branch: u16) {
        self.counters
            .retain(|it| it.branch != branch || !matches!(it.scope, CounterScope::Delegations(_)));
    }

    /// A person has decided about these steps: in their branch, or in the trunk for all branches.
    pub(super) fn count_anew(&mut self, branch: u16, steps: &[StepId]) {
        let is_decided = |it: &RunCounter| branch == 0 || it.branch == branch;
        self.counters.retain(|it| match &it.scope {
            CounterScope::Entries(step) | CounterScope::Blocks(step) => {
                !steps.contains(step) || !is_decided(it)
            }
            CounterScope::Rounds(_)
            | CounterScope::Delegations(_)
            | CounterScope::Releases(_)
            | CounterScope::WholeRun
            | CounterScope::Budget(_) => true,
        });
    }

    /// A person's answer grants more rounds and resets the findings.
    pub(super) fn grant(&mut self, no: HandoffNo, n_extra: u32) {
        let Some(gate) = self.handoff(no).and_then(|it| it.gate.clone()) else { return };
        if let Some(handoff) = gate.about.and_then(|it| self.handoff_mut(it)) {
            handoff.n_questions = 0;
        }
        match gate.cause {
            GateCause::Rounds | GateCause::SameFindings => {
                let branch = self.branch_of(no);
                let rounds = self.counter_mut(branch, CounterScope::Rounds(gate.forward));
                rounds.n_extra += n_extra;
                rounds.findings = None;
            }
            // Where checks failed too often, or found nothing new, on the edge itself.
            GateCause::Checks | GateCause::NoProgress => {
                let is_limit = gate.limit.is_some() || gate.cause == GateCause::NoProgress;
                let edge = gate.edge.map(|GateEdge { from, to, .. }| EdgeKey { from, to });
                let edge = edge.or((n_extra > 0).then_some(gate.forward));
                if let Some(edge) = edge.filter(|_| is_limit) {
                    let branch = self.branch_of(no);
                    let rounds = self.counter_mut(branch, CounterScope::Rounds(edge));
                    rounds.tree = None;
                    rounds.n_extra += n_extra;
                    rounds.findings = None;
                }
            }
            GateCause::RunLimit => self.counter_mut(0, CounterScope::WholeRun).n_extra += n_extra,
            GateCause::Budget => {
                if let Some(reached) = gate.budget {
                    let granted = self.counter_mut(0, CounterScope::Budget(reached.of));
                    granted.n_extra = granted.n_extra.saturating_add(n_extra);
                }
            }
            GateCause::Delegations => self.forget_delegations(self.branch_of(no)),
            GateCause::Entries
            | GateCause::Failure
            | GateCause::Unrecoverable
            | GateCause::Blocked
            | GateCause::NeedsClarification
            | GateCause::NeedsReview
            | GateCause::Declared
            | GateCause::Confidence
            | GateCause::Raised
            | GateCause::Escalation
            | GateCause::Questions
            | GateCause::LostLease
            | GateCause::Releases
            | GateCause::Stalled
            | GateCause::Expired
            | GateCause::Permission => {}
        }
    }
}

//! What each event does to what a run counts. Nothing is counted for an event of an older Baton but
//! what that Baton counted: it lacks the fields.

use super::{Created, StepEntry};
use crate::hash::Hash;
use crate::names::{CommitId, StepId};
use crate::run::{CounterScope, EdgeKey, HandoffNo, Run};
use crate::workflow::Place;

impl Run {
    pub(super) fn count_round(&mut self, forward: &EdgeKey, findings: Option<Hash>) {
        let rounds = self.counter_mut(CounterScope::Rounds(forward.clone()));
        rounds.n += 1;
        rounds.findings = findings;
    }

    /// The tree of work that was checked before it was rejected.
    pub(super) fn note_tree(&mut self, forward: &EdgeKey, tree: Option<CommitId>) {
        if tree.is_some() {
            self.counter_mut(CounterScope::Rounds(forward.clone())).tree = tree;
        }
    }

    /// Counts an entry of the receiver's step, and what the sender's step wanted by it.
    pub(super) fn enter(&mut self, created: &Created) {
        let Some(entry) = created.entry else { return };
        if let Place::Step(step) = &created.to.place {
            self.counter_mut(CounterScope::Entries(step.clone())).n += 1;
        }
        let Place::Step(sender) = &created.from.place else { return };
        match entry {
            StepEntry::Onward => {
                self.find_anew(sender, None);
                self.forget_counter(&CounterScope::Blocks(sender.clone()));
            }
            StepEntry::Rework { findings } => {
                self.find_anew(sender, findings);
                self.forget_counter(&CounterScope::Blocks(sender.clone()));
            }
            StepEntry::Blocked => self.counter_mut(CounterScope::Blocks(sender.clone())).n += 1,
        }
    }

    fn find_anew(&mut self, step: &StepId, findings: Option<Hash>) {
        let scope = CounterScope::Entries(step.clone());
        if findings.is_some() || self.counter(&scope).is_some() {
            self.counter_mut(scope).findings = findings;
        }
    }

    /// All parts that are delegated inside one holding of a step count there, however deep.
    pub(super) fn count_delegation(&mut self, caller: HandoffNo) {
        let holding = self.outermost(caller);
        self.counter_mut(CounterScope::Delegations(holding)).n += 1;
    }

    pub(super) fn count_releases(&mut self, handoff: HandoffNo, n: u32) {
        if n > 0 {
            self.counter_mut(CounterScope::Releases(handoff)).n += n;
        }
    }

    /// What is counted for an open handoff is over when the handoff is.
    pub(super) fn forget_handoff(&mut self, handoff: HandoffNo) {
        self.forget_counter(&CounterScope::Delegations(handoff));
        self.forget_counter(&CounterScope::Releases(handoff));
    }

    pub(super) fn forget_handoffs(&mut self) {
        self.forget_delegations();
        self.counters.retain(|it| !matches!(it.scope, CounterScope::Releases(_)));
    }

    pub(super) fn forget_delegations(&mut self) {
        self.counters.retain(|it| !matches!(it.scope, CounterScope::Delegations(_)));
    }

    /// A person has decided about these steps.
    pub(super) fn count_anew(&mut self, steps: &[StepId]) {
        for step in steps {
            self.forget_counter(&CounterScope::Entries(step.clone()));
            self.forget_counter(&CounterScope::Blocks(step.clone()));
        }
    }
}

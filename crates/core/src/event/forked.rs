//! What each event of a branch does to a run.

use super::BranchEvent;
use crate::names::StepId;
use crate::run::{Arrival, Baton, Branch, Fork, HandoffNo, Run};
use crate::workflow::Place;

impl Run {
    pub(super) fn set_baton(&mut self, branch: u16, baton: Baton) {
        if let Some(branch) = self.branch_mut(branch) {
            branch.baton = baton;
        }
    }

    pub(super) fn branch_mut(&mut self, no: u16) -> Option<&mut Branch> {
        self.branches.iter_mut().find(|it| it.no == no)
    }

    /// The branch of an open handoff.
    pub(super) fn branch_of(&self, no: HandoffNo) -> u16 {
        self.handoff(no).map_or(0, |it| it.branch)
    }

    pub(super) fn on_branch(&mut self, event: &BranchEvent) {
        match event {
            BranchEvent::Forked { from, firsts, join, need, package, entry } => {
                let passed = self.branch_mut(0).and_then(|it| it.passed.take());
                let branch = |(no, first): (u16, &StepId)| Branch {
                    no,
                    // Until its first handoff is made, which comes next.
                    baton: Baton::Loose {
                        at: from.place.clone(),
                        other: Place::Step(first.clone()),
                        meant_for: None,
                    },
                    passed: passed.clone(),
                    package: None,
                };
                self.branches = (1..).zip(firsts).map(branch).collect();
                self.fork = Some(Box::new(Fork {
                    from: from.clone(),
                    firsts: firsts.clone(),
                    join: join.clone(),
                    need: *need,
                    package: *package,
                    passed,
                    arrived: Vec::new(),
                }));
                if let Some(entry) = entry {
                    self.leave(0, &from.place, *entry);
                }
            }
            BranchEvent::Arrived { branch, handoff, from, outcome, package } => {
                let passed = self.branch_mut(*branch).and_then(|it| it.passed.take());
                self.branches.retain(|it| it.no != *branch);
                self.blockers.retain(|it| it.branch != *branch);
                let arrival = Arrival {
                    branch: *branch,
                    handoff: *handoff,
                    from: from.clone(),
                    outcome: *outcome,
                    package: *package,
                    passed: passed.unwrap_or_default(),
                };
                if let Some(fork) = &mut self.fork {
                    fork.arrived.push(arrival);
                }
            }
            BranchEvent::Cancelled { branch, .. } => {
                self.branches.retain(|it| it.no != *branch);
                self.blockers.retain(|it| it.branch != *branch);
            }
            BranchEvent::Joined { at, .. } => {
                let Some(fork) = self.leave_fork() else { return };
                let baton = Baton::Loose {
                    at: fork.from.place.clone(),
                    other: Place::Step(at.clone()),
                    meant_for: None,
                };
                self.branches = vec![Branch::trunk(baton, fork.passed_at_join())];
            }
        }
    }

    /// What is known of single branches is over with the fork; what was counted in them stays.
    pub(super) fn leave_fork(&mut self) -> Option<Box<Fork>> {
        self.given.retain(|it| it.branch == 0);
        self.fork.take()
    }
}

//! What approvals, delegated votes and reminders do to an open gate, and who made which package.

use jiff::Timestamp;

use super::{Created, GateEvent};
use crate::approval::{Approval, PackageAuthor, Vote};
use crate::run::Run;

impl Run {
    pub(super) fn on_approval(&mut self, event: &GateEvent, at: Timestamp) {
        let gate = event.about().and_then(|it| self.handoff_mut(it)?.gate.as_mut());
        let Some(gate) = gate else { return };
        match event {
            GateEvent::Approved { by, package, comment, identity, decisions, .. } => {
                let Some(given) = gate.approval.as_mut() else { return };
                if given.is_for_all && given.vote_of(by).is_none() {
                    given.votes.push(Vote::of(by.clone()));
                }
                if let Some(vote) = given.vote_mut(by) {
                    let (package, comment, identity) = (*package, *comment, *identity);
                    let decisions = decisions.clone();
                    vote.approval = Some(Approval { at, package, comment, identity, decisions });
                }
            }
            GateEvent::Delegated { by, to, .. } => {
                if let Some(vote) = gate.approval.as_mut().and_then(|it| it.vote_mut(by)) {
                    vote.holders.push(to.clone());
                }
            }
            GateEvent::Reminded { .. } => gate.reminded_at = Some(at),
            GateEvent::Opened { .. }
            | GateEvent::Answered { .. }
            | GateEvent::Passed { .. }
            | GateEvent::Waived { .. }
            | GateEvent::Lost { .. }
            | GateEvent::Carried { .. } => {}
        }
    }

    /// Remembers who made a package, where a gate of the workflow asks for that.
    pub(super) fn record_author(&mut self, created: &Created) {
        let (Some(package), Some(by)) = (created.package, created.author.clone()) else { return };
        self.authors.retain(|it| it.package != package);
        if self.authors.len() >= PackageAuthor::MOST {
            self.authors.remove(0);
        }
        self.authors.push(PackageAuthor { package, by });
    }
}

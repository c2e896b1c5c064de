//! Reject, and the rounds that are counted.

use baton_core::outcome::Outcome;

use super::along::Leg;
use super::counts::Comes;
use super::finish::Work;
use super::{Cause, Forward, Handoff, Kind, Party, Rounds, Run, Said, only};
use crate::flows::{Edge, HUMAN, Rejects, is_delegate};

impl Run {
    pub(super) fn reject(&mut self, no: u32, by: Option<&'static str>, fence: Option<u32>) -> Said {
        let handoff = self.find_endable(no)?;
        only(handoff.to.agent, by)?;
        Self::check_fence(&handoff, fence)?;
        match self.caller_of(no).map(|it| it.to) {
            Some(caller) if handoff.kind == Kind::Return => {
                self.reject_return(&handoff, caller);
                Ok(())
            }
            Some(caller) => {
                self.reject_delegation(&handoff, caller);
                Ok(())
            }
            None => self.reject_work(&handoff),
        }
    }

    fn reject_work(&mut self, handoff: &Handoff) -> Said {
        let to = match self.flow.step(handoff.to.place).map(|it| it.rejects) {
            Some(Rejects::Never) => return Err("reject_never"),
            Some(Rejects::To(step)) => Party { agent: self.flow.agents_at(step)[0], place: step },
            Some(Rejects::ToSender) | None => handoff.reject_to.unwrap_or(handoff.from),
        };
        self.check_gates(to.place)?;
        self.end_inside(handoff.no);
        self.end(handoff.no);
        let package = handoff.package;
        if let Some(cause) = self.count(handoff.forward, to, &[]) {
            self.ask(handoff, cause, to, package, package);
        } else if to.place == HUMAN {
            self.ask(handoff, Cause::Blocked, handoff.to, package, package);
        } else {
            self.comes_back(handoff, to, package, &[]);
        }
        Ok(())
    }

    /// The delegate will not do it.
    fn reject_delegation(&mut self, handoff: &Handoff, caller: Party) {
        self.end_inside(handoff.no);
        self.end(handoff.no);
        let package = handoff.package;
        if let Some(cause) = self.count(handoff.forward, caller, &[]) {
            self.ask(handoff, cause, caller, package, package);
        } else {
            let back = self.offer(Kind::Return, handoff.to, caller, package);
            back.forward = handoff.forward;
            back.brings = Some(Outcome::Failure);
        }
    }

    /// The caller will not have it so: the delegate works on it again.
    fn reject_return(&mut self, handoff: &Handoff, caller: Party) {
        let delegate = handoff.from;
        self.end(handoff.no);
        let package = handoff.package;
        if let Some(cause) = self.count(handoff.forward, delegate, &[]) {
            self.ask(handoff, cause, delegate, package, package);
        } else {
            let again = self.offer(Kind::Delegation, caller, delegate, package);
            again.forward = handoff.forward;
        }
    }

    /// A create along a back edge is a reject that brings its own package.
    pub(super) fn send_back(&mut self, handoff: &Handoff, to: Party, work: &Work) {
        self.end(handoff.no);
        let sent = Some(work.package);
        if let Some(cause) = self.count(handoff.forward, to, work.parcel.findings()) {
            self.ask(handoff, cause, to, handoff.package, sent);
        } else {
            self.comes_back(handoff, to, sent, work.parcel.findings());
        }
    }

    fn comes_back(
        &mut self,
        handoff: &Handoff,
        to: Party,
        package: Option<u32>,
        found: &'static [u8],
    ) {
        self.send(Leg {
            kind: Kind::Return,
            forward: handoff.forward,
            comes: Some(Comes::Again(found)),
            // With the orchestrator it lies loose.
            is_error: true,
            ..Leg::new(handoff.to, to, package)
        });
    }

    /// Counts the round; tells why a person has to say how it goes on, if that is so.
    pub(super) fn count(
        &mut self,
        edge: Forward,
        to: Party,
        found: &'static [u8],
    ) -> Option<Cause> {
        let most = self.rounds_of(edge);
        let rounds = match self.rounds.iter_mut().find(|it| it.edge == edge) {
            Some(rounds) => rounds,
            None => {
                self.rounds.push(Rounds { edge, n_rejects: 0, n_extra: 0, findings: &[] });
                self.rounds.last_mut().expect("it was just put there")
            }
        };
        let is_same = !found.is_empty() && rounds.findings == found;
        rounds.n_rejects += 1;
        rounds.findings = found;
        let is_too_often = rounds.n_rejects > most + rounds.n_extra;
        // What goes to the orchestrator or a person is seen by a person anyway.
        if self.flow.step(to.place).is_none() && !is_delegate(to.place) {
            return None;
        }
        if is_too_often {
            return Some(Cause::Rounds);
        }
        is_same.then_some(Cause::SameFindings)
    }

    /// Counts work that is taken up again further back. What was found last stays so.
    pub(super) fn count_again(&mut self, edge: Forward) -> Option<Cause> {
        let known = self.rounds.iter().find(|it| it.edge == edge);
        let found = known.map_or(&[][..], |it| it.findings);
        let most = self.rounds_of(edge);
        self.count(edge, super::human(), found);
        let rounds = self.rounds.iter().find(|it| it.edge == edge)?;
        (rounds.n_rejects > most + rounds.n_extra).then_some(Cause::Rounds)
    }

    pub(super) fn rounds_of(&self, (from, to): Forward) -> u32 {
        let forward = self.flow.edges_from(from).iter().find(|it| it.to == to);
        let back = self.flow.edges_from(to).iter().find(|it| it.is_back && it.to == from);
        let said = |edge: Option<&Edge>| edge.and_then(|it| it.rounds);
        said(forward).or(said(back)).unwrap_or(self.flow.rounds)
    }
}

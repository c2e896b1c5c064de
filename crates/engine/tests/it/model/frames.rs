//! Who waits for whom: delegation to a specialist, escalation to a person, and what comes back.

use baton_core::contract::Profile;
use baton_core::outcome::Outcome;

use super::finish::Work;
use super::{Baton, Cause, Handoff, Kind, Party, Run, Said, State};
use crate::flows::{Contract, Delegate};

/// How deep work may be delegated.
pub(super) const DEEPEST: usize = 8;

impl Run {
    /// The parked handoff whose holder waits for `no`, directly.
    pub(crate) fn caller_of(&self, no: u32) -> Option<&Handoff> {
        let depth = self.frames.iter().position(|it| *it == no).unwrap_or(self.frames.len());
        Some(self.row(self.frames[..depth].last().copied()?))
    }

    /// The innermost caller holds again. Tells its number.
    pub(super) fn close_frame(&mut self) -> u32 {
        let caller = self.frames.pop().expect("somebody waits");
        let now = self.now;
        let row = self.row_mut(caller);
        row.state = State::Accepted;
        row.fence += 1;
        row.accepted_at = now;
        self.baton = Baton::Held(caller);
        caller
    }

    fn park(&mut self, no: u32) {
        let row = self.row_mut(no);
        row.state = State::Parked;
        row.lease = None;
        row.is_stale = false;
        self.frames.push(no);
    }

    /// Ends everything that somebody's frame holds, and all frames inside it.
    pub(super) fn end_inside(&mut self, caller: u32) {
        let Some(depth) = self.frames.iter().position(|it| *it == caller) else { return };
        let around = self.frames[..=depth].to_vec();
        for handoff in &mut self.handoffs {
            let advises = handoff.gate.as_ref().is_some_and(|it| it.beside.is_some());
            if !around.contains(&handoff.no) && !advises {
                handoff.state = State::Ended;
            }
        }
        self.frames.truncate(depth);
    }

    /// What a step says about a specialist; anybody whom it does not name may do anything.
    pub(super) fn listed(&self, caller: Party, agent: &'static str) -> Delegate {
        let step = self.flow.step(caller.place);
        let listed = step.and_then(|it| it.delegates.iter().find(|it| it.agent == agent));
        let other = Delegate { agent, contract: Contract::None, returns: Contract::None };
        listed.copied().unwrap_or(other)
    }

    pub(super) fn delegate(&mut self, handoff: &Handoff, agent: &'static str, work: &Work) -> Said {
        check(self.listed(handoff.to, agent).contract, work)?;
        let outermost = self.frames.first().copied().unwrap_or(handoff.no);
        let step = self.flow.step(self.row(outermost).to.place);
        let is_enough = step.is_some_and(|it| self.row(outermost).n_parts >= it.delegations);
        self.park(handoff.no);
        self.row_mut(outermost).n_parts += 1;
        let to = Party { agent, place: agent };
        let sent = Some(work.package);
        if is_enough {
            let gate = self.ask(handoff, Cause::Delegations, to, sent, sent);
            gate.forward = (handoff.to.place, agent);
            gate.sender = None;
            gate.has_lost_lease = false;
        } else {
            self.offer(Kind::Delegation, handoff.to, to, sent);
        }
        Ok(())
    }

    pub(super) fn escalate(&mut self, handoff: &Handoff, work: &Work) -> Said {
        check(self.flow.escalation, work)?;
        self.park(handoff.no);
        let sent = Some(work.package);
        self.ask(handoff, Cause::Escalation, handoff.to, sent, handoff.package);
        Ok(())
    }

    /// A delegate gives its work back to whoever waits for it.
    pub(super) fn bring(&mut self, handoff: &Handoff, outcome: Outcome, work: &Work) -> Said {
        let caller = self.caller_of(handoff.no).expect("a delegate has a caller").to;
        if outcome == Outcome::Success {
            check(self.listed(caller, handoff.to.agent).returns, work)?;
        }
        self.give_back(handoff, outcome, Some(work.package));
        Ok(())
    }

    /// Ends what a delegate had, and tells its caller how.
    pub(super) fn give_back(&mut self, handoff: &Handoff, outcome: Outcome, package: Option<u32>) {
        let caller = self.caller_of(handoff.no).expect("a delegate has a caller").to;
        self.end(handoff.no);
        let back = self.offer(Kind::Return, handoff.to, caller, package);
        back.forward = handoff.forward;
        back.brings = Some(outcome);
    }
}

fn check(contract: Contract, work: &Work) -> Said {
    let is_strict = work.profile == Profile::Strict;
    if contract.takes(work.parcel, is_strict) { Ok(()) } else { Err("contract") }
}

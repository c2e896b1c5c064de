//! What only time brings about: leases are lost, what was held back is woken, handoffs expire
//! and become stale.

use baton_core::outcome::Outcome;

use super::{Baton, Cause, Handoff, Kind, Run, Said, State, human};
use crate::flows::{HUMAN, MINUTE, ORCHESTRATOR, Then};

impl Run {
    pub(super) fn lose_lease(&mut self, no: u32, fence: u32) -> Said {
        let handoff = self.find_row(no)?;
        if handoff.lease.is_none() {
            return Err("no_lease");
        }
        if handoff.fence != fence {
            return Err("stale_fence");
        }
        let may_retry = handoff.attempt <= self.flow.retries;
        if handoff.kind == Kind::Question {
            self.ask_another(&handoff, may_retry);
        } else if may_retry {
            self.hold_back(&handoff);
        } else {
            self.end(no);
            self.ask(&handoff, Cause::LostLease, handoff.to, handoff.package, handoff.package);
        }
        Ok(())
    }

    /// Whoever was to answer died: somebody asks again, and a person in the end.
    pub(super) fn ask_another(&mut self, lost: &Handoff, may_retry: bool) {
        let about = lost.about.expect("a question is about something");
        self.end(lost.no);
        let to = if may_retry { lost.to } else { human() };
        let question = self.put_question(about, lost.from, to);
        question.attempt = if may_retry { lost.attempt + 1 } else { 1 };
        question.has_lost_lease = may_retry;
    }

    /// The same again, but not at once.
    fn hold_back(&mut self, lost: &Handoff) {
        let next = self.advise_on_next(lost.no);
        self.end(lost.no);
        let until = self.now + (1 << (lost.attempt - 1));
        let again = self.offer(lost.kind, lost.from, lost.to, lost.package);
        again.forward = lost.forward;
        again.reject_to = lost.reject_to;
        again.brings = lost.brings;
        again.came_back = lost.came_back;
        again.attempt = lost.attempt + 1;
        again.has_lost_lease = true;
        again.held_back_until = Some(until);
        self.baton = Baton::HeldBack(next);
    }

    /// Who advises on the work advises on the next try of it. Tells its number.
    pub(super) fn advise_on_next(&mut self, no: u32) -> u32 {
        let next = self.handoffs.len() as u32 + 1;
        for gate in self.handoffs.iter_mut().filter_map(|it| it.gate.as_mut()) {
            if gate.beside == Some(no) {
                gate.beside = Some(next);
            }
        }
        next
    }

    pub(super) fn wake(&mut self, no: u32) -> Said {
        let handoff = self.find_row(no)?;
        if handoff.held_back_until.is_none() {
            return Err("not_held_back");
        }
        self.check_time(no)?;
        self.row_mut(no).held_back_until = None;
        self.baton = Baton::Offered(no);
        Ok(())
    }

    pub(super) fn expire(&mut self, no: u32) -> Said {
        let handoff = self.find_work(no)?;
        if handoff.state != State::Pending {
            return Err("wrong_state");
        }
        let expiry = self.flow.expiry_at(handoff.to.place).ok_or("not_due")?;
        let is_held_back = handoff.held_back_until.is_some();
        if is_held_back || self.now < handoff.waits_since + expiry.after {
            return Err("not_due");
        }
        let caller = self.caller_of(no).map(|it| it.to);
        let is_return = handoff.kind == Kind::Return;
        match (expiry.then, caller) {
            (_, Some(_)) if is_return => {
                self.end(no);
                self.close_frame();
            }
            (Then::Ask, _) => {
                self.end(no);
                self.ask(&handoff, Cause::Expired, handoff.to, handoff.package, handoff.package);
            }
            (Then::Loose | Then::Return, Some(_)) => {
                self.give_back(&handoff, Outcome::Failure, handoff.package);
            }
            (Then::Loose, None) => self.drop_baton(&handoff, None),
            (Then::Return, None) => {
                let to = handoff.reject_to.unwrap_or(handoff.from);
                if is_return
                    || handoff.came_back
                    || [ORCHESTRATOR, HUMAN].contains(&to.agent)
                    || !self.is_let_in(to.place)
                {
                    self.drop_baton(&handoff, None);
                } else {
                    self.end(no);
                    let back = self.offer(Kind::Return, handoff.to, to, handoff.package);
                    back.forward = handoff.forward;
                }
            }
        }
        Ok(())
    }

    pub(super) fn mark_stale(&mut self, no: u32) -> Said {
        let handoff = self.find_row(no)?;
        if handoff.is_stale {
            return Err("already_stale");
        }
        let is_question = handoff.kind == Kind::Question;
        let due = match handoff.state {
            // A person may take any time, and so may whoever says that it is alive.
            _ if handoff.to.agent == HUMAN || handoff.lease.is_some() => None,
            State::Pending => Some(handoff.waits_since + self.flow.stale_after),
            State::Accepted if is_question => Some(handoff.accepted_at + self.flow.stale_after),
            State::Accepted => {
                let step = self.flow.step(handoff.to.place);
                let within = step.map_or(30 * MINUTE, |it| it.work_within);
                Some(handoff.accepted_at + within)
            }
            State::Clarification | State::Parked | State::Ended => None,
        };
        if due.is_none_or(|it| self.now < it) {
            return Err("not_due");
        }
        self.row_mut(no).is_stale = true;
        Ok(())
    }
}

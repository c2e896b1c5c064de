//! Accept, release, and what is found while somebody works.

use super::{Baton, Cause, Kind, Run, Said, State, only};
use crate::act::Says;

impl Run {
    pub(super) fn accept(
        &mut self,
        no: u32,
        by: Option<&'static str>,
        says: Says,
        lease: Option<u32>,
    ) -> Said {
        let handoff = self.find_row(no)?;
        if matches!(handoff.state, State::Accepted | State::Parked) {
            return Err("already_accepted");
        }
        only(handoff.to.agent, by)?;
        if handoff.state == State::Clarification {
            return Err("wrong_state");
        }
        if says == Says::Unclear && handoff.kind == Kind::Question {
            return Err("question_open");
        }
        if says == Says::Unclear {
            return self.ask_sender(&handoff);
        }
        self.check_time(no)?;
        if self.is_paused() {
            return Err("paused");
        }
        let held = match self.caller_of(no) {
            Some(_) if handoff.kind == Kind::Return => {
                self.end(no);
                self.close_frame()
            }
            Some(_) | None => {
                self.take(no);
                no
            }
        };
        self.row_mut(held).lease = lease;
        Ok(())
    }

    /// What was held back may be taken once it is time, woken or not.
    pub(super) fn check_time(&self, no: u32) -> Said {
        let is_early = self.row(no).held_back_until.is_some_and(|it| self.now < it);
        if is_early { Err("not_yet") } else { Ok(()) }
    }

    pub(super) fn take(&mut self, no: u32) {
        let now = self.now;
        let handoff = self.row_mut(no);
        handoff.state = State::Accepted;
        handoff.fence += 1;
        handoff.accepted_at = now;
        handoff.is_stale = false;
        handoff.held_back_until = None;
        // Whoever takes a question has nothing but the question.
        if handoff.kind != Kind::Question {
            let place = handoff.to.place;
            self.visit(place);
            self.is_back_at(place);
            self.baton = Baton::Held(no);
        }
    }

    pub(super) fn release(
        &mut self,
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    ) -> Said {
        let handoff = self.find_row(no)?;
        only(handoff.to.agent, by)?;
        Self::check_fence(&handoff, fence)?;
        if handoff.state != State::Accepted {
            return Err("wrong_state");
        }
        if handoff.n_releases == self.flow.releases {
            if handoff.kind == Kind::Question {
                self.ask_another(&handoff, false);
            } else {
                self.end(no);
                let package = handoff.package;
                self.ask(&handoff, Cause::Releases, handoff.to, package, package);
            }
            return Ok(());
        }
        let now = self.now;
        let row = self.row_mut(no);
        row.state = State::Pending;
        row.n_releases += 1;
        row.fence += 1;
        row.lease = None;
        row.is_stale = false;
        row.waits_since = now;
        if handoff.kind != Kind::Question {
            self.baton = Baton::Offered(no);
        }
        Ok(())
    }

    pub(super) fn record(&mut self, no: u32, check: &'static str, has_passed: bool) -> Said {
        let handoff = self.find(no)?;
        if handoff.kind == Kind::Question {
            return Err("question_open");
        }
        let row = self.row_mut(no);
        let evidence = match &mut row.gate {
            Some(gate) => &mut gate.evidence,
            None => &mut row.evidence,
        };
        evidence.retain(|(it, ..)| *it != check);
        evidence.push((check, has_passed, handoff.fence));
        self.open_if_passed(no);
        Ok(())
    }
}

//! What operators and the clock do: time out, cancel, clean up, pause, goto, skip, mark.

use baton_core::outcome::Outcome;

use super::work::orchestrator;
use super::{Baton, Party, Run, Said, State, Status};
use crate::flows::ORCHESTRATOR;

impl Run {
    pub(super) fn cancel_handoff(&mut self, no: u32, by: Option<&'static str>) -> Said {
        let handoff = self.find_work(no)?;
        if by.is_some_and(|it| it != ORCHESTRATOR && it != handoff.from.agent) {
            return Err("not_yours");
        }
        if handoff.state == State::Accepted {
            return Err("wrong_state");
        }
        self.end();
        Ok(())
    }

    pub(super) fn time_out(&mut self, no: u32) -> Said {
        self.find_work(no)?;
        self.end();
        Ok(())
    }

    pub(super) fn clean_up(&mut self) -> Said {
        if matches!(self.baton(), Baton::Offered(_)) {
            self.end();
        }
        Ok(())
    }

    pub(super) fn mark_stale(&mut self, no: u32) -> Said {
        let handoff = self.find_work(no)?;
        if handoff.is_stale {
            return Err("already_stale");
        }
        let due = match handoff.state {
            State::Pending | State::Ended => handoff.created_at + self.flow.stale_after,
            State::Accepted => {
                let step = self.flow.step(handoff.to.place);
                handoff.accepted_at + step.map_or(30, |it| it.work_within)
            }
        };
        if self.now < due {
            return Err("not_due");
        }
        self.last_mut().is_stale = true;
        Ok(())
    }

    pub(super) fn pause(&mut self) -> Said {
        if self.is_paused() {
            return Err("paused");
        }
        self.status = Status::Paused;
        Ok(())
    }

    pub(super) fn resume(&mut self) -> Said {
        if !self.is_paused() {
            return Err("not_paused");
        }
        self.status = Status::Open;
        Ok(())
    }

    pub(super) fn cancel(&mut self) -> Said {
        self.status = Status::Cancelled;
        Ok(())
    }

    pub(super) fn goto(&mut self, step: &'static str) -> Said {
        self.no_question_open()?;
        if !self.visited.contains(&step) {
            return Err("not_visited");
        }
        if self.open().is_some() {
            self.end();
        }
        let agent = self.flow.agents_at(step)[0];
        self.offer_again(Party { agent, place: step }, None);
        Ok(())
    }

    pub(super) fn skip(&mut self) -> Said {
        self.no_question_open()?;
        let place = match (self.baton(), self.open()) {
            (Baton::Loose { at, .. }, _) => at,
            (_, Some(open)) => open.to.place,
            (_, None) => ORCHESTRATOR,
        };
        let step = self.flow.step(place).ok_or("nothing_to_skip")?;
        if !step.is_optional {
            return Err("not_optional");
        }
        let edge = step.edges.iter().find(|it| it.on == Outcome::Success);
        self.move_to(edge.ok_or("nothing_to_skip")?.to);
        Ok(())
    }

    fn no_question_open(&self) -> Said {
        if matches!(self.baton(), Baton::Parked(_)) { Err("gate_open") } else { Ok(()) }
    }

    fn move_to(&mut self, place: &'static str) {
        let package = self.newest_package();
        if self.open().is_some() {
            self.end();
        }
        let agent = self.flow.agents_at(place)[0];
        self.offer("sequential", orchestrator(), Party { agent, place }, package);
        self.finish_at(place, false);
    }
}

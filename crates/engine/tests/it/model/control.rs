//! What operators do: time out, cancel, clean up, pause, goto, skip.

use baton_core::outcome::Outcome;

use super::{Baton, Handoff, Kind, Party, Run, Said, State, Status, orchestrator};
use crate::flows::ORCHESTRATOR;
use crate::model::along::Leg;
use crate::model::counts::Comes;

impl Run {
    pub(super) fn cancel_handoff(&mut self, no: u32, by: Option<&'static str>) -> Said {
        let handoff = self.find_endable(no)?;
        if by.is_some_and(|it| it != ORCHESTRATOR && it != handoff.from.agent) {
            return Err("not_yours");
        }
        if matches!(handoff.state, State::Accepted | State::Parked) {
            return Err("wrong_state");
        }
        self.drop_or_give_back(&handoff, by);
        Ok(())
    }

    pub(super) fn time_out(&mut self, no: u32) -> Said {
        let handoff = self.find_work(no)?;
        if matches!(handoff.state, State::Clarification | State::Parked) {
            return Err("wrong_state");
        }
        self.drop_or_give_back(&handoff, None);
        Ok(())
    }

    /// Outside of frames the baton lies loose; inside, the caller gets it back.
    fn drop_or_give_back(&mut self, handoff: &Handoff, by: Option<&'static str>) {
        if self.caller_of(handoff.no).is_none() {
            self.drop_baton(handoff, by);
        } else if handoff.kind == Kind::Return {
            self.end(handoff.no);
            self.close_frame();
        } else {
            self.give_back(handoff, Outcome::Failure, handoff.package);
        }
    }

    /// The baton lies where it was: with the sender, unless the receiver had taken it. Who has sent
    /// work back is done with it, unless it says otherwise itself.
    pub(super) fn drop_baton(&mut self, handoff: &Handoff, by: Option<&'static str>) {
        let (from, to) = (handoff.from.place, handoff.to.place);
        let is_sent_back = handoff.kind == Kind::Return && by != Some(handoff.from.agent);
        let is_taken = handoff.state == State::Accepted || is_sent_back;
        self.end(handoff.no);
        let (at, other) = if is_taken { (to, from) } else { (from, to) };
        let sides = if is_taken { [handoff.to, handoff.from] } else { [handoff.from, handoff.to] };
        let had_by = sides.into_iter().find(|it| self.flow.step(it.place).is_some());
        self.had_by = had_by.map_or(ORCHESTRATOR, |it| it.agent);
        self.baton = Baton::Loose { at, other };
    }

    /// Cancels what nobody works on; what people are asked, and all about it, is kept.
    pub(super) fn clean_up(&mut self) -> Said {
        let current = match self.baton {
            Baton::Offered(no) | Baton::HeldBack(no) => self.row(no).clone(),
            Baton::Held(_) | Baton::Asked(_) | Baton::Loose { .. } | Baton::Done => return Ok(()),
        };
        if self.caller_of(current.no).is_some() {
            self.end(current.no);
            self.close_frame();
        } else {
            self.drop_baton(&current, None);
        }
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
        self.is_over(Status::Cancelled);
        Ok(())
    }

    pub(super) fn goto(&mut self, step: &'static str) -> Said {
        self.no_person_is_asked()?;
        if !self.visited.contains(&step) {
            return Err("not_visited");
        }
        self.end_all();
        let agent = self.flow.agents_at(step)[0];
        self.waive(step);
        self.offer_again(Party { agent, place: step }, None);
        Ok(())
    }

    /// The story itself where the run is new, else what it has.
    pub(super) fn start_at(&mut self, step: &'static str) -> Said {
        self.waive(step);
        let to = Party { agent: self.flow.agents_at(step)[0], place: step };
        if self.handoffs.is_empty() {
            self.count_entry(ORCHESTRATOR, step, Comes::Onward);
            self.offer(Kind::Sequential, orchestrator(), to, Some(0));
        } else {
            self.offer_again(to, None);
        }
        Ok(())
    }

    pub(super) fn skip(&mut self) -> Said {
        self.no_person_is_asked()?;
        let place = match (self.baton, self.current()) {
            (Baton::Loose { at, .. }, _) => at,
            (_, Some(open)) if self.frames.is_empty() => open.to.place,
            (_, Some(_) | None) => ORCHESTRATOR,
        };
        let step = self.flow.step(place).ok_or("nothing_to_skip")?;
        if !step.is_optional {
            return Err("not_optional");
        }
        let edge = step.edges.iter().find(|it| it.on == Outcome::Success);
        let edge = edge.ok_or("nothing_to_skip")?;
        let package = self.newest_package();
        self.end_all();
        self.is_back_at(place);
        if edge.gate.is_none() {
            self.check_gates(edge.to)?;
        }
        let to = Party { agent: self.flow.agents_at(edge.to)[0], place: edge.to };
        let leg = Leg { edge: (place, edge.to), ..Leg::new(orchestrator(), to, package) };
        self.pass(edge.gate, leg, &[]);
        Ok(())
    }

    fn no_person_is_asked(&self) -> Said {
        if matches!(self.baton, Baton::Asked(_)) { Err("gate_open") } else { Ok(()) }
    }

    /// No more of what is open, but for the run itself.
    fn end_all(&mut self) {
        for handoff in &mut self.handoffs {
            handoff.state = State::Ended;
        }
        self.frames.clear();
    }
}

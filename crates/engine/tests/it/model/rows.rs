//! The list of handoffs: how one is found, begun and ended.

use super::{Baton, Handoff, Kind, Party, Run, Said, State, Status};
use crate::flows::ORCHESTRATOR;

impl Run {
    /// The open handoff of that number, whatever it is.
    pub(super) fn find(&self, no: u32) -> Result<Handoff, &'static str> {
        let row = self.row(no);
        if row.state == State::Ended { Err("finished") } else { Ok(row.clone()) }
    }

    /// The open handoff of that number, if it is not a person's to answer.
    pub(super) fn find_row(&self, no: u32) -> Result<Handoff, &'static str> {
        let handoff = self.find(no)?;
        if handoff.gate.is_some() { Err("gate_open") } else { Ok(handoff) }
    }

    /// The open handoff of that number, if it is work, and not a question about work.
    pub(super) fn find_work(&self, no: u32) -> Result<Handoff, &'static str> {
        let handoff = self.find_row(no)?;
        if handoff.kind == Kind::Question { Err("question_open") } else { Ok(handoff) }
    }

    /// As [`Self::find_work`], for what would end a gate that stands for a question about it.
    pub(super) fn find_endable(&self, no: u32) -> Result<Handoff, &'static str> {
        let handoff = self.find_work(no);
        let question = self.row(no).question.map(|it| self.row(it));
        match handoff {
            Ok(_) if question.is_some_and(|it| it.gate.is_some()) => Err("gate_open"),
            handoff => handoff,
        }
    }

    /// Whether somebody who says that it holds the handoff, with this fence or none, may do so.
    pub(super) fn check_fence(handoff: &Handoff, fence: Option<u32>) -> Said {
        let is_held_alone = handoff.state == State::Accepted && handoff.lease.is_none();
        match fence {
            Some(fence) if fence != handoff.fence => Err("stale_fence"),
            None if handoff.has_lost_lease && !is_held_alone => Err("fence_required"),
            Some(_) | None => Ok(()),
        }
    }

    /// Ends a handoff, and with it the question about it, what advises on it, and its frame with
    /// those inside. What else is in the frame has to be ended by whoever ends this.
    pub(super) fn end(&mut self, no: u32) {
        self.row_mut(no).state = State::Ended;
        if let Some(question) = self.row_mut(no).question.take() {
            self.row_mut(question).state = State::Ended;
        }
        for handoff in &mut self.handoffs {
            if handoff.gate.as_ref().is_some_and(|it| it.beside == Some(no)) {
                handoff.state = State::Ended;
            }
        }
        if let Some(depth) = self.frames.iter().position(|it| *it == no) {
            self.frames.truncate(depth);
        }
    }

    /// A new row, which leaves the baton where it is.
    pub(super) fn put(
        &mut self,
        kind: Kind,
        from: Party,
        to: Party,
        package: Option<u32>,
    ) -> &mut Handoff {
        self.handoffs.push(Handoff {
            no: self.handoffs.len() as u32 + 1,
            kind,
            from,
            to,
            state: State::Pending,
            forward: (from.place, to.place),
            reject_to: None,
            attempt: 1,
            package,
            fence: 0,
            waits_since: self.now,
            accepted_at: self.now,
            created_at: self.now,
            is_stale: false,
            lease: None,
            has_lost_lease: false,
            held_back_until: None,
            question: None,
            about: None,
            n_questions: 0,
            n_releases: 0,
            came_back: false,
            brings: None,
            is_again: false,
            n_parts: 0,
            evidence: Vec::new(),
            gate: None,
        });
        self.handoffs.last_mut().expect("it was just put there")
    }

    /// A new handoff, with the baton. The orchestrator takes what it is given at once.
    pub(super) fn offer(
        &mut self,
        kind: Kind,
        from: Party,
        to: Party,
        package: Option<u32>,
    ) -> &mut Handoff {
        let no = self.put(kind, from, to, package).no;
        if to.agent == ORCHESTRATOR {
            self.row_mut(no).state = State::Ended;
            self.had_by = from.agent;
            self.baton = Baton::Loose { at: ORCHESTRATOR, other: from.place };
        } else {
            self.baton = Baton::Offered(no);
        }
        self.row_mut(no)
    }

    pub(super) fn newest_package(&self) -> Option<u32> {
        self.handoffs.iter().rev().find_map(|it| it.package)
    }

    pub(super) fn visit(&mut self, place: &'static str) {
        if self.flow.step(place).is_some() && !self.visited.contains(&place) {
            self.visited.push(place);
        }
    }

    /// Good work at the end ends the run; an error there does not.
    pub(super) fn finish_at(&mut self, place: &str, is_error: bool) {
        if place == ORCHESTRATOR && !is_error {
            self.is_over(Status::Completed);
        }
    }

    pub(super) fn is_over(&mut self, status: Status) {
        self.status = status;
        for handoff in &mut self.handoffs {
            handoff.state = State::Ended;
        }
        self.frames.clear();
        self.n_blockers = 0;
        self.baton = Baton::Done;
    }
}

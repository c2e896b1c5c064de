//! The receiver asks; whoever sent the work, or a person, answers.

use super::{Baton, Cause, Handoff, Kind, Party, Run, Said, State, human, only};
use crate::flows::{HUMAN, ORCHESTRATOR};

impl Run {
    pub(super) fn clarify(
        &mut self,
        no: u32,
        by: Option<&'static str>,
        fence: Option<u32>,
    ) -> Said {
        let handoff = self.find_work(no)?;
        only(handoff.to.agent, by)?;
        Self::check_fence(&handoff, fence)?;
        self.ask_sender(&handoff)
    }

    /// Asks whoever would get the handoff back; after too many questions, a person.
    pub(super) fn ask_sender(&mut self, handoff: &Handoff) -> Said {
        if !matches!(handoff.state, State::Pending | State::Accepted) {
            return Err("wrong_state");
        }
        let no = handoff.no;
        self.puts_off(no);
        if handoff.n_questions == self.flow.questions {
            let gate = self.ask(handoff, Cause::Questions, handoff.to, handoff.package, None);
            gate.about = Some(no);
            let Baton::Asked(gate) = self.baton else { unreachable!("somebody was just asked") };
            self.row_mut(no).question = Some(gate);
        } else {
            let asked = answerer(handoff.reject_to.unwrap_or(handoff.from));
            self.put_question(no, handoff.to, asked);
            self.baton = Baton::Offered(no);
        }
        Ok(())
    }

    /// A handoff waits for an answer; who held it holds it no more.
    pub(super) fn puts_off(&mut self, no: u32) {
        let row = self.row_mut(no);
        if row.state == State::Accepted {
            row.fence += 1;
        }
        row.state = State::Clarification;
        row.lease = None;
        row.held_back_until = None;
        row.is_stale = false;
        row.n_questions += 1;
    }

    pub(super) fn put_question(&mut self, about: u32, from: Party, to: Party) -> &mut Handoff {
        let question = self.put(Kind::Question, from, to, None);
        question.about = Some(about);
        let question = question.no;
        self.row_mut(about).question = Some(question);
        self.row_mut(question)
    }

    pub(super) fn reply(&mut self, no: u32, by: Option<&'static str>, fence: Option<u32>) -> Said {
        let named = self.find(no)?;
        let question = match named.question.map(|it| self.row(it).clone()) {
            _ if named.kind == Kind::Question => named,
            Some(question) if question.gate.is_none() => question,
            Some(_) => return Err("gate_open"),
            None if named.gate.is_some() => return Err("gate_open"),
            None => return Err("not_a_question"),
        };
        // A person may always answer, and holds nothing that could be lost.
        if by != Some(HUMAN) {
            only(question.to.agent, by)?;
            // Nobody has a question that nobody took.
            if fence.is_some() || question.state == State::Accepted {
                Self::check_fence(&question, fence)?;
            }
        }
        self.is_answered(question.about.expect("a question is about something"));
        Ok(())
    }

    /// The question about a handoff is answered, and it waits for its receiver again.
    pub(super) fn is_answered(&mut self, no: u32) {
        let now = self.now;
        let row = self.row_mut(no);
        row.state = State::Pending;
        row.waits_since = now;
        let is_gate = row.gate.is_some();
        if let Some(question) = row.question.take() {
            self.end(question);
        }
        if !is_gate {
            self.baton = Baton::Offered(no);
        }
    }
}

/// Baton itself knows nothing: a person answers for it.
fn answerer(sender: Party) -> Party {
    match sender.agent {
        ORCHESTRATOR | HUMAN => human(),
        _ => sender,
    }
}

//! A person answers.

use baton_core::gate::Answer;
use baton_core::outcome::Outcome;

use super::{Cause, Gate, Party, Run, Said};
use crate::flows::{AGENTS, HUMAN};

impl Run {
    pub(super) fn answer(&mut self, no: u32, answer: &Answer) -> Said {
        let handoff = self.find(no)?;
        let gate = handoff.gate.clone().ok_or("not_a_gate")?;
        if !takes(&gate, answer) {
            return Err("not_a_choice");
        }
        let forward = handoff.forward;
        let is_circle = matches!(gate.cause, Cause::Rounds | Cause::SameFindings);
        if is_circle && *answer != Answer::Abort {
            let n_more = self.rounds_of(forward);
            if let Some(rounds) = self.rounds.iter_mut().find(|it| it.edge == forward) {
                rounds.n_extra += n_more;
                rounds.findings = &[];
            }
        }
        self.end();
        match answer {
            Answer::Continue => {
                self.offer("return", gate.asker, gate.worker, gate.given).forward = forward;
            }
            Answer::HandTo(agent) => {
                let known = AGENTS.into_iter().find(|it| *it == agent.as_str());
                let worker = Party { agent: known.ok_or("unknown_agent")?, ..gate.worker };
                self.offer("return", gate.asker, worker, gate.given).forward = forward;
            }
            Answer::Accept => {
                let edges = self.flow.edges_from(gate.asker.place);
                let edge = edges.iter().find(|it| it.on == Outcome::Success && !it.is_back);
                let place = edge.ok_or("not_an_edge")?.to;
                let to = Party { agent: self.flow.agents_at(place)[0], place };
                self.offer("sequential", gate.asker, to, gate.package);
                self.finish_at(place, false);
            }
            Answer::Approve => {
                self.offer("sequential", gate.asker, gate.worker, gate.package);
                self.finish_at(gate.worker.place, false);
            }
            Answer::Reject => {
                let human = Party { agent: HUMAN, place: HUMAN };
                self.offer("return", human, gate.asker, gate.package).forward = forward;
            }
            Answer::Abort => self.cancel()?,
        }
        Ok(())
    }
}

fn takes(gate: &Gate, answer: &Answer) -> bool {
    match answer {
        Answer::Abort => true,
        Answer::Approve | Answer::Reject => gate.cause == Cause::Review,
        Answer::Continue | Answer::Accept | Answer::HandTo(_) => gate.cause != Cause::Review,
    }
}

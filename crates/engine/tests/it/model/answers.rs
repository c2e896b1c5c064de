//! A person answers.

use baton_core::gate::Answer;
use baton_core::outcome::Outcome;

use super::along::Leg;
use super::{Cause, Gate, Handoff, Kind, Party, Run, Said, State, Stops, human};
use crate::act::Answered;
use crate::flows::{AGENTS, EdgeGate, HUMAN, ORCHESTRATOR, Parcel, is_delegate};
use crate::random::all_answers;

impl Run {
    /// Whatever a person may say at a gate.
    pub(crate) fn choices(&self, no: u32) -> Vec<Answer> {
        let Some(gate) = &self.row(no).gate else { return vec![Answer::Reply] };
        let mut choices = all_answers();
        choices.retain(|it| takes(gate, it));
        choices
    }

    pub(super) fn answer(&mut self, answered: &Answered) -> Said {
        let Answered { no, by, answer, has_words, parcel } = answered;
        let handoff = self.find(*no)?;
        let is_question = handoff.kind == Kind::Question;
        let takes = match &handoff.gate {
            Some(gate) => takes(gate, answer),
            None if is_question => *answer == Answer::Reply,
            None => return Err("not_a_gate"),
        };
        if !takes {
            return Err("not_a_choice");
        }
        let approval = handoff.gate.as_ref().and_then(|it| it.approval.clone());
        if let Some(mut approval) = approval {
            approval.check(answer, by)?;
        }
        if matches!(answer, Answer::Reply | Answer::Question) && !has_words {
            return Err("comment_required");
        }
        let Some(gate) = handoff.gate.clone() else {
            return self.reply(*no, Some(HUMAN), None);
        };
        if *answer == Answer::Modify && parcel.is_none() {
            return Err("package_required");
        }
        if *answer == Answer::Question {
            return self.ask_asker(&handoff, &gate);
        }
        let approval = self.row_mut(*no).gate.as_mut().and_then(|it| it.approval.as_mut());
        if let (Answer::Approve, Some(approval)) = (answer, approval)
            && !approval.approve(by)?
        {
            return Ok(());
        }
        self.grant_rounds(&gate, answer);
        self.counts_anew(&gate, answer);
        self.end(*no);
        match answer {
            Answer::Abort => self.cancel(),
            _ if gate.stops == Stops::Nothing => self.judge(&gate, answer),
            Answer::Continue => self.go_on(&gate, gate.worker),
            Answer::HandTo(agent) => {
                let known = AGENTS.into_iter().find(|it| *it == agent.as_str());
                let agent = known.ok_or("unknown_agent")?;
                let is_beside = is_delegate(gate.worker.place);
                let place = if is_beside { agent } else { gate.worker.place };
                self.go_on(&gate, Party { agent, place })
            }
            Answer::Accept => self.accept_as_it_is(&gate),
            Answer::Reply if gate.cause == Cause::Questions => {
                let about = gate.about.expect("there were questions about something");
                self.row_mut(about).n_questions = 0;
                self.is_answered(about);
                Ok(())
            }
            Answer::Reply | Answer::Approve | Answer::Reject if gate.cause == Cause::Escalation => {
                let is_good = *answer != Answer::Reject;
                self.answer_asker(if is_good { Outcome::Success } else { Outcome::Failure });
                Ok(())
            }
            Answer::Approve => {
                self.approved(&gate, gate.package);
                Ok(())
            }
            Answer::Reject => {
                self.waive(gate.asker.place);
                let back = self.offer(Kind::Return, human(), gate.asker, gate.package);
                back.forward = gate.forward;
                Ok(())
            }
            Answer::Modify => self.modified(&gate, *parcel),
            Answer::Reply | Answer::Question => unreachable!("no such gate takes it"),
        }
    }

    /// A person has a question too: to whoever wants the work to go on.
    fn ask_asker(&mut self, handoff: &Handoff, gate: &Gate) -> Said {
        if handoff.state == State::Clarification {
            return Err("wrong_state");
        }
        self.puts_off(handoff.no);
        self.put_question(handoff.no, human(), gate.asker);
        Ok(())
    }

    /// Whoever goes round in circles may do so as often again.
    fn grant_rounds(&mut self, gate: &Gate, answer: &Answer) {
        let is_circle = matches!(gate.cause, Cause::Rounds | Cause::SameFindings);
        if !is_circle || *answer == Answer::Abort {
            return;
        }
        let n_more = self.rounds_of(gate.forward);
        if let Some(rounds) = self.rounds.iter_mut().find(|it| it.edge == gate.forward) {
            rounds.n_extra += n_more;
            rounds.findings = &[];
        }
    }

    /// What a person thinks of work that went on meanwhile.
    fn judge(&mut self, gate: &Gate, answer: &Answer) -> Said {
        if *answer == Answer::Approve {
            return Ok(());
        }
        let beside = gate.beside.expect("it advises on something");
        self.end_inside(beside);
        self.end(beside);
        self.waive(gate.asker.place);
        let back = self.offer(Kind::Return, human(), gate.asker, gate.package);
        back.forward = gate.forward;
        Ok(())
    }

    /// The worker, or whoever works in its place, goes on from what it was given.
    fn go_on(&mut self, gate: &Gate, worker: Party) -> Said {
        if gate.cause == Cause::Blocked {
            self.n_blockers = 0;
        }
        self.waive(worker.place);
        let caller = self.frames.last().map(|it| self.row(*it).to);
        if caller == Some(worker) {
            // The delegate would not do it, and its caller is to live with that.
            let back = self.offer(Kind::Return, gate.asker, worker, gate.given);
            back.forward = gate.forward;
            back.brings = Some(Outcome::Failure);
        } else if let Some(caller) = caller {
            let again = self.offer(Kind::Delegation, caller, worker, gate.given);
            again.forward = (caller.place, worker.place);
            again.has_lost_lease = gate.has_lost_lease && gate.worker == gate.asker;
        } else if gate.cause == Cause::Entries {
            let from = gate.sender.expect("somebody had sent it");
            let kind = if from == gate.asker { Kind::Return } else { Kind::Sequential };
            let again = self.offer(kind, from, worker, gate.given);
            again.forward = gate.forward;
            again.has_lost_lease = gate.has_lost_lease;
        } else if gate.worker == gate.asker {
            // Nobody has sent this to itself: the person gives it again what somebody had sent.
            let again = self.offer(Kind::Return, human(), worker, gate.given);
            again.forward = gate.forward;
            again.reject_to = gate.sender;
            again.has_lost_lease = gate.has_lost_lease;
        } else {
            self.offer(Kind::Return, gate.asker, worker, gate.given).forward = gate.forward;
        }
        Ok(())
    }

    fn accept_as_it_is(&mut self, gate: &Gate) -> Said {
        self.n_blockers = 0;
        let caller = self.frames.last().map(|it| self.row(*it).to);
        if caller == Some(gate.asker) {
            self.answer_asker(Outcome::Success);
            return Ok(());
        }
        if let Some(caller) = caller {
            let back = self.offer(Kind::Return, gate.asker, caller, gate.package);
            back.forward = gate.forward;
            back.brings = Some(Outcome::Success);
            return Ok(());
        }
        let edges = self.flow.edges_from(gate.asker.place);
        let edge = edges.iter().find(|it| it.on == Outcome::Success && !it.is_back);
        let edge = edge.ok_or("not_an_edge")?;
        let place = edge.to;
        // One person does not stand for those whose approvals the way asks for.
        if let Some(EdgeGate::Approved(_)) = edge.gate {
            let to = Party { agent: self.flow.agents_at(place)[0], place };
            let leg = Leg { counted: gate.forward, ..Leg::new(gate.asker, to, gate.package) };
            self.stop(&leg, Cause::Declared, Stops::All).asks_people(edge.gate);
            return Ok(());
        }
        if place == ORCHESTRATOR {
            self.waive_end();
        } else {
            self.waive(place);
        }
        let to = Party { agent: self.flow.agents_at(place)[0], place };
        self.pass(None, Leg::new(gate.asker, to, gate.package), &[]);
        Ok(())
    }

    /// Whoever waits has a person's answer, and goes on.
    fn answer_asker(&mut self, outcome: Outcome) {
        let caller = *self.frames.last().expect("somebody waits for the answer");
        let to = self.row(caller).to;
        let back = self.put(Kind::Return, human(), to, None);
        back.brings = Some(outcome);
        back.state = State::Ended;
        self.close_frame();
    }

    fn modified(&mut self, gate: &Gate, parcel: Option<(Parcel, u32)>) -> Said {
        let (parcel, serial) = parcel.ok_or("package_required")?;
        let (from, to) = gate.edge;
        let edge = self.flow.edges_from(from).iter().find(|it| it.to == to && !it.is_back);
        if edge.is_some_and(|it| !it.contract.takes(parcel, false)) {
            return Err("contract");
        }
        self.approved(gate, Some(parcel.serial(serial)));
        Ok(())
    }
}

fn takes(gate: &Gate, answer: &Answer) -> bool {
    let (asker, worker) = (gate.asker, gate.worker);
    // Nobody but the caller can take back what the caller waits for.
    let is_refused = is_delegate(asker.place) && asker.place == gate.forward.1 && worker != asker;
    let is_batons_own = asker.agent == ORCHESTRATOR;
    let answers: &[&str] = match gate.cause {
        _ if gate.stops == Stops::Nothing => &["approve", "reject"],
        Cause::Entries | Cause::Delegations => &["continue", "accept", "hand_to", "abort"],
        Cause::Rounds
        | Cause::SameFindings
        | Cause::Failure
        | Cause::Blocked
        | Cause::NeedsClarification => {
            if is_refused {
                &["continue", "abort"]
            } else {
                &["continue", "accept", "hand_to", "abort"]
            }
        }
        Cause::NeedsReview | Cause::Declared | Cause::Checks => {
            // Baton itself has no answer to a question.
            if gate.approval.is_some() && *answer == Answer::Modify {
                &[]
            } else if is_batons_own {
                &["approve", "reject", "modify", "abort"]
            } else {
                &["approve", "reject", "question", "modify", "abort"]
            }
        }
        Cause::Escalation => &["answer", "approve", "reject", "question", "abort"],
        Cause::Questions => &["answer", "abort"],
        Cause::LostLease | Cause::Releases | Cause::Expired => &["continue", "hand_to", "abort"],
    };
    answers.contains(&answer.name())
}

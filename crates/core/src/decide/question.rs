//! Ask and answer: the handoff waits, and the question goes to the party that can answer it.

use super::draft::{Draft, check_fence, require_agent, wrong_state};
use super::gate::{gate_when_stuck, human, open_gate};
use super::offer::{Offer, offer};
use super::person::only_a_person;
use crate::command::{Clarify, Reply};
use crate::event::{HandoffEvent, QuestionEvent};
use crate::gate::{Gate, GateCause};
use crate::names::{AgentId, FreeText};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, Party, State};

pub(super) fn clarify(draft: &mut Draft<'_>, clarify: &Clarify) -> Result<(), Refusal> {
    let handoff = draft.open_work(clarify.handoff)?;
    require_agent(&handoff.to.agent, clarify.by.as_ref(), "clarify", handoff.no)?;
    check_fence(&handoff, clarify.fence)?;
    match handoff.state {
        State::Pending | State::Accepted => {
            ask(draft, &handoff, &clarify.question);
            Ok(())
        }
        State::Clarification => {
            Err(wrong_state("clarify", &handoff, "its question has to be answered first"))
        }
        State::Parked => {
            Err(wrong_state("clarify", &handoff, "what it waits for has to come back first"))
        }
    }
}

/// The receiver asks the party that would get the work back; after too many questions, a person.
pub(super) fn ask(draft: &mut Draft<'_>, handoff: &Handoff, question: &FreeText) {
    let words = draft.keep(question.as_str());
    draft.done.handoff = Some(handoff.no);
    if handoff.n_questions >= draft.workflow().limits.questions {
        put(draft, handoff, &handoff.to);
        let about = Some(handoff.no);
        let gate = Gate {
            about,
            ..gate_when_stuck(GateCause::Questions, handoff, handoff.package, Some(words))
        };
        open_gate(draft, gate, about);
        return;
    }
    let asked = handoff.reject_to.as_ref().unwrap_or(&handoff.from);
    let asked = if asked.place.is_work() { asked.clone() } else { human() };
    put(draft, handoff, &handoff.to);
    let question = Offer {
        kind: Kind::Question,
        reason: Some(words),
        follows: Some(handoff.no),
        ..Offer::new(handoff.to.clone(), asked, None)
    };
    draft.done.question = Some(offer(draft, question));
}

/// A person at a gate asks the gate's asker.
pub(super) fn ask_back(draft: &mut Draft<'_>, row: &Handoff, gate: &Gate, question: &FreeText) {
    let words = draft.keep(question.as_str());
    put(draft, row, &human());
    let question = Offer {
        kind: Kind::Question,
        reason: Some(words),
        follows: Some(row.no),
        ..Offer::new(human(), gate.asker.clone(), None)
    };
    draft.done.handoff = Some(row.no);
    draft.done.question = Some(offer(draft, question));
}

/// The question is the next handoff to be created.
fn put(draft: &mut Draft<'_>, handoff: &Handoff, asker: &Party) {
    let question = HandoffNo(draft.run.n_handoffs + 1);
    let by = asker.agent.clone();
    draft.emit(QuestionEvent::Asked { handoff: handoff.no, question, by });
}

pub(super) fn reply(draft: &mut Draft<'_>, reply: &Reply) -> Result<(), Refusal> {
    let named = draft.open(reply.handoff)?;
    let question = question_of(draft, &named)?;
    // A person may always answer, whichever agent was asked; their fencing token is not checked.
    let is_persons = reply.by.as_ref().is_some_and(AgentId::is_human);
    if let Some(caller) = draft.ground.caller.filter(|_| is_persons) {
        only_a_person(draft, caller)?;
    }
    if !is_persons {
        require_agent(&question.to.agent, reply.by.as_ref(), "answer", question.no)?;
        // An answer needs no accept, so a question without a holder needs no fencing token.
        if question.state == State::Accepted || reply.fence.is_some() {
            check_fence(&question, reply.fence)?;
        }
    }
    settle(draft, &question, &reply.answer);
    Ok(())
}

/// Finds the open question by its own number, or by that of the handoff in question.
fn question_of(draft: &Draft<'_>, named: &Handoff) -> Result<Handoff, Refusal> {
    if named.kind == Kind::Question {
        return Ok(named.clone());
    }
    match named.question {
        Some(question) => draft.open_task(question),
        None => {
            draft.open_task(named.no)?;
            Err(Refusal::NotAQuestion { handoff: named.no })
        }
    }
}

/// Withdraws the open question about `handoff`: its answer is no longer needed.
pub(super) fn withdraw(draft: &mut Draft<'_>, handoff: &Handoff) {
    if let Some(question) = handoff.question {
        draft.emit(HandoffEvent::Cancelled { handoff: question, reason: None });
    }
}

/// Records the answer; the handoff in question waits for its receiver again.
pub(super) fn settle(draft: &mut Draft<'_>, question: &Handoff, answer: &FreeText) {
    let Some(about) = question.about else { return };
    let answer = draft.keep(answer.as_str());
    draft.emit(QuestionEvent::Answered { handoff: about, question: question.no, answer });
    draft.emit(HandoffEvent::Completed {
        handoff: question.no,
        outcome: Outcome::Success,
        package: None,
        answer: Some(answer),
    });
    draft.done.handoff = Some(about);
}

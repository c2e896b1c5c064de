//! A person answers a gate. Only this lets a run go past one, and only this gives rounds back.

use super::control;
use super::draft::Draft;
use super::offer::{AtOrchestrator, Offer, give_back, hand_over, offer};
use crate::command::GateAnswer;
use crate::content::ContentId;
use crate::event::Event;
use crate::gate::{Answer, Gate, GateCause};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, Kind, Party};
use crate::workflow::{Place, Target, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, answer: &GateAnswer) -> Result<(), Refusal> {
    let handoff = draft.open(answer.handoff)?;
    let Some(gate) = handoff.gate.clone() else {
        return Err(Refusal::NotAGate { handoff: handoff.no });
    };
    if !gate.choices().contains(&answer.answer.name()) {
        return Err(Refusal::NotAChoice {
            handoff: handoff.no,
            answer: answer.answer.name(),
            choices: gate.choices().join(", "),
        });
    }
    let next = next(draft, &gate, &answer.answer)?;
    let comment = answer.comment.as_ref().map(|it| draft.keep(it.as_str()));
    draft.emit(Event::GateAnswered {
        handoff: handoff.no,
        answer: answer.answer.clone(),
        by: answer.by.clone(),
        comment,
        n_extra: extra_rounds(draft, &gate, &answer.answer),
    });
    draft.emit(Event::HandoffCompleted {
        handoff: handoff.no,
        outcome: Outcome::Success,
        package: None,
        answer: None,
    });
    draft.done.handoff = Some(handoff.no);
    let made = carry_out(draft, &gate, next, comment, handoff.no, answer);
    draft.done.returned = made;
    Ok(())
}

/// What an answer leads to, settled before anything is written.
enum Next {
    /// To the worker again, or to another in its place.
    Work(Party),
    /// On along an edge.
    Along(Target, Party),
    Back,
    End,
}

fn next(draft: &Draft<'_>, gate: &Gate, answer: &Answer) -> Result<Next, Refusal> {
    match answer {
        Answer::Continue => Ok(Next::Work(gate.worker.clone())),
        Answer::HandTo(agent) => {
            if draft.ground.agents.find(agent).is_none() {
                return Err(Refusal::UnknownAgent { agent: agent.clone() });
            }
            Ok(Next::Work(Party { agent: agent.clone(), place: gate.worker.place.clone() }))
        }
        Answer::Accept => success_of(draft, gate),
        // The place was settled when the gate was opened; at the end it is the orchestrator's.
        Answer::Approve => {
            let target = match &gate.worker.place {
                Place::Step(step) => Target::Step(step.clone()),
                Place::Orchestrator | Place::Human | Place::Delegate(_) => Target::Complete,
            };
            Ok(Next::Along(target, gate.worker.clone()))
        }
        Answer::Reject => Ok(Next::Back),
        Answer::Abort => Ok(Next::End),
        Answer::Reply | Answer::Question | Answer::Modify => Err(Refusal::NotPaused),
    }
}

/// The asker's way on when the work is taken as it is.
fn success_of(draft: &Draft<'_>, gate: &Gate) -> Result<Next, Refusal> {
    let workflow = draft.workflow();
    let edges = workflow.edges_from(&gate.asker.place);
    let edge = edges.iter().find(|it| it.on == Outcome::Success && !it.is_back);
    let Some(edge) = edge else {
        return Err(Refusal::NotAnEdge {
            from: gate.asker.place.to_string(),
            to: AgentId::orchestrator(),
            known: "it has no edge on success".to_owned(),
        });
    };
    let place = Workflow::target_place(&edge.to);
    let agent = workflow.agents_at(&place).into_iter().next();
    let agent = agent.unwrap_or_else(AgentId::orchestrator);
    Ok(Next::Along(edge.to.clone(), Party { agent, place }))
}

fn carry_out(
    draft: &mut Draft<'_>,
    gate: &Gate,
    next: Next,
    comment: Option<ContentId>,
    follows: HandoffNo,
    answer: &GateAnswer,
) -> Option<HandoffNo> {
    match next {
        Next::Work(worker) => {
            let again = Offer {
                kind: Kind::Return,
                reason: comment.or(gate.reason),
                forward: gate.forward.clone(),
                follows: Some(follows),
                ..Offer::new(gate.asker.clone(), worker, gate.given)
            };
            Some(offer(draft, again))
        }
        Next::Along(target, to) => {
            let warnings = match answer.answer {
                Answer::Accept => waived(draft, gate, &target),
                Answer::Continue
                | Answer::HandTo(_)
                | Answer::Abort
                | Answer::Approve
                | Answer::Reject
                | Answer::Reply
                | Answer::Question
                | Answer::Modify => Vec::new(),
            };
            let onward = Offer {
                reason: comment,
                follows: Some(follows),
                approved_by: Some(answer.by.clone()),
                warnings,
                ..Offer::new(gate.asker.clone(), to, gate.package)
            };
            Some(hand_over(draft, onward, AtOrchestrator::of(&target)))
        }
        Next::Back => {
            let human = Party { agent: AgentId::human(), place: Place::Human };
            let reason = match comment.or(gate.reason) {
                Some(reason) => reason,
                None => draft.keep("Adjustments required"),
            };
            let forward = gate.forward.clone();
            let asker = gate.asker.clone();
            Some(give_back(draft, human, asker, gate.package, reason, forward, follows))
        }
        Next::End => {
            let reason = answer.comment.as_ref().and_then(|it| it.to_reason());
            control::cancel(draft, reason.as_ref());
            None
        }
    }
}

/// What is taken as it is keeps no contract: `approved_by` says on whose word, and this which.
fn waived(draft: &Draft<'_>, gate: &Gate, target: &Target) -> Vec<Problem> {
    let edges = draft.workflow().edges_from(&gate.asker.place);
    let edge = edges.iter().find(|it| it.on == Outcome::Success && it.to == *target);
    let contract = edge.and_then(|it| it.contract.as_ref());
    let waived = |name: &String| {
        Problem::new(name, "waived", "a person took the work as it is, whatever this asks for")
    };
    contract.into_iter().map(waived).collect()
}

/// As many rounds again as the edge had to begin with.
fn extra_rounds(draft: &Draft<'_>, gate: &Gate, answer: &Answer) -> u32 {
    let goes_on = match answer {
        Answer::Continue | Answer::HandTo(_) | Answer::Accept => true,
        Answer::Approve
        | Answer::Reject
        | Answer::Abort
        | Answer::Reply
        | Answer::Question
        | Answer::Modify => false,
    };
    match gate.cause {
        GateCause::Rounds | GateCause::SameFindings if goes_on => {
            draft.workflow().rounds_of(&gate.forward.from, &gate.forward.to)
        }
        GateCause::Rounds
        | GateCause::SameFindings
        | GateCause::Failure
        | GateCause::Blocked
        | GateCause::NeedsClarification
        | GateCause::NeedsReview
        | GateCause::Declared
        | GateCause::Checks
        | GateCause::Escalation
        | GateCause::Questions
        | GateCause::LostLease
        | GateCause::Expired => 0,
    }
}

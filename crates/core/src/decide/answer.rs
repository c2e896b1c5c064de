//! A person answers a gate. Only this opens a blocking gate, and only this grants more rounds.

use super::approvals;
use super::checks::target;
use super::control;
use super::draft::{Draft, wrong_state};
use super::edge::check_named;
use super::fork;
use super::frame;
use super::gate::{Onward, edge_of, human, past, through_gate};
use super::limit;
use super::offer::{AtOrchestrator, Offer, give_back, hand_over, offer};
use super::passed;
use super::person::{only_a_person, speaker_in};
use super::question;
use super::usage;
use crate::command::GateAnswer;
use crate::content::ContentId;
use crate::contract::Profile;
use crate::event::{BlockerEvent, FrameEvent, GateEvent, HandoffEvent, QuestionEvent};
use crate::gate::{Answer, Gate, GateCause, GateEdge, GateKind};
use crate::names::{AgentId, FreeText};
use crate::outcome::Outcome;
use crate::person::Speaker;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Blocker, Handoff, HandoffNo, Kind, Party, State};
use crate::workflow::{Edge, Place, Target, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, answer: &GateAnswer) -> Result<(), Refusal> {
    let handoff = draft.open(answer.handoff)?;
    if handoff.kind == Kind::Question {
        return answer_question(draft, &handoff, answer);
    }
    let Some(gate) = handoff.gate.clone() else {
        return Err(Refusal::NotAGate { handoff: handoff.no });
    };
    only_a_person(draft, &answer.by)?;
    if !gate.takes(&answer.answer) {
        return Err(not_a_choice(&handoff, answer, &gate.choices().join(", ")));
    }
    approvals::check(&handoff, &gate, answer)?;
    let words = words(&handoff, answer)?;
    if let (Answer::Question, Some(words)) = (&answer.answer, words) {
        if handoff.state == State::Clarification {
            let hint = "the question before has to be answered first";
            return Err(wrong_state("question", &handoff, hint));
        }
        question::ask_back(draft, &handoff, &gate, words);
        return Ok(());
    }
    let next = next(draft, &handoff, &gate, answer)?;
    let comment = draft.keep_words(answer.comment.as_ref());
    if answer.answer == Answer::Approve
        && gate.approval.is_some()
        && !approvals::approve(draft, &handoff, answer, comment)
    {
        draft.done.handoff = Some(handoff.no);
        return Ok(());
    }
    // A person who decides no longer needs the answer to their own question.
    question::withdraw(draft, &handoff);
    draft.emit(GateEvent::Answered {
        handoff: handoff.no,
        answer: answer.answer.clone(),
        by: answer.by.clone(),
        comment,
        n_extra: extra_rounds(draft, &gate, &answer.answer),
        resets: limit::resets(draft, &gate, &answer.answer),
        decisions: approvals::answered(draft, &handoff, answer),
    });
    settle_blockers(draft, &gate, answer, comment);
    draft.done.handoff = Some(handoff.no);
    let said = GateReply { row: handoff.no, comment, answer };
    draft.done.returned = carry_out(draft, &gate, next, &said);
    Ok(())
}

fn answer_question(
    draft: &mut Draft<'_>,
    question: &Handoff,
    answer: &GateAnswer,
) -> Result<(), Refusal> {
    if answer.answer != Answer::Reply {
        return Err(not_a_choice(question, answer, "answer"));
    }
    match speaker_in(&draft.run, draft.ground, &answer.by) {
        Speaker::Agent(agent) if agent == question.to.agent => {}
        Speaker::Agent(_) | Speaker::Reserved => {
            return Err(Refusal::NotAPerson { by: answer.by.clone() });
        }
        Speaker::Person => {}
    }
    if let Some(words) = words(question, answer)? {
        question::settle(draft, question, words);
    }
    Ok(())
}

/// The answer's text, where the answer requires one.
fn words<'a>(handoff: &Handoff, answer: &'a GateAnswer) -> Result<Option<&'a FreeText>, Refusal> {
    if answer.answer.needs_words() && answer.comment.is_none() {
        let (handoff, answer) = (handoff.no, answer.answer.name());
        return Err(Refusal::CommentRequired { handoff, answer });
    }
    Ok(answer.comment.as_ref())
}

fn not_a_choice(handoff: &Handoff, answer: &GateAnswer, choices: &str) -> Refusal {
    Refusal::NotAChoice {
        handoff: handoff.no,
        answer: answer.answer.name(),
        choices: choices.to_owned(),
    }
}

/// What an answer leads to, determined before any event is emitted.
enum Next {
    /// Back to the worker, or to another agent in its place.
    Work(Box<Offer>),
    /// On along an edge.
    Along(Target, Box<Offer>),
    /// To the people whose approvals that edge asks for: one person does not stand for them.
    Approvers(GateEdge, Box<Offer>),
    /// The work is not good: back to its sender.
    Back,
    /// The caller goes on at once, with this outcome.
    GoOn(HandoffNo, Outcome),
    /// The handoff in question waits for its receiver again.
    Answered(HandoffNo),
    /// Acknowledged; nothing else changes.
    Noted,
    /// The person objects to work that went on: it stops and goes back to its sender.
    Object(HandoffNo),
    End,
}

struct GateReply<'a> {
    row: HandoffNo,
    comment: Option<ContentId>,
    answer: &'a GateAnswer,
}

fn next(
    draft: &mut Draft<'_>,
    row: &Handoff,
    gate: &Gate,
    answer: &GateAnswer,
) -> Result<Next, Refusal> {
    let caller = draft.run.caller_of(row).cloned();
    match (&answer.answer, gate.kind, gate.cause) {
        // The program that waits for it reads the answer.
        (_, _, GateCause::Permission) => Ok(Next::Noted),
        (Answer::Approve, GateKind::Advisory, _) => Ok(Next::Noted),
        (Answer::Reject, GateKind::Advisory, _) => {
            Ok(gate.beside.map_or(Next::Noted, Next::Object))
        }
        (Answer::Reply | Answer::Approve, _, GateCause::Escalation) => {
            Ok(go_on(caller.as_ref(), Outcome::Success))
        }
        (Answer::Reject, _, GateCause::Escalation) => Ok(go_on(caller.as_ref(), Outcome::Failure)),
        (Answer::Reply, _, _) => Ok(gate.about.map_or(Next::Noted, Next::Answered)),
        (Answer::Continue, _, _) => {
            Ok(Next::Work(Box::new(work(gate, caller.as_ref(), gate.worker.clone()))))
        }
        (Answer::HandTo(agent), _, _) => {
            if draft.ground.agents.find(agent).is_none() {
                return Err(Refusal::UnknownAgent { agent: agent.clone() });
            }
            let place = match &gate.worker.place {
                Place::Delegate(_) => Place::Delegate(agent.clone()),
                place @ (Place::Step(_) | Place::Orchestrator | Place::Human) => place.clone(),
            };
            Ok(Next::Work(Box::new(work(
                gate,
                caller.as_ref(),
                Party { agent: agent.clone(), place },
            ))))
        }
        // The delegate will not improve on the result that the caller had sent back.
        (Answer::Accept, _, _) => match caller {
            Some(caller) => Ok(Next::GoOn(caller.no, Outcome::Success)),
            None => success_of(draft, gate),
        },
        // The place was set when the gate was opened; at the end it is the orchestrator's.
        (Answer::Approve, _, _) => Ok(Next::Along(target(gate), Box::new(approved(gate)))),
        (Answer::Modify, _, _) => modify(draft, row, gate, answer),
        (Answer::Reject, _, _) => Ok(Next::Back),
        (Answer::Abort, _, _) => Ok(Next::End),
        (Answer::Question, _, _) => Ok(Next::Noted),
    }
}

fn go_on(caller: Option<&Handoff>, outcome: Outcome) -> Next {
    caller.map_or(Next::Noted, |it| Next::GoOn(it.no, outcome))
}

/// Offers the worker its task again; in a frame, as a part of the caller's work. A stuck worker
/// gets it from the person; if the worker rejects it, it goes to its original sender.
fn work(gate: &Gate, caller: Option<&Handoff>, worker: Party) -> Offer {
    let forward = gate.forward.clone();
    match (caller, &worker.place) {
        // On its way into the step that it had come to too often.
        (None, _) if is_on_its_way(gate) => {
            let from = gate.sender.as_ref().unwrap_or(&gate.asker).clone();
            let kind = if from == gate.asker { Kind::Return } else { Kind::Sequential };
            let has_lost_lease = gate.has_lost_lease;
            Offer { kind, forward, has_lost_lease, ..Offer::new(from, worker, gate.given) }
        }
        (Some(caller), Place::Delegate(_)) if worker != caller.to => Offer {
            kind: Kind::Delegation,
            has_lost_lease: gate.has_lost_lease,
            ..Offer::new(caller.to.clone(), worker, gate.given)
        },
        (None, _) if gate.worker == gate.asker => Offer {
            kind: Kind::Return,
            forward,
            reject_to: gate.sender.clone(),
            has_lost_lease: gate.has_lost_lease,
            ..Offer::new(human(), worker, gate.given)
        },
        (caller, _) => Offer {
            kind: Kind::Return,
            forward,
            brings: caller.map(|_| Outcome::Failure),
            ..Offer::new(gate.asker.clone(), worker, gate.given)
        },
    }
}

/// Whether a limit stopped the work before it came to its step.
fn is_on_its_way(gate: &Gate) -> bool {
    let is_limit = matches!(gate.cause, GateCause::Entries | GateCause::RunLimit);
    is_limit || (gate.cause == GateCause::Budget && !gate.is_stuck())
}

/// The asker's success edge, when the work is accepted as it is.
fn success_of(draft: &Draft<'_>, gate: &Gate) -> Result<Next, Refusal> {
    let workflow = draft.workflow();
    let edges = workflow.edges_from(&gate.asker.place);
    let forward = || edges.iter().filter(|it| it.on == Outcome::Success && !it.is_back);
    // Accepted work leaves the cycle that it is in, where that is possible.
    let leaves = |it: &&Edge| !workflow.graph().is_way_round(&gate.asker.place, &it.to);
    let Some(edge) = forward().find(leaves).or_else(|| forward().next()) else {
        return Err(Refusal::NotAnEdge {
            from: gate.asker.place.to_string(),
            to: AgentId::orchestrator(),
            outcome: None,
            known: "it has no edge on success".to_owned(),
        });
    };
    // What comes to a join too often is let in: its branches are not done once more.
    let joins_at = edge.fan_out.as_ref().map(|it| &it.join);
    let is_joined = joins_at.is_some() && joins_at == gate.worker.place.as_step();
    let (target, place) = match is_joined {
        true => (target(gate), gate.worker.place.clone()),
        false => (edge.to.clone(), Workflow::target_place(&edge.to)),
    };
    let agents = workflow.agents_at(&place);
    let alike = workflow.agent_like(&agents, &gate.asker.agent);
    let agent = alike.or_else(|| agents.into_iter().next());
    let agent = agent.unwrap_or_else(AgentId::orchestrator);
    // Accepting work as it is waives the contract: this records which, the answer by whom.
    let waived = |name: &String| {
        Problem::new(name, "waived", "a person took the work as it is, whatever this asks for")
    };
    let warnings = edge.contract.iter().map(waived).collect();
    let on = Some(edge.on);
    let to = Party { agent, place };
    let onward = Offer { warnings, on, ..Offer::new(gate.asker.clone(), to, gate.package) };
    let has_approvers = edge.stopping_gate().is_some_and(|it| it.approvers.is_some());
    if has_approvers && !is_joined {
        return Ok(Next::Approvers(edge_of(&gate.asker.place, edge), Box::new(onward)));
    }
    Ok(Next::Along(target, Box::new(onward)))
}

fn approved(gate: &Gate) -> Offer {
    let told_warnings = gate.warnings.clone();
    Offer { told_warnings, ..past(gate, gate.package) }
}

/// Hands on the person's own package instead of the sender's, which stays with the gate.
fn modify(
    draft: &mut Draft<'_>,
    row: &Handoff,
    gate: &Gate,
    answer: &GateAnswer,
) -> Result<Next, Refusal> {
    let Some(package) = &answer.package else {
        return Err(Refusal::PackageRequired { handoff: row.no });
    };
    // Lenient whatever the edge says: only the person could fix their own package.
    let contract = gate.edge_in(draft.workflow()).and_then(|it| it.contract.as_ref());
    let warnings = check_named(draft, contract, package, Profile::Lenient)?;
    let package = Some(draft.keep_package(package));
    let onward = Offer { warnings, ..past(gate, package) };
    Ok(Next::Along(target(gate), Box::new(onward)))
}

fn carry_out(
    draft: &mut Draft<'_>,
    gate: &Gate,
    next: Next,
    said: &GateReply<'_>,
) -> Option<HandoffNo> {
    let (row, comment) = (said.row, said.comment);
    draft.complete(row, Outcome::Success, None);
    let by = &said.answer.by;
    match next {
        Next::Work(again) => {
            passed::waive(draft, &again.to.place, by, comment);
            let reason = match comment {
                Some(comment) => comment,
                // The agent's reason is not the person's.
                None if again.from.agent.is_human() => draft.keep(GIVEN_AGAIN),
                None => gate.reason.unwrap_or_else(|| draft.keep(GIVEN_AGAIN)),
            };
            let reason = Some(reason);
            Some(fork::send(draft, Offer { reason, follows: Some(row), ..*again }))
        }
        Next::Along(target, onward) => {
            match &target {
                Target::Step(_) => passed::waive(draft, &onward.to.place, by, comment),
                Target::Complete => passed::waive_end(draft, by, comment),
            }
            let onward = Offer {
                reason: comment,
                follows: Some(row),
                approved_by: Some(said.answer.by.clone()),
                ..*onward
            };
            Some(hand_over(draft, onward, AtOrchestrator::of(&target)))
        }
        Next::Approvers(GateEdge { from, to, on }, onward) => {
            let edge = draft.workflow().edge_between(&from, &to, on)?;
            let offer = Offer { reason: comment, follows: Some(row), ..*onward };
            let work = Onward {
                offer,
                then: AtOrchestrator::of(&edge.to),
                came_by: gate.forward.clone(),
                evidence: &[],
                asker: None,
                from,
                doubt: None,
            };
            Some(through_gate(draft, edge, work))
        }
        Next::Back => {
            passed::waive(draft, &gate.asker.place, by, comment);
            Some(back(draft, gate, comment, row))
        }
        Next::GoOn(caller, outcome) => go_on_at_once(draft, gate, caller, outcome, said),
        Next::Answered(handoff) => {
            let words = comment.or(gate.reason)?;
            draft.emit(QuestionEvent::Answered { handoff, question: row, answer: words });
            None
        }
        Next::Noted => None,
        Next::Object(beside) => {
            frame::clear_inside(draft, beside, comment);
            draft.emit(HandoffEvent::Superseded { handoff: beside, reason: comment });
            passed::waive(draft, &gate.asker.place, by, comment);
            Some(back(draft, gate, comment, row))
        }
        Next::End => {
            let reason = said.answer.comment.as_ref().and_then(FreeText::to_reason);
            control::cancel(draft, reason.as_ref());
            None
        }
    }
}

/// The reason of a handoff from a person who gave no comment.
const SENT_BACK: &str = "A person rejected it, without a comment";
const GIVEN_AGAIN: &str = "A person gives the work again, without a comment";

/// The same for an answer that the asker waits for.
fn without_comment(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve => "A person approved it, without a comment",
        Answer::Accept => "A person accepted it as it is, without a comment",
        Answer::Reject => SENT_BACK,
        Answer::Continue | Answer::HandTo(_) => GIVEN_AGAIN,
        // The first two need words, and the others give the asker nothing.
        Answer::Reply | Answer::Question | Answer::Modify | Answer::Abort => "A person answered",
    }
}

/// Returns the work to its sender, with the person's comment.
fn back(
    draft: &mut Draft<'_>,
    gate: &Gate,
    comment: Option<ContentId>,
    follows: HandoffNo,
) -> HandoffNo {
    // The gate's reason is the agent's: it must not be recorded as the person's.
    let reason = comment.unwrap_or_else(|| draft.keep(SENT_BACK));
    let (asker, forward) = (gate.asker.clone(), gate.forward.clone());
    give_back(draft, human(), asker, gate.package, reason, forward, follows)
}

/// A person's answer needs no accept: the asker was waiting for it.
fn go_on_at_once(
    draft: &mut Draft<'_>,
    gate: &Gate,
    caller: HandoffNo,
    outcome: Outcome,
    said: &GateReply<'_>,
) -> Option<HandoffNo> {
    let waiting = draft.run.handoff(caller)?.to.clone();
    let by = waiting.agent.clone();
    let reason = match said.comment {
        Some(comment) => comment,
        None => draft.keep(without_comment(&said.answer.answer)),
    };
    let answer = Offer {
        kind: Kind::Return,
        reason: Some(reason),
        forward: gate.forward.clone(),
        follows: Some(said.row),
        brings: Some(outcome),
        ..Offer::new(human(), waiting, None)
    };
    let handoff = offer(draft, answer);
    draft.emit(HandoffEvent::Accepted {
        handoff,
        by,
        is_implicit: true,
        acknowledgement: None,
        holder: None,
    });
    draft.complete(handoff, outcome, None);
    draft.emit(FrameEvent::Closed { caller, outcome });
    Some(handoff)
}

/// `continue` resolves the blockers; accepting or reassigning the work waives them.
fn settle_blockers(
    draft: &mut Draft<'_>,
    gate: &Gate,
    answer: &GateAnswer,
    words: Option<ContentId>,
) {
    if gate.cause != GateCause::Blocked {
        return;
    }
    let by = &answer.by;
    let is_own = |it: &&Blocker| it.branch == draft.branch;
    let open: Vec<u32> = draft.run.blockers.iter().filter(is_own).map(|it| it.no).collect();
    for blocker in open {
        match answer.answer {
            Answer::Continue => {
                draft.emit(BlockerEvent::Resolved { blocker, by: by.clone(), how: words });
            }
            Answer::Accept | Answer::HandTo(_) => {
                draft.emit(BlockerEvent::Waived { blocker, by: by.clone(), why: words });
            }
            Answer::Abort
            | Answer::Approve
            | Answer::Reject
            | Answer::Reply
            | Answer::Question
            | Answer::Modify => {}
        }
    }
}

/// As many rounds again as the edge's limit.
fn extra_rounds(draft: &Draft<'_>, gate: &Gate, answer: &Answer) -> u32 {
    if let (Some(edge), GateCause::Checks | GateCause::NoProgress) = (&gate.edge, gate.cause) {
        let is_limit = gate.limit.is_some() || gate.cause == GateCause::NoProgress;
        let is_over = *answer == Answer::Abort || !is_limit;
        return if is_over { 0 } else { draft.workflow().rounds_of(&edge.from, &edge.to) };
    }
    let goes_on = matches!(answer, Answer::Continue | Answer::HandTo(_) | Answer::Accept);
    if let (GateCause::Budget, Some(reached)) = (gate.cause, &gate.budget) {
        return if goes_on { usage::budgets_to_grant(draft, &reached.of, gate) } else { 0 };
    }
    if matches!(gate.cause, GateCause::RunLimit | GateCause::Budget) {
        return u32::from(goes_on);
    }
    let is_about_rounds =
        matches!(gate.cause, GateCause::Rounds | GateCause::SameFindings | GateCause::NoProgress);
    if !goes_on || !is_about_rounds {
        return 0;
    }
    draft.workflow().rounds_of(&gate.forward.from, &gate.forward.to)
}

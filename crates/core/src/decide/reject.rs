//! Reject: the work goes back, with the reason. Rounds are counted on the edge it came by, and a
//! person is asked before it goes in circles.

use super::detour;
use super::draft::{Draft, check_fence, require_agent};
use super::frame::{self, Brought};
use super::gate::{gate_between, gate_when_stuck, open_gate};
use super::limit;
use super::offer::{AtOrchestrator, Offer, hand_over, offer};
use super::passed;
use super::route::FinishedWork;
use crate::command::Reject;
use crate::content::ContentId;
use crate::detour::Detour;
use crate::event::{HandoffEvent, StepEntry, StepEvent};
use crate::gate::{Gate, GateCause, ReachedLimit};
use crate::hash::Hash;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{EdgeKey, Handoff, HandoffNo, Kind, Party, State};
use crate::workflow::{Edge, Place, RejectRule, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, reject: &Reject) -> Result<(), Refusal> {
    let handoff = draft.open_end(reject.handoff)?;
    require_agent(&handoff.to.agent, reject.by.as_ref(), "reject", handoff.no)?;
    check_fence(&handoff, reject.fence)?;
    match handoff.state {
        // Rejecting late is welcome: it says more than silence does.
        State::Pending | State::Clarification | State::Accepted | State::Parked => {}
    }
    if let Some(detour) = &handoff.detour {
        refuse_detour(draft, &handoff, detour, reject);
        return Ok(());
    }
    let to = return_to(draft, &handoff)?;
    passed::check(draft, &to.place)?;
    let reason = draft.keep(reject.reason.as_str());
    draft.done.handoff = Some(handoff.no);
    frame::clear_inside(draft, handoff.no, Some(reason));
    let part_of = draft.run.caller_of(&handoff).cloned();
    match send_back(draft, &handoff, &to, reason, None) {
        Some(cause) => {
            let gate = round_gate(draft, cause, &handoff, to, handoff.package, reason);
            open_gate(draft, gate, Some(handoff.no));
        }
        // A person's package cannot go back to them as work: they are asked instead.
        None if to.place == Place::Human => {
            let package = handoff.package;
            let gate = gate_when_stuck(GateCause::Blocked, &handoff, package, Some(reason));
            open_gate(draft, gate, Some(handoff.no));
        }
        None => {
            let returned = match part_of {
                Some(caller) => back_in_frame(draft, &handoff, &caller, to, reason),
                None => back_to_step(draft, &handoff, to, reason),
            };
            draft.done.returned = Some(returned).filter(|_| draft.done.gate.is_none());
        }
    }
    Ok(())
}

/// A resolver cannot help: a person is asked about the blockers.
fn refuse_detour(draft: &mut Draft<'_>, handoff: &Handoff, detour: &Detour, reject: &Reject) {
    let reason = draft.keep(reject.reason.as_str());
    draft.done.handoff = Some(handoff.no);
    frame::clear_inside(draft, handoff.no, Some(reason));
    draft.emit(HandoffEvent::Rejected {
        handoff: handoff.no,
        by: handoff.to.agent.clone(),
        reason,
        forward: handoff.forward.clone(),
        findings: None,
    });
    detour::ask_a_person(draft, detour, Some(reason), handoff.no);
}

/// The orchestrator cannot work: there the baton is loose.
fn back_to_step(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    to: Party,
    reason: ContentId,
) -> HandoffNo {
    let back = Offer {
        kind: Kind::Return,
        reason: Some(reason),
        forward: handoff.forward.clone(),
        follows: Some(handoff.no),
        entry: Some(StepEntry::Rework { findings: None }),
        ..Offer::new(handoff.to.clone(), to, handoff.package)
    };
    hand_over(draft, back, AtOrchestrator::LiesLoose)
}

/// The delegate refuses the task, or the caller refuses the result.
fn back_in_frame(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    caller: &Handoff,
    to: Party,
    reason: ContentId,
) -> HandoffNo {
    match handoff.kind {
        Kind::Return => {
            let again = Offer {
                kind: Kind::Delegation,
                reason: Some(reason),
                follows: Some(handoff.no),
                ..Offer::new(handoff.to.clone(), to, handoff.package)
            };
            offer(draft, again)
        }
        Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => {
            let brought = Brought {
                outcome: Outcome::Failure,
                package: handoff.package,
                reason: Some(reason),
                warnings: Vec::new(),
            };
            frame::give_back(draft, handoff, caller, brought)
        }
    }
}

/// A create along a back edge: equivalent to a reject, but with the sender's own package.
pub(super) fn by_back_edge(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    edge: &Edge,
    agent: AgentId,
    work: &FinishedWork<'_>,
    warnings: Vec<Problem>,
) {
    let stated = work.stated_reason().map(|it| it.as_str().to_owned());
    let words = stated.or_else(|| work.package.findings_in_words());
    let reason = draft.keep(words.as_deref().unwrap_or("sent back without a reason"));
    let package = draft.keep_package(work.package);
    let findings = work.package.trouble_hash();
    let to = Party { agent, place: Workflow::target_place(&edge.to) };
    match send_back(draft, handoff, &to, reason, findings) {
        Some(cause) => {
            let gate = round_gate(draft, cause, handoff, to, Some(package), reason);
            draft.done.handoff = Some(open_gate(draft, gate, Some(handoff.no)));
        }
        None => {
            let offer = Offer {
                kind: Kind::Return,
                reason: Some(reason),
                forward: handoff.forward.clone(),
                follows: Some(handoff.no),
                warnings,
                entry: limit::entry_along(edge, Some(work.package)),
                ..Offer::new(handoff.to.clone(), to, Some(package))
            };
            draft.done.handoff = Some(hand_over(draft, offer, AtOrchestrator::of(&edge.to)));
        }
    }
}

/// Ends the handoff as rejected and counts the round. Returns why a person has to decide now.
fn send_back(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    to: &Party,
    reason: ContentId,
    findings: Option<Hash>,
) -> Option<GateCause> {
    let forward = handoff.forward.clone();
    let before = draft.rounds(&forward).cloned();
    draft.emit(HandoffEvent::Rejected {
        handoff: handoff.no,
        by: handoff.to.agent.clone(),
        reason,
        forward: forward.clone(),
        findings,
    });
    if let (State::Accepted | State::Parked, Place::Step(step)) = (handoff.state, &handoff.to.place)
    {
        let (step, agent) = (step.clone(), handoff.to.agent.clone());
        let (outcome, is_rejected) = (Outcome::Failure, true);
        draft.emit(StepEvent::Completed { step, agent, outcome, is_rejected });
    }
    if !to.place.is_work() {
        // With the orchestrator the baton is loose, and a person is asked anyway.
        return None;
    }
    let is_same_tree =
        before.as_ref().is_some_and(|it| it.tree.is_some() && it.tree == handoff.tree);
    let enough = is_enough(draft, &forward, before.and_then(|it| it.findings));
    enough.or(is_same_tree.then_some(GateCause::NoProgress))
}

/// Counts work that goes back where no handoff is rejected for it: along a back edge from a loose
/// baton, or by superseding a handoff. Returns why a person has to decide now.
pub(super) fn count_round(
    draft: &mut Draft<'_>,
    forward: &EdgeKey,
    package: &Package,
) -> Option<GateCause> {
    let before = draft.rounds(forward).and_then(|it| it.findings);
    let findings = package.trouble_hash();
    let branch = draft.branch;
    draft.emit(StepEvent::RoundCounted { forward: forward.clone(), findings, branch });
    is_enough(draft, forward, before)
}

/// Counts work that an agent takes up again at an earlier step, without findings: the findings of
/// the last review are kept.
pub(super) fn count_return(draft: &mut Draft<'_>, forward: &EdgeKey) -> Option<GateCause> {
    let findings = draft.rounds(forward).and_then(|it| it.findings);
    let branch = draft.branch;
    draft.emit(StepEvent::RoundCounted { forward: forward.clone(), findings, branch });
    is_too_often(draft, forward).then_some(GateCause::Rounds)
}

/// Whether the last round exceeded the limit, or had the same findings as the one before it.
pub(super) fn is_enough(
    draft: &Draft<'_>,
    forward: &EdgeKey,
    before: Option<Hash>,
) -> Option<GateCause> {
    if is_too_often(draft, forward) {
        return Some(GateCause::Rounds);
    }
    let rounds = draft.rounds(forward)?;
    let is_same = rounds.findings.is_some() && before == rounds.findings;
    is_same.then_some(GateCause::SameFindings)
}

fn is_too_often(draft: &Draft<'_>, forward: &EdgeKey) -> bool {
    let most = draft.workflow().rounds_of(&forward.from, &forward.to);
    draft.rounds(forward).is_some_and(|it| it.n > most + it.n_extra)
}

/// How often work went back along an edge before now, and how often it may.
pub(super) fn rounds_used(draft: &Draft<'_>, forward: &EdgeKey) -> Option<ReachedLimit> {
    let rounds = draft.rounds(forward)?;
    let most = draft.workflow().rounds_of(&forward.from, &forward.to) + rounds.n_extra;
    Some(ReachedLimit { n: rounds.n.saturating_sub(1), most })
}

fn round_gate(
    draft: &Draft<'_>,
    cause: GateCause,
    rejected: &Handoff,
    worker: Party,
    given: Option<ContentId>,
    reason: ContentId,
) -> Gate {
    let (asker, package) = (rejected.to.clone(), rejected.package);
    let limit = rounds_used(draft, &rejected.forward).filter(|_| cause == GateCause::Rounds);
    Gate {
        given,
        limit,
        ..gate_between(cause, asker, worker, package, Some(reason), &rejected.forward)
    }
}

fn return_to(draft: &Draft<'_>, handoff: &Handoff) -> Result<Party, Refusal> {
    // A step's reject rule applies to work that came along its edges, not to a delegate's result.
    if frame::is_return(draft, handoff) {
        return Ok(handoff.from.clone());
    }
    let step = draft.step_at(&handoff.to.place);
    match step.map(|it| (&it.id, &it.reject)) {
        Some((step, RejectRule::Never)) => Err(Refusal::RejectNever { step: step.clone() }),
        Some((_, RejectRule::To(target))) => {
            let place = Place::Step(target.clone());
            let agent = draft.workflow().agents_at(&place).first().cloned();
            Ok(agent.map_or_else(|| handoff.from.clone(), |agent| Party { agent, place }))
        }
        Some((_, RejectRule::ToSender)) | None => {
            Ok(handoff.reject_to.as_ref().unwrap_or(&handoff.from).clone())
        }
    }
}

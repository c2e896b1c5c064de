//! Complete: the only way out of a held baton. The outcome picks the edge, and the next handoff is
//! created in the same decision.

use super::accept;
use super::detour;
use super::draft::{Draft, check_fence, require_agent, wrong_state};
use super::edge::{check_contract, check_implied, check_named};
use super::frame::{self, Brought};
use super::gate::{
    Onward, doubt, edge_of, gate_between, gate_when_stuck, onward, open_gate, open_gate_from,
    orchestrator,
};
use super::last;
use super::lease;
use super::limit;
use super::offer::{AtOrchestrator, Offer, hand_over, offer};
use super::reject;
use super::route::{FinishedWork, Route, is_trouble, route, routed_by_outcome};
use super::skip;
use crate::acknowledgement;
use crate::command::{Complete, Create};
use crate::content::ContentId;
use crate::contract::ImpliedWay;
use crate::contract::Profile;
use crate::event::{BlockerEvent, StepEvent};
use crate::evidence::Evidence;
use crate::gate::{Gate, GateCause, GateKind};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::{Package, RetryClass};
use crate::refusal::Refusal;
use crate::run::{EdgeKey, Handoff, Kind, Party, RunStatus, State};
use crate::workflow::{Edge, Place, Step, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, complete: &Complete) -> Result<(), Refusal> {
    let handoff = draft.open_work(complete.handoff)?;
    require_agent(&handoff.to.agent, complete.by.as_ref(), "complete", handoff.no)?;
    let work = FinishedWork {
        package: &complete.package,
        outcome: Some(complete.outcome),
        to: complete.to.as_ref().map(|it| &it.first),
        others: complete.to.as_ref().map_or(&[], |it| &it.others),
        way: None,
        may_be_part: false,
        reason: complete.reason.clone(),
        fence: complete.fence,
        profile: complete.profile,
    };
    finish(draft, &handoff, &work)
}

/// Completes work on an external signal, where only the end of the run is left.
pub(super) fn by_signal(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    package: &Package,
) -> Result<(), Refusal> {
    let work = FinishedWork {
        package,
        outcome: Some(Outcome::Success),
        to: None,
        others: &[],
        way: None,
        may_be_part: false,
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    };
    finish(draft, handoff, &work)
}

/// Completes the receiver's work when it sends [`Create`].
pub(super) fn by_create(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    create: &Create,
) -> Result<(), Refusal> {
    let work = FinishedWork {
        package: &create.package,
        outcome: create.outcome,
        to: Some(&create.to),
        others: &[],
        way: create.way,
        may_be_part: true,
        reason: create.reason.clone(),
        fence: create.token.map(|it| it.fence),
        profile: create.profile,
    };
    finish(draft, handoff, &work)
}

fn finish(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    work: &FinishedWork<'_>,
) -> Result<(), Refusal> {
    check_fence(handoff, work.fence)?;
    let own = accept::work_behind(draft, handoff);
    last::check(draft, &own, work.package)?;
    let route = enough_help(draft, route(draft, &own, work)?);
    draft.done.warnings.extend(routed_by_outcome(draft, &own, work));
    let profile = route.profile(draft.workflow()).unwrap_or(work.profile);
    // The current state: handing on without an accept is an implicit accept.
    let held = &hold(draft, handoff, profile)?;
    match route {
        Route::Edge(_, edge, agent) if edge.is_back => {
            let warnings = check_contract(draft, edge, work.package, work.profile)?;
            reject::by_back_edge(draft, held, edge, agent, work, warnings);
            Ok(())
        }
        Route::Edge(step, edge, agent) => along(draft, held, step, edge, agent, work),
        Route::Review(step, edge, agent) => review(draft, held, step, edge, agent, work),
        Route::Error(step) => {
            let warnings = check_implied(draft, ImpliedWay::Error, work.package, profile)?;
            let package = draft.keep_package(work.package);
            let outcome = work.outcome.unwrap_or(Outcome::Failure);
            end_step(draft, held, step, outcome, Some(package));
            let next = Offer {
                reason: trouble(draft, work),
                follows: Some(held.no),
                warnings,
                ..Offer::new(held.to.clone(), orchestrator(), Some(package))
            };
            draft.done.handoff = Some(hand_over(draft, next, AtOrchestrator::Failed));
            Ok(())
        }
        Route::PassOn(step, edge, agent) => skip::pass_on(draft, held, step, edge, agent, work),
        Route::Retry(step) => {
            retry_or_ask(draft, held, step, work);
            Ok(())
        }
        Route::Ask(step, cause, outcome) => {
            let way = match outcome {
                Outcome::Blocked => Some(ImpliedWay::Blocked),
                Outcome::NeedsClarification => Some(ImpliedWay::Clarification),
                Outcome::Success
                | Outcome::Failure
                | Outcome::NeedsReview
                | Outcome::Skipped
                | Outcome::Unknown => None,
            };
            if let Some(way) = way {
                let warnings = check_implied(draft, way, work.package, profile)?;
                draft.done.warnings.extend(warnings);
            }
            ask(draft, held, step, work, cause, outcome);
            Ok(())
        }
        Route::Delegate(agent, contract) => delegate(draft, held, agent, contract, work, profile),
        Route::Escalate => escalate(draft, held, work, profile),
        Route::Return(caller, contract) => give_back(draft, held, &caller, contract, work, profile),
        Route::Detour(step, agent) => {
            let warnings = check_implied(draft, ImpliedWay::Blocked, work.package, profile)?;
            draft.done.warnings.extend(warnings);
            let package = draft.keep_package(work.package);
            end_step(draft, held, step, Outcome::Blocked, Some(package));
            let reason = trouble(draft, work);
            draft.done.handoff = Some(detour::send(draft, held, work, agent, package, reason));
            Ok(())
        }
        Route::Resolved(detour) => {
            detour::resolve(draft, held, &detour, work);
            Ok(())
        }
        Route::Unresolved(detour, outcome) => {
            let package = draft.keep_package(work.package);
            draft.complete(held.no, outcome, Some(package));
            let words = trouble(draft, work);
            draft.done.handoff = Some(detour::ask_a_person(draft, &detour, words, held.no));
            Ok(())
        }
    }
}

/// A blocked step goes to a person once agents have been sent to help as often as it allows.
fn enough_help<'a>(draft: &Draft<'_>, route: Route<'a>) -> Route<'a> {
    if let Route::Edge(step, edge, _) = &route
        && edge.on == Outcome::Blocked
        && limit::blocks_reached(draft, step).is_some()
    {
        return Route::Ask(step, GateCause::Blocked, Outcome::Blocked);
    }
    route
}

fn along(
    draft: &mut Draft<'_>,
    held: &Handoff,
    step: &Step,
    edge: &Edge,
    agent: AgentId,
    work: &FinishedWork<'_>,
) -> Result<(), Refusal> {
    let warnings = check_contract(draft, edge, work.package, work.profile)?;
    let package = draft.keep_package(work.package);
    end_step(draft, held, step, edge.on, Some(package));
    let to = Party { agent, place: Workflow::target_place(&edge.to) };
    let offer = Offer {
        reason: draft.keep_some(work.reason.as_ref()),
        follows: Some(held.no),
        warnings,
        entry: limit::entry_along(edge, Some(work.package)),
        ..Offer::new(held.to.clone(), to, Some(package))
    };
    hand_on(draft, held, edge, offer, Some(work.package));
    Ok(())
}

/// On along an edge, through its gate if it has one.
pub(super) fn hand_on(
    draft: &mut Draft<'_>,
    held: &Handoff,
    edge: &Edge,
    offer: Offer,
    package: Option<&Package>,
) {
    let then = AtOrchestrator::of(&edge.to);
    let came_by = held.forward.clone();
    let from = held.to.place.clone();
    let doubt = package.and_then(|it| doubt(edge, it));
    // Receipt checks say nothing about the outgoing work, and neither do results recorded before
    // the present holder accepted.
    let is_own = |it: &&Evidence| it.fence.is_none_or(|fence| fence == held.fence);
    let evidence: Vec<Evidence> = held
        .evidence
        .iter()
        .filter(|it| !acknowledgement::is_receipt(&it.check))
        .filter(is_own)
        .cloned()
        .collect();
    let work = Onward { offer, then, came_by, evidence: &evidence, asker: None, from, doubt };
    draft.done.handoff = Some(onward(draft, edge, work));
}

fn review(
    draft: &mut Draft<'_>,
    held: &Handoff,
    step: &Step,
    edge: &Edge,
    agent: AgentId,
    work: &FinishedWork<'_>,
) -> Result<(), Refusal> {
    let warnings = check_contract(draft, edge, work.package, work.profile)?;
    let package = draft.keep_package(work.package);
    end_step(draft, held, step, Outcome::NeedsReview, Some(package));
    let reason = work.stated_reason().map(|it| draft.keep(it.as_str()));
    let to = Party { agent, place: Workflow::target_place(&edge.to) };
    let cause = match &edge.gate {
        Some(gate) if gate.kind != GateKind::Advisory => GateCause::Declared,
        Some(_) | None => GateCause::NeedsReview,
    };
    let asker = held.to.clone();
    let gate = Gate {
        edge: Some(edge_of(&asker.place, edge)),
        warnings: warnings.iter().map(|it| format!("{} {}", it.rule, it.path)).collect(),
        ..gate_between(cause, asker, to, Some(package), reason, &held.forward)
    };
    draft.done.warnings.extend(warnings);
    draft.done.handoff = Some(open_gate(draft, gate, Some(held.no)));
    Ok(())
}

/// The sender must hold the baton, or accepts implicitly by handing on. Returns the handoff that
/// the sender holds.
fn hold(draft: &mut Draft<'_>, handoff: &Handoff, profile: Profile) -> Result<Handoff, Refusal> {
    match handoff.state {
        State::Accepted => Ok(handoff.clone()),
        State::Pending => match profile {
            Profile::Strict => Err(Refusal::AcceptFirst { handoff: handoff.no }),
            Profile::Lenient => {
                accept::check_offered(draft, handoff)?;
                if draft.run.status == RunStatus::Paused {
                    return Err(Refusal::Paused);
                }
                let held = accept::implicitly(draft, handoff);
                draft.open(held)
            }
        },
        State::Clarification => {
            Err(wrong_state("complete", handoff, "its question has to be answered first"))
        }
        State::Parked => {
            let whereabouts = draft.whereabouts();
            Err(Refusal::FrameOpen { handoff: handoff.no, whereabouts })
        }
    }
}

fn retry_or_ask(draft: &mut Draft<'_>, held: &Handoff, step: &Step, work: &FinishedWork<'_>) {
    let class = work.package.retry_class();
    if class == RetryClass::Permanent {
        ask(draft, held, step, work, GateCause::Unrecoverable, Outcome::Failure);
        return;
    }
    // The same error twice in a row: a third attempt would bring it again. What passes by itself may
    // well say the same until it has passed.
    let failure = work.package.error_hash();
    if failure.is_some() && held.failure == failure && class == RetryClass::Unclear {
        ask(draft, held, step, work, GateCause::NoProgress, Outcome::Failure);
        return;
    }
    if held.attempt > draft.workflow().retries_at(&held.to.place) {
        ask(draft, held, step, work, GateCause::Failure, Outcome::Failure);
        return;
    }
    let package = draft.keep_package(work.package);
    end_step(draft, held, step, Outcome::Failure, Some(package));
    let reason = trouble(draft, work);
    let held_back_until = match class {
        RetryClass::Transient => lease::after_back_off(draft, held.attempt),
        RetryClass::Permanent | RetryClass::Unclear => None,
    };
    let again = Offer::retry(draft, held);
    let reason = reason.or(again.rework_reason);
    let again = Offer { reason, held_back_until, failure, ..again };
    draft.done.handoff = Some(offer(draft, again));
}

fn ask(
    draft: &mut Draft<'_>,
    held: &Handoff,
    step: &Step,
    work: &FinishedWork<'_>,
    cause: GateCause,
    outcome: Outcome,
) {
    let package = draft.keep_package(work.package);
    end_step(draft, held, step, outcome, Some(package));
    let reason = trouble(draft, work);
    // Only where an agent would have been sent to help.
    let has_table = !draft.workflow().routing.rows.is_empty();
    let has_help = has_table || step.edges_on(Outcome::Blocked).next().is_some();
    let is_blocked = cause == GateCause::Blocked && has_help;
    let limit = limit::blocks_reached(draft, step).filter(|_| is_blocked);
    let gate = Gate { limit, ..gate_when_stuck(cause, held, Some(package), reason) };
    let follows = Some(held.no);
    draft.done.handoff = Some(if cause == GateCause::Blocked {
        // The orchestrator asks: the blocked agent is done until the blockers are resolved.
        raise_blockers(draft, held, work);
        open_gate_from(draft, orchestrator(), gate, follows)
    } else {
        open_gate(draft, gate, follows)
    });
}

/// Why the step did not end well: the stated reason, else the error or what blocks it.
fn trouble(draft: &mut Draft<'_>, work: &FinishedWork<'_>) -> Option<ContentId> {
    let stated = work.stated_reason().map(|it| it.as_str().to_owned());
    let words = stated.or_else(|| work.package.trouble_in_words())?;
    Some(draft.keep(&words))
}

/// The package's blockers, else the stated reason, else a generic one.
pub(super) fn raise_blockers(draft: &mut Draft<'_>, held: &Handoff, work: &FinishedWork<'_>) {
    let mut named = work.package.blockers();
    if named.is_empty() {
        let said = work.stated_reason().map(|it| it.as_str().to_owned());
        let said = said.or_else(|| work.package.trouble_in_words());
        named.push(said.unwrap_or_else(|| GateCause::Blocked.sentence().to_owned()));
    }
    for words in named {
        let about = draft.keep(&words);
        let blocker = draft.run.n_blockers + 1;
        let (by, branch) = (held.to.agent.clone(), draft.branch);
        draft.emit(BlockerEvent::Raised { blocker, handoff: held.no, by, about, branch });
    }
}

fn delegate(
    draft: &mut Draft<'_>,
    held: &Handoff,
    agent: AgentId,
    contract: Option<&String>,
    work: &FinishedWork<'_>,
    profile: Profile,
) -> Result<(), Refusal> {
    let limit = limit::delegations_reached(draft, held);
    frame::open_counted(draft, held.no)?;
    let warnings = check_named(draft, contract, work.package, profile)?;
    let part = Offer {
        kind: Kind::Delegation,
        reason: draft.keep_some(work.reason.as_ref()),
        follows: Some(held.no),
        warnings,
        ..Offer::new(
            held.to.clone(),
            Party { place: Place::Delegate(agent.clone()), agent },
            Some(draft.keep_package(work.package)),
        )
    };
    draft.done.handoff = Some(match limit {
        None => offer(draft, part),
        Some(limit) => {
            let gate = Gate {
                limit: Some(limit),
                warnings: part.warning_words(),
                ..gate_between(
                    GateCause::Delegations,
                    part.from,
                    part.to,
                    part.package,
                    part.reason,
                    &part.forward,
                )
            };
            draft.done.warnings.extend(part.warnings);
            open_gate(draft, gate, part.follows)
        }
    });
    Ok(())
}

fn escalate(
    draft: &mut Draft<'_>,
    held: &Handoff,
    work: &FinishedWork<'_>,
    profile: Profile,
) -> Result<(), Refusal> {
    frame::open(draft, held.no)?;
    let contract = draft.workflow().escalation.as_ref();
    let warnings = check_named(draft, contract, work.package, profile)?;
    let package = draft.keep_package(work.package);
    let reason = work.stated_reason().map(|it| draft.keep(it.as_str()));
    let to = held.to.clone();
    let forward = EdgeKey { from: to.place.clone(), to: Place::Human };
    let gate = Gate {
        warnings: warnings.iter().map(|it| format!("{} {}", it.rule, it.path)).collect(),
        ..gate_between(GateCause::Escalation, to.clone(), to, Some(package), reason, &forward)
    };
    draft.done.warnings.extend(warnings);
    draft.done.handoff = Some(open_gate(draft, gate, Some(held.no)));
    Ok(())
}

fn give_back(
    draft: &mut Draft<'_>,
    held: &Handoff,
    caller: &Handoff,
    contract: Option<&String>,
    work: &FinishedWork<'_>,
    profile: Profile,
) -> Result<(), Refusal> {
    let failed = || if is_trouble(work) { Outcome::Failure } else { Outcome::Success };
    let outcome = work.outcome.unwrap_or_else(failed);
    let warnings = if outcome == Outcome::Blocked {
        check_implied(draft, ImpliedWay::Blocked, work.package, profile)?
    } else {
        let contract = contract.filter(|_| outcome == Outcome::Success);
        check_named(draft, contract, work.package, profile)?
    };
    let package = Some(draft.keep_package(work.package));
    let reason = draft.keep_some(work.reason.as_ref());
    draft.complete(held.no, outcome, package);
    let brought = Brought { outcome, package, reason, warnings };
    draft.done.handoff = Some(frame::give_back(draft, held, caller, brought));
    Ok(())
}

pub(super) fn end_step(
    draft: &mut Draft<'_>,
    held: &Handoff,
    step: &Step,
    outcome: Outcome,
    package: Option<ContentId>,
) {
    draft.complete(held.no, outcome, package);
    let (step, agent) = (step.id.clone(), held.to.agent.clone());
    if outcome != Outcome::Blocked {
        detour::waive_left_over(draft, &agent);
    }
    draft.emit(StepEvent::Completed { step, agent, outcome, is_rejected: false });
}

//! Supersede: the sender of a pending handoff replaces it.

use super::create::{go_on, not_holder, past_its_gate, send_back};
use super::draft::{Draft, require_agent};
use super::edge::{check_contract, check_named, edge_to};
use super::frame;
use super::limit;
use super::offer::Offer;
use super::passed;
use crate::command::Create;
use crate::event::{HandoffEvent, StepEntry};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{CounterScope, Handoff, Kind, Party};
use crate::workflow::{Edge, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, old: &Handoff, create: &Create) -> Result<(), Refusal> {
    require_agent(&old.from.agent, Some(&create.from), "supersede", old.no)?;
    if old.to.agent == create.to {
        return say_better(draft, old, create);
    }
    // Only an operator's reroute sends blockers elsewhere.
    if old.detour.is_some() {
        return Err(not_holder(draft, &create.from));
    }
    let edge = edge_to(draft.workflow(), &old.from.place, &create.to, create.outcome)?;
    // A delegated part goes to the delegate that was asked, not along an edge.
    if draft.run.caller_of(old).is_some() {
        return Err(not_holder(draft, &create.from));
    }
    passed::check(draft, &old.from.place)?;
    let warnings = check_contract(draft, edge, &create.package, create.profile)?;
    end(draft, old);
    passed::go_back_to(draft, &old.from.place);
    if edge.is_back {
        send_back(draft, create, edge, old.from.clone(), warnings, Some(old.no));
        return Ok(());
    }
    let to = Party { agent: create.to.clone(), place: Workflow::target_place(&edge.to) };
    let reason = draft.keep_some(create.reason.as_ref());
    let package = draft.keep_package(&create.package);
    let offer = Offer {
        reason,
        attempt: old.attempt,
        follows: Some(old.no),
        warnings,
        entry: limit::entry_along(edge, Some(&create.package)),
        ..Offer::new(old.from.clone(), to, Some(package))
    };
    draft.done.handoff = Some(go_on(draft, edge, create, offer));
    Ok(())
}

/// Replaces the package for the same receiver. A returned handoff goes along no edge, but may still
/// be replaced, and so may a delegated part.
fn say_better(draft: &mut Draft<'_>, old: &Handoff, create: &Create) -> Result<(), Refusal> {
    let edge = way_of(draft, old, create);
    let warnings = match edge {
        Some(edge) => check_contract(draft, edge, &create.package, create.profile)?,
        None => check_part(draft, old, create)?,
    };
    let entry = entry_again(draft, old, edge, create);
    // Nothing enters a step inside a frame: there, what was counted on the old one counts on.
    let is_in_frame = draft.run.caller_of(old).is_some();
    let n_questions = if is_in_frame { old.n_questions } else { 0 };
    let releases = CounterScope::Releases(old.no);
    let n_releases = if is_in_frame { draft.count_of(&releases) } else { 0 };
    end(draft, old);
    let offer = Offer {
        n_questions,
        n_releases,
        kind: old.kind,
        reason: draft.keep_some(create.reason.as_ref()),
        forward: old.forward.clone(),
        reject_to: old.reject_to.clone(),
        attempt: old.attempt,
        follows: Some(old.no),
        warnings,
        brings: old.brings,
        has_lost_lease: old.has_lost_lease,
        entry,
        detour: old.detour.clone(),
        ..Offer::new(old.from.clone(), old.to.clone(), Some(draft.keep_package(&create.package)))
    };
    draft.done.handoff = Some(past_its_gate(draft, offer, &create.package));
    Ok(())
}

/// A correction is not counted before the receiver has begun. Once it has held the work, or asked
/// about it, what replaces it is work that enters the step again: the two could go on for ever.
fn entry_again(
    draft: &Draft<'_>,
    old: &Handoff,
    edge: Option<&Edge>,
    create: &Create,
) -> Option<StepEntry> {
    let is_begun = old.fence > 0 || old.n_questions > 0;
    let is_of_agent = old.to.place.is_step() && !old.from.agent.is_orchestrator();
    if !is_begun || !is_of_agent || draft.run.caller_of(old).is_some() {
        return None;
    }
    match edge {
        Some(edge) => limit::entry_along(edge, Some(&create.package)),
        None => Some(StepEntry::Rework { findings: None }),
    }
}

/// The edge of the old handoff, whatever outcome the new one states.
fn way_of<'a>(draft: &Draft<'a>, old: &Handoff, create: &Create) -> Option<&'a Edge> {
    if draft.run.caller_of(old).is_some() {
        return None;
    }
    let (workflow, from) = (draft.workflow(), &old.from.place);
    let said = edge_to(workflow, from, &create.to, create.outcome);
    said.or_else(|_| edge_to(workflow, from, &create.to, None)).ok()
}

/// A delegated part has to keep the contract that the caller's step has for it.
fn check_part(
    draft: &mut Draft<'_>,
    old: &Handoff,
    create: &Create,
) -> Result<Vec<Problem>, Refusal> {
    let workflow = draft.workflow();
    let contract = match old.kind {
        Kind::Delegation => {
            let step = draft.step_at(&old.from.place);
            step.and_then(|it| it.delegate(&old.to.agent)).and_then(|it| it.contract.as_ref())
        }
        Kind::Return if old.brings == Some(Outcome::Success) => {
            let step = draft.step_at(&old.to.place);
            step.and_then(|it| it.delegate(&old.from.agent)).and_then(|it| it.returns.as_ref())
        }
        Kind::Sequential | Kind::Escalation | Kind::Return | Kind::Question => None,
    };
    let profile = workflow.profile.unwrap_or(create.profile);
    check_named(draft, contract, &create.package, profile)
}

fn end(draft: &mut Draft<'_>, old: &Handoff) {
    frame::clear_inside(draft, old.no, None);
    draft.emit(HandoffEvent::Superseded { handoff: old.no, reason: None });
    // The advisory gate was about the old package.
    draft.end_advice();
}

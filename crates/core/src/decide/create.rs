//! Create: an agent hands off. From the holder it completes the held work; on a loose baton it
//! takes the baton up; from any other agent it is refused, with the baton's position.

use super::complete;
use super::draft::Draft;
use super::edge::{check_contract, edge_to};
use super::fork;
use super::gate::{Onward, doubt, gate_between, onward, open_gate};
use super::limit;
use super::offer::{self, AtOrchestrator, Offer, hand_over};
use super::passed;
use super::reject;
use super::supersede;
use crate::command::{Create, Way};
use crate::contract::Profile;
use crate::event::RunEvent;
use crate::gate::{Gate, GateCause};
use crate::names::{AgentId, Reason};
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Baton, EdgeKey, Given, Handoff, HandoffNo, Kind, Party, RunStatus, State, Wait};
use crate::workflow::{Edge, Place, Target, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, create: &Create) -> Result<(), Refusal> {
    // Never fall back to a plain create: the sender has to learn that the supersede came too late.
    if let Some(no) = create.supersedes {
        let old = draft.open_end(no)?;
        return match old.state {
            State::Pending | State::Clarification => supersede::decide(draft, &old, create),
            State::Accepted | State::Parked => {
                Err(Refusal::AlreadyAccepted { handoff: no, holder: old.to.agent })
            }
        };
    }
    fork::check_sender(draft, create)?;
    // Where it has a fencing token, that says more about work that was lost.
    if let (Some(no), None) = (create.hands_on, create.token) {
        draft.open_end(no)?;
    }
    match draft.baton().clone() {
        Baton::Loose { at, other, .. } => {
            if let Some(token) = create.token {
                return Err(token.lost(None));
            }
            let profile = draft.workflow().profile.unwrap_or(create.profile);
            match profile {
                Profile::Lenient => {}
                Profile::Strict => may_take_up(draft, create, [&at, &other])?,
            }
            // The orchestrator only offers it again; any other sender would start new work.
            if draft.run.status == RunStatus::Paused && !create.from.is_orchestrator() {
                return Err(Refusal::Paused);
            }
            take_up(draft, create, &at)
        }
        Baton::Held { handoff } => {
            let held = draft.open(handoff)?;
            if held.to.agent != create.from {
                return Err(not_holder(draft, &create.from));
            }
            check_token(draft, create, &held)?;
            complete::by_create(draft, &held, create)
        }
        Baton::Offered { handoff } | Baton::Parked { handoff, on: Wait::Timer } => {
            let offered = draft.open(handoff)?;
            if offered.from.agent == create.from && offered.to.agent == create.to {
                return Err(Refusal::Duplicate {
                    handoff,
                    from: offered.from.agent,
                    to: offered.to.agent,
                });
            }
            if offered.to.agent == create.from && offered.state == State::Pending {
                check_token(draft, create, &offered)?;
                return complete::by_create(draft, &offered, create);
            }
            Err(not_holder(draft, &create.from))
        }
        Baton::Parked { handoff, on: Wait::Checks } => {
            let waiting = draft.open(handoff)?;
            let to = waiting.checks.as_ref().map(|it| &it.worker.agent);
            if waiting.from.agent == create.from && to == Some(&create.to) {
                let (from, to) = (create.from.clone(), create.to.clone());
                return Err(Refusal::Duplicate { handoff, from, to });
            }
            Err(not_holder(draft, &create.from))
        }
        Baton::Parked { handoff, on: Wait::Person } => {
            // This refusal says what the baton waits for, and at a gate which answers it takes.
            draft.open_work(handoff)?;
            Err(not_holder(draft, &create.from))
        }
        Baton::Done => Err(Refusal::RunFinished { status: draft.run.status.name() }),
    }
}

/// A fencing token must belong to the run's current handoff.
fn check_token(draft: &Draft<'_>, create: &Create, current: &Handoff) -> Result<(), Refusal> {
    match create.token {
        Some(token) if token.handoff != current.no => {
            Err(token.lost(draft.run.handoff(token.handoff).map(|it| it.fence)))
        }
        Some(_) | None => Ok(()),
    }
}

/// Takes up a loose baton at `at`, along any edge that the workflow declares.
pub(super) fn take_up(draft: &mut Draft<'_>, create: &Create, at: &Place) -> Result<(), Refusal> {
    match create.way {
        None | Some(Way::Sequential) => {}
        // Delegating, escalating and returning need a held handoff.
        Some(Way::Delegation | Way::Escalation | Way::Return) => {
            return Err(not_holder(draft, &create.from));
        }
    }
    if create.from.is_orchestrator() && reoffer_to_step(draft, create, at)? {
        return Ok(());
    }
    let (from, edge) = declared_edge(draft, create, at)?;
    fork::check_place(draft, draft.branch, &from)?;
    // The holder that lost its lease may still be alive: only a new offer can be fenced.
    if draft.given(&from).is_some_and(|it| it.has_lost_lease) {
        return Err(not_holder(draft, &create.from));
    }
    passed::check(draft, &from)?;
    let warnings = check_contract(draft, edge, &create.package, create.profile)?;
    let from = Party { agent: create.from.clone(), place: from };
    if !create.from.is_orchestrator() {
        draft.emit(RunEvent::Adopted { by: from.clone() });
    }
    passed::go_back_to(draft, &from.place);
    if !edge.is_back && went_back_too_often(draft, create, at, &from) {
        draft.done.warnings.extend(warnings);
        return Ok(());
    }
    if edge.is_back {
        send_back(draft, create, edge, from, warnings, None);
        return Ok(());
    }
    let to = Party { agent: create.to.clone(), place: Workflow::target_place(&edge.to) };
    let package = draft.keep_package(&create.package);
    let reason = draft.keep_some(create.reason.as_ref());
    let is_agents = !create.from.is_orchestrator();
    let entry = limit::entry_along(edge, Some(&create.package)).filter(|_| is_agents);
    let offer = Offer { reason, warnings, entry, ..Offer::new(from, to, Some(package)) };
    draft.done.handoff = Some(go_on(draft, edge, create, offer));
    Ok(())
}

/// Counts a round where an agent takes work up at a step that always comes before the baton's
/// position: the work went back, as if it had been rejected. Past the limit this opens the gate
/// that asks a person, and returns true.
fn went_back_too_often(draft: &mut Draft<'_>, create: &Create, at: &Place, from: &Party) -> bool {
    let (Place::Step(reached), Place::Step(back_at)) = (at, &from.place) else { return false };
    if !draft.workflow().graph().is_always_before(back_at, reached) {
        return false;
    }
    let Some(forward) = draft.given(at).map(Given::forward) else { return false };
    let Some(cause) = reject::count_return(draft, &forward) else { return false };
    let sent_back = draft.newest_package();
    let package = draft.keep_package(&create.package);
    let reason = draft.keep_some(create.reason.as_ref());
    let agent = draft.workflow().agents_at(at).into_iter().next();
    let asker = Party { agent: agent.unwrap_or_else(AgentId::orchestrator), place: at.clone() };
    let limit = reject::rounds_used(draft, &forward);
    let gate = Gate {
        given: Some(package),
        limit,
        ..gate_between(cause, asker, from.clone(), sent_back, reason, &forward)
    };
    draft.done.handoff = Some(open_gate(draft, gate, None));
    true
}

/// On along an edge, through its gate if it has one. An error at the end bypasses the gate.
pub(super) fn go_on(
    draft: &mut Draft<'_>,
    edge: &Edge,
    create: &Create,
    offer: Offer,
) -> HandoffNo {
    let then = at_the_end(edge, create);
    let is_error = then != AtOrchestrator::of(&edge.to);
    if is_error {
        return hand_over(draft, offer, then);
    }
    let came_by = offer.forward.clone();
    let from = offer.from.place.clone();
    let doubt = doubt(edge, &create.package);
    onward(draft, edge, Onward { offer, then, came_by, evidence: &[], asker: None, from, doubt })
}

/// Sends work back along a back edge where no handoff is rejected for it. It counts as a round:
/// otherwise a review could go in circles undetected.
pub(super) fn send_back(
    draft: &mut Draft<'_>,
    create: &Create,
    edge: &Edge,
    from: Party,
    warnings: Vec<Problem>,
    follows: Option<HandoffNo>,
) {
    let to = Party { agent: create.to.clone(), place: Workflow::target_place(&edge.to) };
    let sent_back = draft.newest_package();
    let package = draft.keep_package(&create.package);
    let stated = || create.package.stated_reason().and_then(Reason::shortened);
    let reason = create.reason.clone().or_else(stated);
    let reason = draft.keep_some(reason.as_ref());
    // Counted as if it had been rejected on its way here.
    let forward = EdgeKey { from: to.place.clone(), to: from.place.clone() };
    let made = match reject::count_round(draft, &forward, &create.package) {
        Some(cause) => {
            let limit = reject::rounds_used(draft, &forward).filter(|_| cause == GateCause::Rounds);
            let gate = Gate {
                given: Some(package),
                limit,
                ..gate_between(cause, from, to, sent_back, reason, &forward)
            };
            open_gate(draft, gate, follows)
        }
        None => {
            let back = Offer {
                kind: Kind::Return,
                reason,
                forward,
                follows,
                warnings,
                entry: limit::entry_along(edge, Some(&create.package)),
                ..Offer::new(from, to, Some(package))
            };
            hand_over(draft, back, AtOrchestrator::LiesLoose)
        }
    };
    draft.done.handoff = Some(made);
}

/// Only success ends a run: an error that arrives along the last edge does not.
fn at_the_end(edge: &Edge, create: &Create) -> AtOrchestrator {
    let is_error = create.outcome.is_none() && create.package.has_error();
    if is_error && edge.to == Target::Complete {
        return AtOrchestrator::Failed;
    }
    AtOrchestrator::of(&edge.to)
}

/// The orchestrator offers the baton again at its place, or at its target. No contract: the run's
/// own package is handed on with what the orchestrator adds.
fn reoffer_to_step(draft: &mut Draft<'_>, create: &Create, at: &Place) -> Result<bool, Refusal> {
    let other = match draft.baton() {
        Baton::Loose { other, .. } => other.clone(),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
            return Ok(false);
        }
    };
    // A new run is loose between the orchestrator and the first step: a start, with a contract.
    if draft.run.n_handoffs == 0 {
        return Ok(false);
    }
    let places = [at.clone(), other];
    let workflow = draft.workflow();
    let is_there =
        |place: &&Place| place.is_step() && workflow.agents_at(place).contains(&create.to);
    let Some(place) = places.iter().find(is_there) else { return Ok(false) };
    passed::check(draft, place)?;
    let to = Party { agent: create.to.clone(), place: place.clone() };
    let reason = draft.keep_some(create.reason.as_ref());
    let again = offer::reoffer(draft, to);
    let again = Offer { reason: reason.or(again.reason), ..again };
    if create.package.document.is_blank() {
        draft.done.handoff = Some(offer::offer(draft, again));
        return Ok(true);
    }
    let again = Offer { package: Some(draft.keep_package(&create.package)), ..again };
    draft.done.handoff = Some(past_its_gate(draft, again, &create.package));
    Ok(true)
}

/// A package that has not been reviewed must pass the gate, even if the orchestrator offers it or
/// if it supersedes a reviewed package.
pub(super) fn past_its_gate(draft: &mut Draft<'_>, new: Offer, package: &Package) -> HandoffNo {
    let workflow = draft.workflow();
    // A return did not come along the edge.
    let is_onward = new.kind == Kind::Sequential;
    let leads_there = |it: &&Edge| it.leads_to(&new.to.place);
    let edges = workflow.edges_from(&new.forward.from).iter().filter(|_| is_onward);
    let is_gated =
        |it: &&Edge| it.gate.is_some() || !it.checks.is_empty() || doubt(it, package).is_some();
    let Some(edge) = edges.filter(leads_there).find(is_gated) else {
        return hand_over(draft, new, AtOrchestrator::LiesLoose);
    };
    let then = AtOrchestrator::of(&edge.to);
    let came_by = new.forward.clone();
    // Work cannot be returned to a person or the orchestrator.
    let asker = new.reject_to.clone().filter(|it| it.place.is_work());
    let from = new.forward.from.clone();
    let doubt = doubt(edge, package);
    onward(draft, edge, Onward { offer: new, then, came_by, evidence: &[], asker, from, doubt })
}

/// In strict, only agents of the two places of the loose baton.
fn may_take_up(draft: &Draft<'_>, create: &Create, places: [&Place; 2]) -> Result<(), Refusal> {
    let concerns = |place: &&Place| draft.workflow().agents_at(place).contains(&create.from);
    if create.from.is_orchestrator() || places.iter().any(concerns) {
        return Ok(());
    }
    Err(not_holder(draft, &create.from))
}

/// The edge between two agents, preferably from the baton's place.
fn declared_edge<'a>(
    draft: &Draft<'a>,
    create: &Create,
    at: &Place,
) -> Result<(Place, &'a Edge), Refusal> {
    let workflow = draft.workflow();
    if workflow.agents_at(at).contains(&create.from)
        && let Ok(edge) = edge_to(workflow, at, &create.to, create.outcome)
    {
        return Ok((at.clone(), edge));
    }
    let places = std::iter::once(Place::Orchestrator)
        .chain(workflow.steps.iter().map(|it| Place::Step(it.id.clone())))
        .filter(|place| workflow.agents_at(place).contains(&create.from));
    let mut refusal = None;
    // First where work of this branch may be.
    let (near, far): (Vec<Place>, Vec<Place>) =
        places.partition(|it| fork::is_in_reach(draft, draft.branch, it));
    for place in near.into_iter().chain(far) {
        match edge_to(workflow, &place, &create.to, create.outcome) {
            Ok(edge) => return Ok((place, edge)),
            Err(it) => refusal = refusal.or(Some(it)),
        }
    }
    Err(refusal.unwrap_or_else(|| Refusal::NotAnEdge {
        from: create.from.to_string(),
        to: create.to.clone(),
        outcome: None,
        known: format!("`{}` does no step of `{}`", create.from, workflow.name),
    }))
}

pub(super) fn not_holder(draft: &Draft<'_>, by: &AgentId) -> Refusal {
    if let Some(handoff) = draft.waiting(by).map(|it| it.no) {
        return Refusal::FrameOpen { handoff, whereabouts: draft.whereabouts() };
    }
    Refusal::NotHolder { by: by.clone(), whereabouts: draft.whereabouts() }
}

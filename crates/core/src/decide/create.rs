//! Create: somebody hands off. By the holder it completes what they hold; on a loose baton it
//! takes it up; by anybody else it is refused with where the baton is.

use super::complete;
use super::draft::Draft;
use super::offer::{self, AtOrchestrator, Offer, check_contract, edge_to, hand_over, open_gate};
use super::reject;
use crate::command::Create;
use crate::contract::Profile;
use crate::event::Event;
use crate::gate::Gate;
use crate::names::{AgentId, Reason};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Baton, EdgeKey, Handoff, HandoffNo, Kind, Party, RunStatus, State};
use crate::workflow::{Edge, Place, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, create: &Create) -> Result<(), Refusal> {
    // Never silently something else: whoever replaces a handoff has to know that it is too late.
    if let Some(no) = create.supersedes {
        let old = draft.open_work(no)?;
        return match old.state {
            State::Pending | State::Clarification => supersede(draft, &old, create),
            State::Accepted | State::Parked => {
                Err(Refusal::AlreadyAccepted { handoff: no, holder: old.to.agent })
            }
        };
    }
    match draft.run.baton().clone() {
        Baton::Loose { at, other } => {
            let profile = draft.workflow().profile.unwrap_or(create.profile);
            match profile {
                Profile::Lenient => {}
                Profile::Strict => may_take_up(draft, create, [&at, &other])?,
            }
            // The orchestrator only offers it again; anybody else would begin something.
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
            complete::by_create(draft, &held, create)
        }
        Baton::Offered { handoff } => {
            let offered = draft.open(handoff)?;
            if offered.from.agent == create.from && offered.to.agent == create.to {
                return Err(Refusal::Duplicate {
                    handoff,
                    from: offered.from.agent,
                    to: offered.to.agent,
                });
            }
            if offered.to.agent == create.from && offered.state == State::Pending {
                return complete::by_create(draft, &offered, create);
            }
            Err(not_holder(draft, &create.from))
        }
        Baton::Parked { handoff, .. } => {
            // Says what it waits for, and with a gate what may be answered.
            draft.open_work(handoff)?;
            Err(not_holder(draft, &create.from))
        }
        Baton::Done => Err(Refusal::RunFinished { status: draft.run.status.name() }),
    }
}

/// Takes up a baton that lies at `at`, along any edge that the workflow declares.
pub(super) fn take_up(draft: &mut Draft<'_>, create: &Create, at: &Place) -> Result<(), Refusal> {
    if create.from.is_orchestrator() && again(draft, create, at) {
        return Ok(());
    }
    let (from, edge) = declared_edge(draft.workflow(), create, at)?;
    let warnings = check_contract(draft.workflow(), edge, &create.package, create.profile)?;
    let from = Party { agent: create.from.clone(), place: from };
    if !create.from.is_orchestrator() {
        draft.emit(Event::RunAdopted { by: from.clone() });
    }
    let to = Party { agent: create.to.clone(), place: Workflow::target_place(&edge.to) };
    if edge.is_back {
        send_back(draft, create, from, to, warnings, None);
        return Ok(());
    }
    let package = draft.keep_package(&create.package);
    let reason = draft.keep_some(create.reason.as_ref());
    let offer = Offer { reason, warnings, ..Offer::new(from, to, Some(package)) };
    draft.done.handoff = Some(hand_over(draft, offer, at_the_end(edge, create)));
    Ok(())
}

/// Sends work back along a back edge where no handoff is rejected for it. It counts all the same:
/// else a review could go in circles unseen.
fn send_back(
    draft: &mut Draft<'_>,
    create: &Create,
    from: Party,
    to: Party,
    warnings: Vec<Problem>,
    follows: Option<HandoffNo>,
) {
    let sent_back = draft.run.package;
    let package = draft.keep_package(&create.package);
    let stated = || create.package.stated_reason().and_then(Reason::shortened);
    let reason = create.reason.clone().or_else(stated);
    let reason = draft.keep_some(reason.as_ref());
    // As it would be counted if it had been rejected on its way here.
    let forward = EdgeKey { from: to.place.clone(), to: from.place.clone() };
    let made = match reject::count_round(draft, &forward, &create.package) {
        Some(cause) => {
            let gate = Gate {
                cause,
                asker: from,
                worker: to,
                package: sent_back,
                given: Some(package),
                reason,
                forward,
        kind: crate::gate::GateKind::Blocking,
        sender: None,
        beside: None,
        about: None,
        evidence: Vec::new(),
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
                ..Offer::new(from, to, Some(package))
            };
            offer::offer(draft, back)
        }
    };
    draft.done.handoff = Some(made);
}

/// Only success ends a run: an error that comes in along the last edge does not.
fn at_the_end(edge: &Edge, create: &Create) -> AtOrchestrator {
    if create.outcome.is_none() && create.package.has_error() {
        return AtOrchestrator::LiesLoose;
    }
    AtOrchestrator::of(&edge.to)
}

/// The orchestrator offers the baton again where it lies, or where it was going. No contract:
/// what the run had already is handed on with what the orchestrator adds.
fn again(draft: &mut Draft<'_>, create: &Create, at: &Place) -> bool {
    let other = match draft.run.baton() {
        Baton::Loose { other, .. } => other.clone(),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
            return false;
        }
    };
    // A fresh run lies between the orchestrator and the first step: that is a start, by contract.
    if draft.run.n_handoffs == 0 {
        return false;
    }
    let places = [at.clone(), other];
    let workflow = draft.workflow();
    let is_there =
        |place: &&Place| place.is_step() && workflow.agents_at(place).contains(&create.to);
    let Some(place) = places.iter().find(is_there) else { return false };
    let to = Party { agent: create.to.clone(), place: place.clone() };
    let given = offer::again(draft, to);
    let package = if create.package.document.is_blank() {
        given.package
    } else {
        Some(draft.keep_package(&create.package))
    };
    let reason = draft.keep_some(create.reason.as_ref());
    let again = Offer { reason, package, ..given };
    draft.done.handoff = Some(offer::offer(draft, again));
    true
}

/// Replaces a pending handoff by a newer one of the same sender.
fn supersede(draft: &mut Draft<'_>, old: &Handoff, create: &Create) -> Result<(), Refusal> {
    super::draft::only(&old.from.agent, Some(&create.from), "supersede", old.no)?;
    let workflow = draft.workflow();
    let is_same_way = old.to.agent == create.to;
    let edge = match edge_to(workflow, &old.from.place, &create.to, create.outcome) {
        Ok(edge) => Some(edge),
        // What came back by a reject goes along no edge; it may still be said better.
        Err(_) if is_same_way => None,
        Err(refusal) => return Err(refusal),
    };
    let warnings = match edge {
        Some(edge) => check_contract(workflow, edge, &create.package, create.profile)?,
        None => Vec::new(),
    };
    let place = match edge {
        Some(edge) if !is_same_way => Workflow::target_place(&edge.to),
        Some(_) | None => old.to.place.clone(),
    };
    draft.emit(Event::HandoffSuperseded { handoff: old.no, reason: None });
    let to = Party { agent: create.to.clone(), place };
    if edge.is_some_and(|it| it.is_back) && !is_same_way {
        send_back(draft, create, old.from.clone(), to, warnings, Some(old.no));
        return Ok(());
    }
    let reason = draft.keep_some(create.reason.as_ref());
    let package = draft.keep_package(&create.package);
    let offer = Offer {
        kind: if is_same_way { old.kind } else { Kind::Sequential },
        reason,
        forward: if is_same_way {
            old.forward.clone()
        } else {
            Offer::new(old.from.clone(), to.clone(), None).forward
        },
        reject_to: old.reject_to.clone().filter(|_| is_same_way),
        attempt: old.attempt,
        follows: Some(old.no),
        warnings,
        ..Offer::new(old.from.clone(), to, Some(package))
    };
    let then = edge.map_or(AtOrchestrator::LiesLoose, |it| at_the_end(it, create));
    draft.done.handoff = Some(hand_over(draft, offer, then));
    Ok(())
}

/// In strict, only those whom the loose baton concerns.
fn may_take_up(draft: &Draft<'_>, create: &Create, places: [&Place; 2]) -> Result<(), Refusal> {
    let concerns = |place: &&Place| draft.workflow().agents_at(place).contains(&create.from);
    if create.from.is_orchestrator() || places.iter().any(concerns) {
        return Ok(());
    }
    Err(not_holder(draft, &create.from))
}

/// The edge between two agents, from where the baton lies if it can be.
fn declared_edge<'a>(
    workflow: &'a Workflow,
    create: &Create,
    at: &Place,
) -> Result<(Place, &'a Edge), Refusal> {
    if workflow.agents_at(at).contains(&create.from)
        && let Ok(edge) = edge_to(workflow, at, &create.to, create.outcome)
    {
        return Ok((at.clone(), edge));
    }
    let places = std::iter::once(Place::Orchestrator)
        .chain(workflow.steps.iter().map(|it| Place::Step(it.id.clone())))
        .filter(|place| workflow.agents_at(place).contains(&create.from));
    let mut refusal = None;
    for place in places {
        match edge_to(workflow, &place, &create.to, create.outcome) {
            Ok(edge) => return Ok((place, edge)),
            Err(it) => refusal = refusal.or(Some(it)),
        }
    }
    Err(refusal.unwrap_or_else(|| Refusal::NotAnEdge {
        from: create.from.to_string(),
        to: create.to.clone(),
        known: format!("`{}` does no step of `{}`", create.from, workflow.name),
    }))
}

fn not_holder(draft: &Draft<'_>, by: &AgentId) -> Refusal {
    Refusal::NotHolder { by: by.clone(), whereabouts: draft.whereabouts() }
}

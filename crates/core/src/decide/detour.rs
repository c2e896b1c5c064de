//! A detour: what blocks a step goes to an agent that can resolve it, and the work comes back to the
//! blocked agent with the resolution. Where that does not work out, a person is asked.

use super::complete::raise_blockers;
use super::draft::Draft;
use super::fork::which_of_several;
use super::gate::{gate_when_stuck, open_gate_from, orchestrator};
use super::limit;
use super::offer::{Offer, offer};
use super::passed;
use super::route::{FinishedWork, Route};
use crate::command::Reroute;
use crate::content::ContentId;
use crate::detour::{Detour, RerouteCause};
use crate::event::{BlockerEvent, HandoffEvent};
use crate::gate::{Gate, GateCause};
use crate::names::{AgentId, Principal};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Blocker, Handoff, HandoffNo, Kind, Party};
use crate::workflow::{Place, Step};

/// The agent that the workflow's table has for blocked work. `None` where it names a person, an
/// agent that does not exist or the blocked agent itself, or where the step was helped already.
pub(super) fn resolver(
    draft: &Draft<'_>,
    step: &Step,
    held: &Handoff,
    work: &FinishedWork<'_>,
) -> Option<AgentId> {
    let reason = work.package.blocked_reason().unwrap_or(UNKNOWN);
    let agent = draft.workflow().routing.resolver(reason, &held.to.agent)?;
    let is_able = !agent.is_human() && !agent.is_orchestrator() && *agent != held.to.agent;
    let is_known = draft.ground.agents.find(agent).is_some();
    let is_first = limit::blocks_reached(draft, step).is_none();
    (is_able && is_known && is_first).then(|| agent.clone())
}

/// The reason of a document that gives none.
const UNKNOWN: &str = "unknown";

/// Hands the blockers of `held`, which is done, to the agent that resolves them.
pub(super) fn send(
    draft: &mut Draft<'_>,
    held: &Handoff,
    work: &FinishedWork<'_>,
    agent: AgentId,
    package: ContentId,
    reason: Option<ContentId>,
) -> HandoffNo {
    raise_blockers(draft, held, work);
    let word = work.package.blocked_reason().unwrap_or(UNKNOWN).to_owned();
    let domain = draft.workflow().routing.domain_of(&held.to.agent).map(str::to_owned);
    let gate = gate_when_stuck(GateCause::Blocked, held, Some(package), reason);
    let detour = Detour { reason: word, domain, gate };
    offer(draft, to_resolver(detour, agent, Some(held.no)))
}

/// The orchestrator gives a resolver the document of the blocked agent: reason, attempts, context.
fn to_resolver(detour: Detour, agent: AgentId, follows: Option<HandoffNo>) -> Offer {
    let to = Party { place: Place::Delegate(agent.clone()), agent };
    Offer {
        kind: Kind::Delegation,
        reason: detour.gate.reason,
        // The blocked agent answers what the resolver asks.
        reject_to: Some(detour.blocked().clone()),
        follows,
        detour: Some(Box::new(detour.clone())),
        ..Offer::new(orchestrator(), to, detour.gate.package)
    }
}

/// The route of a resolver's work: back to the blocked agent, or to a person.
pub(super) fn route<'a>(
    handoff: &Handoff,
    detour: &Detour,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    let blocked = &detour.blocked().agent;
    let is_back = work.to.is_none_or(|it| it == blocked || it.is_orchestrator());
    let is_to_person = work.to.is_some_and(AgentId::is_human);
    if is_to_person && work.outcome.is_none() {
        return Ok(Route::Escalate);
    }
    if !is_back && !is_to_person {
        return Err(Refusal::NotAnEdge {
            from: handoff.to.place.to_string(),
            to: work.to.unwrap_or(blocked).clone(),
            outcome: work.outcome,
            known: format!("what it resolves goes back to `{blocked}`"),
        });
    }
    let failed = || if work.package.has_error() { Outcome::Failure } else { Outcome::Success };
    let outcome = work.outcome.unwrap_or_else(failed);
    Ok(if outcome == Outcome::Success && !is_to_person {
        Route::Resolved(Box::new(detour.clone()))
    } else {
        Route::Unresolved(Box::new(detour.clone()), outcome)
    })
}

/// The blockers are resolved: the blocked agent gets its own package again, with the resolution.
pub(super) fn resolve(
    draft: &mut Draft<'_>,
    held: &Handoff,
    detour: &Detour,
    work: &FinishedWork<'_>,
) {
    let package = draft.keep_package(work.package);
    let words = work.package.resolution().map(str::to_owned);
    let stated = work.reason.as_ref().map(|it| it.as_str().to_owned());
    let resolver = &held.to.agent;
    let words = stated.or(words).unwrap_or_else(|| format!("`{resolver}` resolved it"));
    let how = draft.keep(&words);
    draft.complete(held.no, Outcome::Success, Some(package));
    let by = by_agent(resolver);
    for blocker in open_blockers(draft) {
        draft.emit(BlockerEvent::Resolved { blocker, by: by.clone(), how: Some(how) });
    }
    let gate = &detour.gate;
    let back = Offer {
        kind: Kind::Return,
        reason: Some(how),
        forward: gate.forward.clone(),
        reject_to: gate.sender.clone(),
        follows: Some(held.no),
        has_lost_lease: gate.has_lost_lease,
        ..Offer::new(held.to.clone(), gate.worker.clone(), gate.given)
    };
    draft.done.handoff = Some(offer(draft, back));
}

/// The resolver did not resolve it: `words` say why. The handoff to it has ended.
pub(super) fn ask_a_person(
    draft: &mut Draft<'_>,
    detour: &Detour,
    words: Option<ContentId>,
    follows: HandoffNo,
) -> HandoffNo {
    let gate = Gate { reason: words.or(detour.gate.reason), ..detour.gate.clone() };
    open_gate_from(draft, orchestrator(), gate, Some(follows))
}

/// An operator sends the blockers to another agent, or to a person. To consolidate, those of every branch
/// that is blocked for the same reason.
pub(super) fn reroute(draft: &mut Draft<'_>, reroute: &Reroute) -> Result<(), Refusal> {
    passed::only_a_person(draft, &reroute.by)?;
    let detours = rerouted(draft, reroute)?;
    let to = &reroute.to;
    for (handoff, detour) in &detours {
        let is_there = *to == handoff.to.agent || *to == detour.blocked().agent;
        if is_there || to.is_orchestrator() {
            return Err(Refusal::NotAnEdge {
                from: handoff.to.place.to_string(),
                to: to.clone(),
                outcome: None,
                known: "blockers go to another agent, or to `human`".to_owned(),
            });
        }
    }
    if !to.is_human() && draft.ground.agents.find(to).is_none() {
        return Err(Refusal::UnknownAgent { agent: to.clone() });
    }
    let reason = draft.keep(reroute.reason.as_str());
    let mut first = None;
    for (handoff, detour) in &detours {
        draft.branch = handoff.branch;
        let made = reroute_one(draft, reroute, handoff, detour, reason);
        first.get_or_insert((made, handoff.branch));
    }
    if let Some((made, branch)) = first {
        draft.done.handoff = Some(made);
        draft.branch = branch;
    }
    Ok(())
}

/// The handoffs to resolvers that a reroute is about.
fn rerouted(draft: &Draft<'_>, reroute: &Reroute) -> Result<Vec<(Handoff, Detour)>, Refusal> {
    let currents = draft.run.branches.iter().filter_map(|it| draft.run.current_in(it.no));
    let detours = currents.filter_map(|it| Some((it.clone(), it.detour.as_deref()?.clone())));
    let mut detours: Vec<(Handoff, Detour)> = detours.collect();
    let no_detour = || Refusal::NoDetour { whereabouts: draft.whereabouts() };
    let reason = match reroute.handoff {
        Some(no) => {
            let branch = draft.open_end(no)?.branch;
            let named = detours.iter().find(|(it, _)| it.branch == branch).ok_or_else(no_detour)?;
            Some(named.1.reason.clone())
        }
        None => None,
    };
    let is_one = |(it, _): &&(Handoff, Detour)| it.branch == draft.branch;
    let reason_here = detours.iter().find(is_one).map(|(_, it)| it.reason.clone());
    let is_alike = detours.iter().all(|(_, it)| Some(&it.reason) == reason_here.as_ref());
    match (reroute.cause, reason) {
        (RerouteCause::Consolidate, Some(reason)) => detours.retain(|(_, it)| it.reason == reason),
        (RerouteCause::Consolidate, None) if is_alike => {}
        (_, Some(_)) => detours.retain(|(it, _)| it.branch == draft.branch),
        (_, None) => {
            if let Some(fork) = &draft.run.fork {
                let several: Vec<&Handoff> = detours.iter().map(|(it, _)| it).collect();
                let what = "agents are resolving blockers of several branches".to_owned();
                which_of_several(fork, &several, what)?;
            }
        }
    }
    // What is consolidated may be with that agent already.
    if reroute.cause == RerouteCause::Consolidate
        && detours.iter().any(|(it, _)| it.to.agent != reroute.to)
    {
        detours.retain(|(it, _)| it.to.agent != reroute.to);
    }
    if detours.is_empty() { Err(no_detour()) } else { Ok(detours) }
}

fn reroute_one(
    draft: &mut Draft<'_>,
    reroute: &Reroute,
    handoff: &Handoff,
    detour: &Detour,
    reason: ContentId,
) -> HandoffNo {
    super::frame::clear_inside(draft, handoff.no, Some(reason));
    draft.emit(BlockerEvent::Rerouted {
        handoff: handoff.no,
        cause: reroute.cause,
        to: reroute.to.clone(),
        by: reroute.by.clone(),
        reason,
    });
    draft.emit(HandoffEvent::Superseded { handoff: handoff.no, reason: Some(reason) });
    if reroute.to.is_human() {
        return ask_a_person(draft, detour, Some(reason), handoff.no);
    }
    let again = Offer {
        reason: Some(reason),
        ..to_resolver(detour.clone(), reroute.to.clone(), Some(handoff.no))
    };
    offer(draft, again)
}

/// The step went on although blockers were open: an operator moved it past them.
pub(super) fn waive_left_over(draft: &mut Draft<'_>, by: &AgentId) {
    let open = open_blockers(draft);
    if open.is_empty() {
        return;
    }
    let why = Some(draft.keep("The work went on without its being resolved"));
    for blocker in open {
        draft.emit(BlockerEvent::Waived { blocker, by: by_agent(by), why });
    }
}

fn open_blockers(draft: &Draft<'_>) -> Vec<u32> {
    let is_own = |it: &&Blocker| it.branch == draft.branch;
    draft.run.blockers.iter().filter(is_own).map(|it| it.no).collect()
}

/// An agent under its own name.
fn by_agent(agent: &AgentId) -> Principal {
    Principal::of_agent(agent)
}

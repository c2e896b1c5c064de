//! How a handoff comes to be: along an edge, back to its sender, or to a person.

use super::draft::Draft;
use crate::content::ContentId;
use crate::contract::{Contract, Profile};
use crate::event::{Created, Event};
use crate::gate::{Gate, GateCause};
use crate::names::{AgentId, Principal};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{EdgeKey, HandoffId, HandoffNo, Kind, Party};
use crate::workflow::{Edge, Place, Target, Workflow};

/// A handoff about to be made.
pub(super) struct Offer {
    pub(super) kind: Kind,
    pub(super) from: Party,
    pub(super) to: Party,
    pub(super) package: Option<ContentId>,
    /// Where left out: the step's own reason, else that it needs this agent.
    pub(super) reason: Option<ContentId>,
    pub(super) forward: EdgeKey,
    pub(super) reject_to: Option<Party>,
    pub(super) attempt: u32,
    pub(super) follows: Option<HandoffNo>,
    pub(super) approved_by: Option<Principal>,
    pub(super) warnings: Vec<Problem>,
}

impl Offer {
    /// The first attempt along an edge, with nothing before it.
    pub(super) fn new(from: Party, to: Party, package: Option<ContentId>) -> Self {
        let forward = EdgeKey { from: from.place.clone(), to: to.place.clone() };
        Self {
            kind: Kind::Sequential,
            from,
            to,
            package,
            reason: None,
            forward,
            reject_to: None,
            attempt: 1,
            follows: None,
            approved_by: None,
            warnings: Vec::new(),
        }
    }
}

/// Makes the handoff, pending. The caller says what becomes of the baton if it is not that.
pub(super) fn offer(draft: &mut Draft<'_>, offer: Offer) -> HandoffNo {
    let handoff = HandoffNo(draft.run.n_handoffs + 1);
    let reason = match offer.reason {
        Some(reason) => reason,
        None => {
            let words = default_reason(draft, &offer.to);
            draft.keep(&words)
        }
    };
    draft.emit(Event::HandoffCreated(Created {
        handoff,
        id: HandoffId(draft.ground.fresh.id()),
        branch: 0,
        kind: offer.kind,
        from: offer.from,
        to: offer.to,
        package: offer.package,
        reason,
        forward: offer.forward,
        reject_to: offer.reject_to,
        attempt: offer.attempt,
        follows: offer.follows,
        approved_by: offer.approved_by,
        warnings: offer.warnings.iter().map(|it| format!("{} {}", it.rule, it.path)).collect(),
        brings: None,
        held_back_until: None,
        has_lost_lease: false,
    }));
    draft.done.warnings.extend(offer.warnings);
    handoff
}

/// What becomes of the baton when the orchestrator takes it.
#[derive(Clone, Copy)]
pub(super) enum AtOrchestrator {
    EndsRun,
    /// Unfinished: it lies loose there, and a person sees it.
    LiesLoose,
}

impl AtOrchestrator {
    pub(super) fn of(target: &Target) -> Self {
        match target {
            Target::Complete => Self::EndsRun,
            Target::Step(_) => Self::LiesLoose,
        }
    }
}

/// As [`offer`], where the receiver may be the orchestrator, which answers at once.
pub(super) fn hand_over(draft: &mut Draft<'_>, it: Offer, then: AtOrchestrator) -> HandoffNo {
    let from = it.from.place.clone();
    let to = it.to.clone();
    let handoff = offer(draft, it);
    if !to.agent.is_orchestrator() {
        return handoff;
    }
    draft.emit(Event::HandoffAccepted {
        handoff,
        by: to.agent,
        is_implicit: true,
        acknowledgement: None,
    });
    draft.emit(Event::HandoffCompleted { handoff, outcome: Outcome::Success, package: None, answer: None });
    match then {
        AtOrchestrator::EndsRun => draft.emit(Event::RunCompleted),
        AtOrchestrator::LiesLoose => {
            draft.emit(Event::BatonLoose { at: Place::Orchestrator, other: from });
        }
    }
    handoff
}

/// What the orchestrator offers when it gives a step again what the step had been given. Rejected,
/// it goes back to whoever had sent it, and counts on the edge that it had come by.
pub(super) fn again(draft: &Draft<'_>, to: Party) -> Offer {
    let from = Party { agent: AgentId::orchestrator(), place: Place::Orchestrator };
    match draft.run.given(&to.place).cloned() {
        Some(given) => Offer {
            forward: given.forward,
            reject_to: Some(given.sender).filter(|it| it.place != Place::Orchestrator),
            ..Offer::new(from, to, given.package)
        },
        None => Offer::new(from, to, draft.run.package),
    }
}

/// Asks a person. The baton is parked until they answer.
pub(super) fn open_gate(
    draft: &mut Draft<'_>,
    gate: Gate,
    follows: Option<HandoffNo>,
) -> HandoffNo {
    let to = Party { agent: AgentId::human(), place: Place::Human };
    let reason = match gate.reason {
        Some(reason) => reason,
        None => draft.keep(gate.cause.sentence()),
    };
    let handoff = offer(
        draft,
        Offer {
            kind: Kind::Escalation,
            reason: Some(reason),
            follows,
            forward: gate.forward.clone(),
            ..Offer::new(gate.asker.clone(), to, gate.package)
        },
    );
    draft.emit(Event::GateOpened { handoff, gate });
    draft.done.gate = Some(handoff);
    handoff
}

/// Gives work back to where it came from. The orchestrator cannot work: there it lies loose.
pub(super) fn give_back(
    draft: &mut Draft<'_>,
    from: Party,
    to: Party,
    package: Option<ContentId>,
    reason: ContentId,
    forward: EdgeKey,
    follows: HandoffNo,
) -> HandoffNo {
    let offer = Offer {
        kind: Kind::Return,
        reason: Some(reason),
        forward,
        follows: Some(follows),
        ..Offer::new(from, to, package)
    };
    hand_over(draft, offer, AtOrchestrator::LiesLoose)
}

/// What a gate is about when a step itself is stuck.
pub(super) fn stuck(
    cause: GateCause,
    handoff: &crate::run::Handoff,
    package: Option<ContentId>,
    reason: Option<ContentId>,
) -> Gate {
    Gate {
        cause,
        asker: handoff.to.clone(),
        worker: handoff.to.clone(),
        package,
        given: handoff.package,
        reason,
        forward: handoff.forward.clone(),
        kind: crate::gate::GateKind::Blocking,
        sender: None,
        beside: None,
        about: None,
        evidence: Vec::new(),
    }
}

/// The edge that leads from `place` to an agent, or the refusal that lists the ones there are.
pub(super) fn edge_to<'a>(
    workflow: &'a Workflow,
    place: &Place,
    to: &AgentId,
    outcome: Option<Outcome>,
) -> Result<&'a Edge, Refusal> {
    let edges = workflow.edges_from(place);
    let leads_there = |it: &&Edge| {
        workflow.agents_at(&Workflow::target_place(&it.to)).contains(to)
            && outcome.is_none_or(|outcome| outcome == it.on)
    };
    edges.iter().find(leads_there).ok_or_else(|| Refusal::NotAnEdge {
        from: place.to_string(),
        to: to.clone(),
        known: known_edges(workflow, edges),
    })
}

fn known_edges(workflow: &Workflow, edges: &[Edge]) -> String {
    let known: Vec<String> = edges
        .iter()
        .flat_map(|edge| {
            let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
            agents.into_iter().map(move |it| format!("`{it}` on {}", edge.on.name()))
        })
        .collect();
    if known.is_empty() {
        return "nothing leads on from there".to_owned();
    }
    format!("from there it may go to {}", known.join(", "))
}

/// Checks a package against the contract of an edge; what does not refuse is a warning.
pub(super) fn check_contract(
    workflow: &Workflow,
    edge: &Edge,
    package: &Package,
    asked: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let contract: Option<&Contract> =
        edge.contract.as_deref().and_then(|name| workflow.contract(name));
    let Some(contract) = contract else { return Ok(Vec::new()) };
    let profile = edge.profile.or(workflow.profile).unwrap_or(asked);
    let report = contract.check(&package.document);
    let problems = report.refusing(profile);
    if problems.is_empty() {
        return Ok(report.should);
    }
    Err(Refusal::Contract {
        contract: contract.name.clone(),
        problems,
        skeleton: Box::new(contract.skeleton(&package.document)),
    })
}

fn default_reason(draft: &Draft<'_>, to: &Party) -> String {
    match &to.place {
        Place::Orchestrator => "The work comes back to the orchestrator".to_owned(),
        Place::Delegate(_) => "A part of the work needs a specialist".to_owned(),
        Place::Human => "A person has to decide".to_owned(),
        Place::Step(_) => match draft.step_at(&to.place).and_then(|it| it.reason.as_ref()) {
            Some(reason) => reason.as_str().to_owned(),
            None => format!("Step requires {} expertise", draft.ground.agents.name_of(&to.agent)),
        },
    }
}

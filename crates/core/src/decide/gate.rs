//! When a person is asked: because a step is stuck, or because the workflow declares a gate.

use super::approvals;
use super::checked;
use super::draft::Draft;
use super::limit;
use super::offer::{AtOrchestrator, Offer, hand_over, offer};
use super::passed;
use crate::content::ContentId;
use crate::event::GateEvent;
use crate::evidence::{self, Evidence};
use crate::gate::{Gate, GateCause, GateEdge, GateKind};
use crate::names::AgentId;
use crate::package::Package;
use crate::run::{EdgeKey, Handoff, HandoffNo, Kind, Party};
use crate::workflow::{Edge, EdgeGate, Place, Workflow, raised};

pub(super) fn human() -> Party {
    Party { agent: AgentId::human(), place: Place::Human }
}

pub(super) fn orchestrator() -> Party {
    Party { agent: AgentId::orchestrator(), place: Place::Orchestrator }
}

/// Asks a person. The baton is parked until they answer.
pub(super) fn open_gate(
    draft: &mut Draft<'_>,
    gate: Gate,
    follows: Option<HandoffNo>,
) -> HandoffNo {
    let from = gate.asker.clone();
    open_gate_from(draft, from, gate, follows)
}

/// As [`open_gate`], where another party sends it for the asker.
pub(super) fn open_gate_from(
    draft: &mut Draft<'_>,
    from: Party,
    gate: Gate,
    follows: Option<HandoffNo>,
) -> HandoffNo {
    let reason = match gate.reason {
        Some(reason) => reason,
        None => draft.keep(&gate.sentence()),
    };
    let handoff = offer(
        draft,
        Offer {
            kind: Kind::Escalation,
            reason: Some(reason),
            follows,
            forward: gate.forward.clone(),
            told_warnings: gate.warnings.clone(),
            ..Offer::new(from, human(), gate.package)
        },
    );
    let gate = approvals::asked_for(draft, gate);
    draft.emit(GateEvent::Opened { handoff, gate });
    draft.done.gate = Some(handoff);
    handoff
}

/// The gate for a step that is stuck.
pub(super) fn gate_when_stuck(
    cause: GateCause,
    handoff: &Handoff,
    package: Option<ContentId>,
    reason: Option<ContentId>,
) -> Gate {
    let sender = handoff.reject_to.as_ref().unwrap_or(&handoff.from);
    Gate {
        given: handoff.package,
        sender: Some(sender.clone()),
        has_lost_lease: handoff.has_lost_lease
            || matches!(
                cause,
                GateCause::LostLease
                    | GateCause::Stalled
                    | GateCause::NoProgress
                    | GateCause::Budget
            ),
        ..gate_between(
            cause,
            handoff.to.clone(),
            handoff.to.clone(),
            package,
            reason,
            &handoff.forward,
        )
    }
}

/// The gate for work that waits between two parties.
pub(super) fn gate_between(
    cause: GateCause,
    asker: Party,
    worker: Party,
    package: Option<ContentId>,
    reason: Option<ContentId>,
    forward: &EdgeKey,
) -> Gate {
    Gate {
        cause,
        kind: GateKind::Blocking,
        asker,
        worker,
        package,
        given: package,
        reason,
        forward: forward.clone(),
        sender: None,
        beside: None,
        about: None,
        edge: None,
        has_lost_lease: false,
        evidence: Vec::new(),
        warnings: Vec::new(),
        limit: None,
        budget: None,
        approval: None,
        is_raised: false,
        remind_at: None,
        reminded_at: None,
    }
}

/// Work on its way along an edge, with what a gate on that edge needs.
pub(super) struct Onward<'a> {
    pub(super) offer: Offer,
    pub(super) then: AtOrchestrator,
    /// The edge by which the sender got its own work: rounds of returned work are counted there.
    pub(super) came_by: EdgeKey,
    /// Results of checks recorded while the sender worked.
    pub(super) evidence: &'a [Evidence],
    /// Who gets it back, where that is not the sender.
    pub(super) asker: Option<Party>,
    /// The start of the edge, which for a skipped step is not the sender's place.
    pub(super) from: Place,
    /// Why a person has to approve it although no gate is declared.
    pub(super) doubt: Option<Doubt>,
}

/// Why a person has to approve work although no blocking gate is declared.
pub(super) struct Doubt {
    pub(super) cause: DoubtCause,
    /// `None` where they are the reason of the offer already.
    pub(super) words: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DoubtCause {
    /// The sender is not sure. A gate of the edge asks in any case, or its checks decide.
    Confidence,
    /// A rule about the package asks: whatever an automatic gate has of checks.
    Raised,
}

impl Doubt {
    /// Whether the work stops for it, or for the gate that the edge has.
    pub(super) fn stops(&self, edge: &Edge) -> bool {
        match self.cause {
            DoubtCause::Confidence => edge.stopping_gate().is_none(),
            DoubtCause::Raised => edge.gate.as_ref().is_none_or(|it| !it.kind.is_blocking()),
        }
    }
}

/// What a package says that a person has to approve.
pub(super) fn doubt(edge: &Edge, package: &Package) -> Option<Doubt> {
    let raised = raised(&edge.raise, package);
    let words = raised.map(|words| Doubt { cause: DoubtCause::Raised, words: Some(words) });
    words.or_else(|| {
        let words = Some(too_low(edge, package)?);
        Some(Doubt { cause: DoubtCause::Confidence, words })
    })
}

/// The number in a package that is below what the edge asks for, in words.
fn too_low(edge: &Edge, package: &Package) -> Option<String> {
    let threshold = edge.threshold.as_ref()?;
    let least: f64 = threshold.below.as_str().parse().ok()?;
    let field = &threshold.field;
    let why = package.text_at("reasoning").map(|it| format!(": {it}")).unwrap_or_default();
    // A share of 1 has no other numbers; a threshold above 1 is on a scale of its own.
    let is_share = (0.0..=1.0).contains(&least);
    let is_readable = |it: &f64| it.is_finite() && (!is_share || (0.0..=1.0).contains(it));
    match package.number_at(field).filter(is_readable) {
        Some(given) if given < least => {
            Some(format!("`{field}` is {given}, below {}{why}", threshold.below.as_str()))
        }
        Some(_) => None,
        // What cannot be read may be low: a person looks at it.
        None => package.has_field(field).then(|| {
            let scale = if is_share { " from 0 to 1" } else { "" };
            format!("`{field}` is not a number{scale}, so it counts as too low{why}")
        }),
    }
}

/// Hands work on along an edge, parks it on the edge's checks, or opens the edge's gate.
pub(super) fn onward(draft: &mut Draft<'_>, edge: &Edge, work: Onward<'_>) -> HandoffNo {
    // Work that leaves a place was there, accepted or not.
    passed::go_back_to(draft, &work.from);
    if checked::is_needed(draft, edge, &work) {
        return checked::park(draft, edge, work);
    }
    through_gate(draft, edge, work)
}

/// As [`onward`], for work whose checks have passed.
pub(super) fn through_gate(draft: &mut Draft<'_>, edge: &Edge, work: Onward<'_>) -> HandoffNo {
    let on = work.offer.on.or(Some(edge.on));
    let work = Onward { offer: Offer { on, ..work.offer }, ..work };
    let is_stopped = edge.stopping_gate().is_some();
    if draft.run.has_checks && edge.holds() && !is_stopped {
        let GateEdge { from, to, on } = edge_of(&work.from, edge);
        let (evidence, branch) = (work.evidence.to_vec(), draft.branch);
        let edge = EdgeKey { from, to };
        draft.emit(GateEvent::Passed { edge, evidence, on: Some(on), branch });
    }
    if let Some(doubt) = work.doubt.as_ref().filter(|it| it.stops(edge)) {
        let cause = match doubt.cause {
            DoubtCause::Confidence => GateCause::Confidence,
            // It stands for the gate that checks would have opened.
            DoubtCause::Raised if is_stopped => GateCause::Declared,
            DoubtCause::Raised => GateCause::Raised,
        };
        let reason = doubt.words.as_ref().map(|it| draft.keep(it)).or(work.offer.reason);
        let offer = Offer { reason, ..work.offer };
        let work = Onward { offer, ..work };
        return stop(draft, edge, work, cause, GateKind::Blocking);
    }
    let Some(gate) = &edge.gate else { return hand_over(draft, work.offer, work.then) };
    match gate.kind {
        GateKind::Blocking => stop(draft, edge, work, GateCause::Declared, gate.kind),
        // At a limit the work does not go on, so that there is nothing to object to.
        GateKind::Advisory if limit::gate_instead(draft, &work.offer).is_some() => {
            hand_over(draft, work.offer, work.then)
        }
        GateKind::Advisory => advise(draft, edge, work),
        GateKind::Automatic => check(draft, edge, gate, work),
    }
}

fn check(draft: &mut Draft<'_>, edge: &Edge, gate: &EdgeGate, work: Onward<'_>) -> HandoffNo {
    match evidence::missing(&gate.checks, &draft.counting(work.evidence)) {
        None => {
            let passed = EdgeKey { from: work.from, to: work.offer.to.place.clone() };
            let (evidence, on) = (work.evidence.to_vec(), Some(edge.on));
            let branch = draft.branch;
            draft.emit(GateEvent::Passed { edge: passed, evidence, on, branch });
            hand_over(draft, work.offer, work.then)
        }
        Some(why) => {
            let reason = draft.keep(&format!("{}: {why}", gate.name));
            let offer = Offer { reason: Some(reason), ..work.offer };
            stop(draft, edge, Onward { offer, ..work }, GateCause::Checks, gate.kind)
        }
    }
}

fn stop(
    draft: &mut Draft<'_>,
    edge: &Edge,
    work: Onward<'_>,
    cause: GateCause,
    kind: GateKind,
) -> HandoffNo {
    let follows = work.offer.follows;
    let from = work.offer.from.clone();
    let evidence = work.evidence.to_vec();
    let is_raised =
        work.doubt.as_ref().is_some_and(|it| it.cause == DoubtCause::Raised && it.stops(edge));
    let gate = Gate { kind, evidence, is_raised, ..gate_of(edge, &work, cause) };
    draft.done.warnings.extend(work.offer.warnings);
    open_gate_from(draft, from, gate, follows)
}

/// Does both: the work goes on, and an advisory gate informs a person.
fn advise(draft: &mut Draft<'_>, edge: &Edge, work: Onward<'_>) -> HandoffNo {
    let beside = HandoffNo(draft.run.n_handoffs + 2);
    let gate = Gate {
        kind: GateKind::Advisory,
        beside: Some(beside),
        reason: Some(draft.keep("The work goes on; a person may object while it does")),
        ..gate_of(edge, &work, GateCause::Declared)
    };
    let from = work.offer.from.clone();
    open_gate_from(draft, from, gate, work.offer.follows);
    hand_over(draft, work.offer, work.then)
}

fn gate_of(edge: &Edge, work: &Onward<'_>, cause: GateCause) -> Gate {
    let offer = &work.offer;
    let asker = work.asker.as_ref().unwrap_or(&offer.from).clone();
    let to = offer.to.clone();
    Gate {
        edge: Some(edge_of(&work.from, edge)),
        has_lost_lease: offer.has_lost_lease,
        warnings: offer.warning_words(),
        ..gate_between(cause, asker, to, offer.package, offer.reason, &work.came_by)
    }
}

pub(super) fn edge_of(from: &Place, edge: &Edge) -> GateEdge {
    GateEdge { from: from.clone(), to: Workflow::target_place(&edge.to), on: edge.on }
}

/// The offer past a gate, along the gate's edge, whichever party the asker was.
pub(super) fn past(gate: &Gate, package: Option<ContentId>) -> Offer {
    let onward = Offer {
        has_lost_lease: gate.has_lost_lease,
        ..Offer::new(gate.asker.clone(), gate.worker.clone(), package)
    };
    match &gate.edge {
        Some(GateEdge { from, to, on }) => {
            let forward = EdgeKey { from: from.clone(), to: to.clone() };
            Offer { forward, on: Some(*on), ..onward }
        }
        None => onward,
    }
}

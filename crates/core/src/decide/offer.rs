//! How a handoff is created: along an edge, or back to its sender.

use jiff::Timestamp;

use super::approvals;
use super::draft::Draft;
use super::fork;
use super::gate::open_gate_from;
use super::limit;
use super::shared;
use crate::content::ContentId;
use crate::detour::Detour;
use crate::event::{BlockerEvent, Created, HandoffEvent, RunEvent, StepEntry};
use crate::hash::Hash;
use crate::names::{AgentId, CommitId, Principal};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::run::{EdgeKey, Handoff, HandoffId, HandoffNo, Kind, Party};
use crate::workflow::{Place, Target};

/// A handoff about to be created.
#[derive(Clone)]
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
    /// Warnings found earlier, when the package came to a gate.
    pub(super) told_warnings: Vec<String>,
    pub(super) brings: Option<Outcome>,
    pub(super) held_back_until: Option<Timestamp>,
    pub(super) has_lost_lease: bool,
    /// An agent's work enters the receiver's step, where that is counted.
    pub(super) entry: Option<StepEntry>,
    /// The receiver is to resolve what blocks another agent.
    pub(super) detour: Option<Box<Detour>>,
    /// Why the work once came back to the receiver, where this offers it again. Where this sends it
    /// back itself, its reason is that.
    pub(super) rework_reason: Option<ContentId>,
    pub(super) n_questions: u32,
    pub(super) n_releases: u32,
    /// The hash of the error with which the attempt before ended, to notice the same one again.
    pub(super) failure: Option<Hash>,
    /// What the agent of the attempt before printed, where that was lost.
    pub(super) lost_output: Option<Hash>,
    /// The tree that the checks of the work have passed with.
    pub(super) tree: Option<CommitId>,
    /// The outcome of the edge that it goes along, where it goes along one.
    pub(super) on: Option<Outcome>,
}

/// Bounds the size of the stored event.
const MOST_WARNINGS: usize = 50;

impl Offer {
    /// The first attempt along an edge, with no predecessor.
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
            told_warnings: Vec::new(),
            brings: None,
            held_back_until: None,
            has_lost_lease: false,
            entry: None,
            detour: None,
            rework_reason: None,
            n_questions: 0,
            n_releases: 0,
            failure: None,
            lost_output: None,
            tree: None,
            on: None,
        }
    }

    /// The same work for the same receiver, after a failed attempt.
    pub(super) fn retry(draft: &Draft<'_>, handoff: &Handoff) -> Self {
        let given = draft.given(&handoff.to.place).filter(|_| handoff.kind != Kind::Question);
        Self {
            rework_reason: given.and_then(|it| it.rework_reason),
            kind: handoff.kind,
            forward: handoff.forward.clone(),
            reject_to: handoff.reject_to.clone(),
            attempt: handoff.attempt + 1,
            follows: Some(handoff.no),
            has_lost_lease: handoff.has_lost_lease,
            detour: handoff.detour.clone(),
            ..Self::new(handoff.from.clone(), handoff.to.clone(), handoff.package)
        }
    }

    /// Warnings of the contract and the linter, in the form that is stored.
    pub(super) fn warning_words(&self) -> Vec<String> {
        let found = self.warnings.iter().map(|it| format!("{} {}", it.rule, it.path));
        self.told_warnings.iter().cloned().chain(found).take(MOST_WARNINGS).collect()
    }
}

/// Creates the handoff as pending. The caller moves the baton if it is to be elsewhere.
pub(super) fn offer(draft: &mut Draft<'_>, offer: Offer) -> HandoffNo {
    let handoff = HandoffNo(draft.run.n_handoffs + 1);
    let reason = match offer.reason {
        Some(reason) => reason,
        None => {
            let words = default_reason(draft, &offer);
            draft.keep_shared(words)
        }
    };
    let warnings = offer.warning_words();
    let package = offer.package;
    // A person who approves with a package of their own has written it in the sender's place.
    let writer = match offer.approved_by {
        Some(_) => AgentId::human(),
        None => offer.from.agent.clone(),
    };
    let author = approvals::author(draft, package);
    let cast = draft.portray();
    // However a run begins, its work enters the first step once.
    let is_first = draft.run.n_handoffs == 0 && offer.to.place.is_step();
    let entry = offer.entry.or(is_first.then_some(StepEntry::Onward));
    let is_sent_back = offer.kind == Kind::Return && offer.brings.is_none();
    let is_rework = is_sent_back && offer.to.place.is_step();
    let rework_reason = offer.rework_reason.or(is_rework.then_some(reason));
    let score = draft.take_score(package);
    draft.emit(HandoffEvent::Created(Created {
        handoff,
        score,
        id: HandoffId(draft.ground.fresh.id()),
        branch: draft.branch,
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
        author,
        warnings,
        brings: offer.brings,
        held_back_until: offer.held_back_until,
        has_lost_lease: offer.has_lost_lease,
        cast,
        from_portrait: None,
        to_portrait: None,
        entry,
        rework_reason,
        n_questions: offer.n_questions,
        n_releases: offer.n_releases,
        failure: offer.failure,
        lost_output: offer.lost_output,
        tree: offer.tree,
    }));
    if let Some(package) = package {
        let stated = draft.take_stated(package);
        shared::state(draft, handoff, &writer, package, &stated);
    }
    if let Some(detour) = offer.detour {
        draft.emit(BlockerEvent::Routed { handoff, detour: *detour });
    }
    draft.done.warnings.extend(offer.warnings);
    handoff
}

/// What happens to the baton when the orchestrator takes it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtOrchestrator {
    EndsRun,
    /// Unfinished: the baton is loose there, and a person sees it.
    LiesLoose,
    /// As `LiesLoose`, because of an error.
    Failed,
}

impl AtOrchestrator {
    pub(super) fn of(target: &Target) -> Self {
        match target {
            Target::Complete => Self::EndsRun,
            Target::Step(_) => Self::LiesLoose,
        }
    }
}

/// As [`offer`], where the receiver may be the orchestrator, which answers at once, or where the
/// work may be on its way into a step once too often: then a person is asked instead.
pub(super) fn hand_over(draft: &mut Draft<'_>, it: Offer, then: AtOrchestrator) -> HandoffNo {
    let it = fork::in_own_branch(draft, it);
    if fork::is_arrival(draft, &it) {
        return fork::arrive(draft, it);
    }
    if let Some(fan_out) = fork::fan_out_of(draft, &it) {
        return fork::hand_to_branches(draft, it, fan_out);
    }
    if let Some(gate) = limit::gate_instead(draft, &it) {
        draft.done.warnings.extend(it.warnings);
        return open_gate_from(draft, it.from, gate, it.follows);
    }
    let from = it.from.clone();
    let to = it.to.clone();
    let handoff = offer(draft, it);
    if !to.agent.is_orchestrator() {
        return handoff;
    }
    draft.emit(HandoffEvent::Accepted {
        handoff,
        by: to.agent,
        is_implicit: true,
        acknowledgement: None,
        holder: None,
    });
    let outcome = match then {
        AtOrchestrator::EndsRun | AtOrchestrator::LiesLoose => Outcome::Success,
        AtOrchestrator::Failed => Outcome::Failure,
    };
    draft.complete(handoff, outcome, None);
    match then {
        AtOrchestrator::EndsRun => {
            draft.end_advice();
            draft.emit(RunEvent::Completed);
        }
        AtOrchestrator::LiesLoose | AtOrchestrator::Failed => {
            lie_loose(draft, Place::Orchestrator, from.place.clone(), &from);
        }
    }
    handoff
}

/// The baton is loose; `had_by` is the party that would do the work again.
pub(super) fn lie_loose(draft: &mut Draft<'_>, at: Place, other: Place, had_by: &Party) {
    let first = draft.workflow().agents_at(&had_by.place).into_iter().next();
    let is_another = had_by.place.is_step() && first.as_ref() != Some(&had_by.agent);
    let meant_for = is_another.then(|| had_by.agent.clone());
    let branch = draft.branch;
    draft.emit(RunEvent::BatonLoose { at, other, meant_for, branch });
}

/// The orchestrator's offer of a step's last package to that step, with the reason why it came back
/// there, if it did. If rejected, it goes to its original sender, and the round counts on the edge
/// it came by.
pub(super) fn reoffer(draft: &Draft<'_>, to: Party) -> Offer {
    let from = Party { agent: AgentId::orchestrator(), place: Place::Orchestrator };
    match draft.given(&to.place).cloned() {
        Some(given) => Offer {
            forward: given.forward(),
            reject_to: Some(given.sender).filter(|it| it.place != Place::Orchestrator),
            has_lost_lease: given.has_lost_lease,
            reason: given.rework_reason,
            rework_reason: given.rework_reason,
            ..Offer::new(from, to, given.package)
        },
        None => Offer::new(from, to, draft.newest_package()),
    }
}

/// Returns work to its sender. The orchestrator cannot work: there the baton is loose.
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

/// Baton's own words, where the sender gave no reason.
pub const BACK_AT_ORCHESTRATOR: &str = "The work comes back to the orchestrator";

fn default_reason(draft: &Draft<'_>, offer: &Offer) -> String {
    let to = &offer.to;
    if let Some(outcome) = offer.brings {
        let name = draft.ground.agents.name_of(&offer.from.agent);
        if outcome == Outcome::Success {
            return format!("{name} gives its part back");
        }
        return format!("{name} gives its part back: {}", outcome.name());
    }
    match &to.place {
        Place::Orchestrator => BACK_AT_ORCHESTRATOR.to_owned(),
        Place::Delegate(_) => "A part of the work needs a specialist".to_owned(),
        Place::Human => "A person has to decide".to_owned(),
        Place::Step(_) => match draft.step_at(&to.place).and_then(|it| it.reason.as_ref()) {
            Some(reason) => reason.as_str().to_owned(),
            None => format!("Step requires {} expertise", draft.ground.agents.name_of(&to.agent)),
        },
    }
}

//! Every cycle ends: a step is entered by work only so often, a holder delegates only so many
//! parts, and an agent is sent to clear a blocked step only so often. Beyond that a person is asked.

use super::draft::Draft;
use super::gate::gate_between;
use super::offer::Offer;
use super::usage::{self, BudgetedWork};
use crate::content::ContentId;
use crate::event::StepEntry;
use crate::gate::{Answer, Gate, GateCause, ReachedLimit};
use crate::hash::Hash;
use crate::names::StepId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::run::{CounterScope, Handoff, Party, RunCounter};
use crate::workflow::{Edge, Place, Step, StepLimits, Target};

/// How work that an agent sends along `edge` enters the step there; `None` at the end.
pub(super) fn entry_along(edge: &Edge, package: Option<&Package>) -> Option<StepEntry> {
    match edge.to {
        Target::Complete => return None,
        Target::Step(_) => {}
    }
    Some(match edge.on {
        Outcome::Blocked => StepEntry::Blocked,
        Outcome::Failure | Outcome::Unknown => StepEntry::Rework { findings: found(package) },
        Outcome::Success
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped => {
            if edge.is_back {
                StepEntry::Rework { findings: found(package) }
            } else {
                StepEntry::Onward
            }
        }
    })
}

fn found(package: Option<&Package>) -> Option<Hash> {
    package.and_then(Package::trouble_hash)
}

/// The gate that opens instead of `offer`, where work would enter a step once too often, or with
/// the findings with which its sender has just sent it back already.
pub(super) fn gate_instead(draft: &Draft<'_>, offer: &Offer) -> Option<Gate> {
    let entry = offer.entry?;
    let step = offer.to.place.as_step()?;
    let budget = usage::reached(draft, BudgetedWork::of(&offer.from, &offer.to))
        .or_else(|| usage::exceeded(draft, &offer.from));
    let (cause, limit) = match entries_reached(draft, step) {
        Some(limit) => (GateCause::Entries, Some(limit)),
        None if budget.is_some() => (GateCause::Budget, None),
        None => match run_handoffs_reached(draft) {
            Some(limit) => (GateCause::RunLimit, Some(limit)),
            None if has_run_too_long(draft) => (GateCause::RunLimit, None),
            None if finds_the_same(draft, &offer.from, entry) => (GateCause::SameFindings, None),
            None => return None,
        },
    };
    let budget = budget.filter(|_| cause == GateCause::Budget);
    // What several branches brought is the work of the party that fanned it out.
    let sender = offer.reject_to.as_ref().unwrap_or(&offer.from);
    let (asker, package) = match entry {
        StepEntry::Rework { .. } => (offer.from.clone(), given_to(draft, &offer.from.place)),
        StepEntry::Onward | StepEntry::Blocked => {
            let asker = who_asked_for_it(draft, &sender.place);
            (asker.unwrap_or_else(|| sender.clone()), offer.package)
        }
    };
    Some(Gate {
        given: offer.package,
        sender: Some(offer.from.clone()),
        has_lost_lease: offer.has_lost_lease,
        warnings: offer.warning_words(),
        limit,
        budget,
        ..gate_between(cause, asker, offer.to.clone(), package, offer.reason, &offer.forward)
    })
}

/// The outermost limit: over all steps, edges and branches. Whatever is inside it may be within its
/// own.
fn run_handoffs_reached(draft: &Draft<'_>) -> Option<ReachedLimit> {
    let most = draft.workflow().limits.run_handoffs?;
    let (n, most) = (draft.run.n_handoffs, most.saturating_mul(granted(draft) + 1));
    (n >= most).then_some(ReachedLimit { n, most })
}

fn has_run_too_long(draft: &Draft<'_>) -> bool {
    draft.workflow().limits.run_within.is_some_and(|within| {
        let most = within.saturating_mul(i32::try_from(granted(draft) + 1).unwrap_or(i32::MAX));
        draft.ground.now.duration_since(draft.run.started_at) >= most
    })
}

/// How often people have let the run go on beyond its own limits.
fn granted(draft: &Draft<'_>) -> u32 {
    draft.run.counter(0, &CounterScope::WholeRun).map_or(0, |it| it.n_extra)
}

fn entries_reached(draft: &Draft<'_>, step: &StepId) -> Option<ReachedLimit> {
    let n = draft.run.entries(draft.branch_at(step), step);
    let most = draft.workflow().entries_of(step);
    (n >= most).then_some(ReachedLimit { n, most })
}

/// Twice in a row, whichever steps were in between.
fn finds_the_same(draft: &Draft<'_>, sender: &Party, entry: StepEntry) -> bool {
    let (StepEntry::Rework { findings: Some(now) }, Some(step)) = (entry, sender.place.as_step())
    else {
        return false;
    };
    let before = draft.counter(&CounterScope::Entries(step.clone()));
    before.is_some_and(|it| it.findings == Some(now))
}

fn given_to(draft: &Draft<'_>, place: &Place) -> Option<ContentId> {
    draft.given(place).and_then(|it| it.package).or_else(|| draft.newest_package())
}

/// The step that sent the work back, found by who gave it to whom.
fn who_asked_for_it(draft: &Draft<'_>, from: &Place) -> Option<Party> {
    let mut place = from;
    // A path of senders that is longer than this goes in a circle.
    for _ in &draft.workflow().steps {
        let given = draft.given(place)?;
        if given.is_rework {
            return Some(given.sender.clone()).filter(|it| it.place.is_step());
        }
        place = &given.sender.place;
    }
    None
}

/// Whether one part more is too much for the holding that it belongs to, however deep it is in it.
pub(super) fn delegations_reached(draft: &Draft<'_>, held: &Handoff) -> Option<ReachedLimit> {
    let holding = draft.run.outermost(draft.branch, held.no);
    let place = draft.run.handoff(holding).map(|it| &it.to.place);
    let step = place.and_then(|it| draft.step_at(it));
    let most = step.map_or_else(|| StepLimits::default().delegations, |it| it.limits.delegations);
    let n = draft.count_of(&CounterScope::Delegations(holding));
    (n >= most).then_some(ReachedLimit { n, most })
}

/// Whether agents were sent to clear the step as often as it allows.
pub(super) fn blocks_reached(draft: &Draft<'_>, step: &Step) -> Option<ReachedLimit> {
    let n = draft.count_of(&CounterScope::Blocks(step.id.clone()));
    let most = step.limits.blocks;
    (n >= most).then_some(ReachedLimit { n, most })
}

/// Whether the handoff was accepted and released as often as the workflow allows.
pub(super) fn releases_reached(draft: &Draft<'_>, held: &Handoff) -> Option<ReachedLimit> {
    let n = draft.count_of(&CounterScope::Releases(held.no));
    let most = draft.workflow().limits.releases;
    (n >= most).then_some(ReachedLimit { n, most })
}

/// The steps that are counted anew once a person has answered `gate`: the one that the gate is on,
/// or that the gate's edge leads to; at a limit also those that go round with it.
pub(super) fn resets(draft: &Draft<'_>, gate: &Gate, answer: &Answer) -> Vec<StepId> {
    // A permission decides about a tool, not about the work.
    if *answer == Answer::Abort || gate.cause == GateCause::Permission {
        return Vec::new();
    }
    let mut places = vec![&gate.worker.place];
    let is_limit = match gate.cause {
        GateCause::Rounds
        | GateCause::SameFindings
        | GateCause::Entries
        | GateCause::NoProgress => true,
        GateCause::Delegations
        | GateCause::Failure
        | GateCause::Unrecoverable
        | GateCause::Blocked
        | GateCause::NeedsClarification
        | GateCause::NeedsReview
        | GateCause::Declared
        | GateCause::Checks
        | GateCause::RunLimit
        | GateCause::Budget
        | GateCause::Stalled
        | GateCause::Confidence
        | GateCause::Raised
        | GateCause::Escalation
        | GateCause::Questions
        | GateCause::LostLease
        | GateCause::Releases
        | GateCause::Expired
        | GateCause::Permission => false,
    };
    if is_limit {
        places.extend([&gate.asker.place, &gate.forward.from, &gate.forward.to]);
    }
    let mut steps: Vec<&StepId> = places.into_iter().filter_map(Place::as_step).collect();
    if is_limit {
        let cycles = draft.workflow().graph().cycles().iter();
        let turning: Vec<&StepId> =
            cycles.filter(|cycle| steps.iter().any(|it| cycle.contains(it))).flatten().collect();
        steps.extend(turning);
    }
    let is_counted = |step: &StepId| {
        let scopes = [CounterScope::Entries(step.clone()), CounterScope::Blocks(step.clone())];
        let is_decided = |it: &&RunCounter| draft.branch == 0 || it.branch == draft.branch;
        let mut counters = draft.run.counters.iter().filter(is_decided);
        counters.any(|it| scopes.contains(&it.scope))
    };
    let mut counted: Vec<StepId> = Vec::new();
    for step in steps {
        if !counted.contains(step) && is_counted(step) {
            counted.push(step.clone());
        }
    }
    counted
}

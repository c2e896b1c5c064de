//! Complete: the one way out of a held baton. The outcome picks the edge, and the next handoff
//! is made in the same breath.

use super::accept;
use super::draft::{Draft, only};
use super::offer::{
    AtOrchestrator, Offer, check_contract, edge_to, hand_over, offer, open_gate, stuck,
};
use super::reject;
use crate::command::{Complete, Create};
use crate::content::ContentId;
use crate::contract::Profile;
use crate::event::Event;
use crate::gate::{Gate, GateCause};
use crate::names::{AgentId, Reason};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::run::{Handoff, Party, RunStatus, State};
use crate::workflow::{Edge, Place, Step, Workflow};

pub(super) fn decide(draft: &mut Draft<'_>, complete: &Complete) -> Result<(), Refusal> {
    let handoff = draft.open_work(complete.handoff)?;
    only(&handoff.to.agent, complete.by.as_ref(), "complete", handoff.no)?;
    let work = Work {
        package: &complete.package,
        outcome: Some(complete.outcome),
        to: complete.to.as_ref(),
        reason: complete.reason.clone(),
        profile: complete.profile,
    };
    finish(draft, &handoff, &work)
}

/// What the receiver of `handoff` hands on when it says [`Create`].
pub(super) fn by_create(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    create: &Create,
) -> Result<(), Refusal> {
    let work = Work {
        package: &create.package,
        outcome: create.outcome,
        to: Some(&create.to),
        reason: create.reason.clone(),
        profile: create.profile,
    };
    finish(draft, handoff, &work)
}

/// A finished piece of work and where its maker wants it to go.
struct Work<'a> {
    package: &'a Package,
    outcome: Option<Outcome>,
    to: Option<&'a AgentId>,
    reason: Option<Reason>,
    profile: Profile,
}

fn finish(draft: &mut Draft<'_>, handoff: &Handoff, work: &Work<'_>) -> Result<(), Refusal> {
    let step = step_of(draft, handoff)?;
    let route = route(draft, step, work)?;
    hold(draft, handoff, route.profile(draft.workflow()).unwrap_or(work.profile))?;
    // As it is now: whoever hands on without a word has accepted by that.
    let handoff = &draft.open(handoff.no)?;
    match route {
        Route::Edge(edge, agent) if edge.is_back => {
            let warnings = check_contract(draft.workflow(), edge, work.package, work.profile)?;
            reject::by_back_edge(
                draft,
                handoff,
                edge,
                agent,
                &reject::Feedback { package: work.package, reason: work.reason.as_ref(), warnings },
            )
        }
        Route::Edge(edge, agent) => {
            let warnings = check_contract(draft.workflow(), edge, work.package, work.profile)?;
            let package = draft.keep_package(work.package);
            end_step(draft, handoff, step, edge.on, Some(package));
            let reason = work.reason.as_ref().map(|it| draft.keep(it.as_str()));
            let to = Party { agent, place: Workflow::target_place(&edge.to) };
            let next = Offer {
                reason,
                follows: Some(handoff.no),
                warnings,
                ..Offer::new(handoff.to.clone(), to, Some(package))
            };
            draft.done.handoff = Some(hand_over(draft, next, AtOrchestrator::of(&edge.to)));
            Ok(())
        }
        Route::Review(edge, agent) => {
            check_contract(draft.workflow(), edge, work.package, work.profile)?;
            let package = draft.keep_package(work.package);
            let to = Party { agent, place: Workflow::target_place(&edge.to) };
            ask_for_review(draft, handoff, step, package, to, work);
            Ok(())
        }
        Route::Error => {
            let package = draft.keep_package(work.package);
            let outcome = work.outcome.unwrap_or(Outcome::Failure);
            end_step(draft, handoff, step, outcome, Some(package));
            let reason = stated(work).map(|it| draft.keep(it.as_str()));
            let to = Party { agent: AgentId::orchestrator(), place: Place::Orchestrator };
            let next = Offer {
                reason,
                follows: Some(handoff.no),
                ..Offer::new(handoff.to.clone(), to, Some(package))
            };
            draft.done.handoff = Some(hand_over(draft, next, AtOrchestrator::LiesLoose));
            Ok(())
        }
        Route::PassOn(edge, agent) => {
            let package = work_or_given(draft, handoff, work);
            let reason = work.reason.as_ref().map(|it| draft.keep(it.as_str()));
            end_step(draft, handoff, step, Outcome::Skipped, package);
            draft.emit(Event::StepSkipped { step: step.id.clone(), reason });
            let to = Party { agent, place: Workflow::target_place(&edge.to) };
            let next =
                Offer { follows: Some(handoff.no), ..Offer::new(handoff.to.clone(), to, package) };
            draft.done.handoff = Some(hand_over(draft, next, AtOrchestrator::of(&edge.to)));
            Ok(())
        }
        Route::Retry => {
            retry_or_ask(draft, handoff, step, work);
            Ok(())
        }
        Route::Ask(cause, outcome) => {
            ask(draft, handoff, step, work, cause, outcome);
            Ok(())
        }
    }
}

/// Where finished work goes.
enum Route<'a> {
    Edge(&'a Edge, AgentId),
    /// Along this edge, once a person has seen it.
    Review(&'a Edge, AgentId),
    /// Back to the orchestrator with an error: implied in every workflow.
    Error,
    /// Nothing was done: on along the success edge, whatever its contract asks for.
    PassOn(&'a Edge, AgentId),
    Retry,
    Ask(GateCause, Outcome),
}

impl Route<'_> {
    /// How severe the edge or the workflow is, where either says so for all faces.
    fn profile(&self, workflow: &Workflow) -> Option<Profile> {
        match self {
            Route::Edge(edge, _) | Route::Review(edge, _) | Route::PassOn(edge, _) => {
                edge.profile.or(workflow.profile)
            }
            Route::Error | Route::Retry | Route::Ask(..) => workflow.profile,
        }
    }
}

fn route<'a>(draft: &Draft<'a>, step: &'a Step, work: &Work<'_>) -> Result<Route<'a>, Refusal> {
    let workflow = draft.workflow();
    let place = Place::Step(step.id.clone());
    // Work that needs a review or was skipped takes the way that good work would take, unless
    // the workflow has a way of its own for it.
    let edge_outcome = work.outcome.map(|it| match it {
        Outcome::NeedsReview | Outcome::Skipped if step.edges_on(it).next().is_some() => it,
        Outcome::NeedsReview | Outcome::Skipped => Outcome::Success,
        Outcome::Success
        | Outcome::Failure
        | Outcome::Blocked
        | Outcome::NeedsClarification
        | Outcome::Unknown => it,
    });
    let is_trouble = match work.outcome {
        Some(Outcome::Failure | Outcome::Blocked | Outcome::Unknown) => true,
        Some(
            Outcome::Success
            | Outcome::NeedsReview
            | Outcome::NeedsClarification
            | Outcome::Skipped,
        ) => false,
        None => work.package.has_error(),
    };
    if let Some(to) = work.to {
        if to.is_orchestrator() && is_trouble {
            return Ok(Route::Error);
        }
        if to.is_human() {
            return ask_a_person(workflow, step, work.outcome);
        }
        let edge = edge_to(workflow, &place, to, edge_outcome)?;
        return on_edge(step, edge, to.clone(), work.outcome);
    }
    let outcome = edge_outcome.unwrap_or(Outcome::Success);
    if step.edges_on(outcome).next().is_some() {
        let (edge, agent) = only_edge(workflow, step, outcome)?;
        return on_edge(step, edge, agent, work.outcome);
    }
    match outcome {
        Outcome::Failure | Outcome::Unknown => Ok(Route::Retry),
        Outcome::Blocked => Ok(Route::Ask(GateCause::Blocked, outcome)),
        Outcome::NeedsClarification => Ok(Route::Ask(GateCause::NeedsClarification, outcome)),
        Outcome::Success | Outcome::NeedsReview | Outcome::Skipped => {
            Err(choose(workflow, step, outcome))
        }
    }
}

/// A person may be asked from anywhere: to look at good work, or to help with what is stuck.
fn ask_a_person<'a>(
    workflow: &Workflow,
    step: &'a Step,
    outcome: Option<Outcome>,
) -> Result<Route<'a>, Refusal> {
    match outcome {
        Some(Outcome::Success | Outcome::NeedsReview) => {
            let (edge, agent) = only_edge(workflow, step, Outcome::Success)?;
            Ok(Route::Review(edge, agent))
        }
        Some(Outcome::NeedsClarification) => {
            Ok(Route::Ask(GateCause::NeedsClarification, Outcome::NeedsClarification))
        }
        Some(Outcome::Failure | Outcome::Unknown) => {
            Ok(Route::Ask(GateCause::Failure, Outcome::Failure))
        }
        Some(Outcome::Blocked | Outcome::Skipped) | None => {
            Ok(Route::Ask(GateCause::Blocked, Outcome::Blocked))
        }
    }
}

/// The way on for an outcome, where there is but one, to one agent.
fn only_edge<'a>(
    workflow: &Workflow,
    step: &'a Step,
    outcome: Outcome,
) -> Result<(&'a Edge, AgentId), Refusal> {
    let mut edges = step.edges_on(outcome);
    if let (Some(edge), None) = (edges.next(), edges.next()) {
        let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
        if let [agent] = agents.as_slice() {
            return Ok((edge, agent.clone()));
        }
    }
    Err(choose(workflow, step, outcome))
}

fn on_edge<'a>(
    step: &Step,
    edge: &'a Edge,
    agent: AgentId,
    outcome: Option<Outcome>,
) -> Result<Route<'a>, Refusal> {
    match outcome {
        Some(Outcome::Skipped) if !step.is_optional => {
            Err(Refusal::NotOptional { step: step.id.clone() })
        }
        Some(Outcome::Skipped) => Ok(Route::PassOn(edge, agent)),
        Some(Outcome::NeedsReview) if edge.on != Outcome::NeedsReview => {
            Ok(Route::Review(edge, agent))
        }
        Some(
            Outcome::Success
            | Outcome::Failure
            | Outcome::Blocked
            | Outcome::NeedsReview
            | Outcome::NeedsClarification
            | Outcome::Unknown,
        )
        | None => Ok(Route::Edge(edge, agent)),
    }
}

/// The work counts only if its maker has the baton, or takes it by handing on.
fn hold(draft: &mut Draft<'_>, handoff: &Handoff, profile: Profile) -> Result<(), Refusal> {
    let wrong = |hint| Refusal::WrongState {
        command: "complete",
        handoff: handoff.no,
        state: handoff.state.name(),
        hint,
    };
    match handoff.state {
        State::Accepted => Ok(()),
        State::Pending => match profile {
            Profile::Strict => Err(Refusal::AcceptFirst { handoff: handoff.no }),
            Profile::Lenient if draft.run.status == RunStatus::Paused => Err(Refusal::Paused),
            Profile::Lenient => {
                accept::implicitly(draft, handoff, &handoff.to.agent);
                Ok(())
            }
        },
        State::Clarification => Err(wrong("its sender has to answer the question first")),
        State::Parked => Err(wrong("what it waits for has to come back first")),
    }
}

fn retry_or_ask(draft: &mut Draft<'_>, handoff: &Handoff, step: &Step, work: &Work<'_>) {
    if handoff.attempt > draft.workflow().limits.retries {
        ask(draft, handoff, step, work, GateCause::Failure, Outcome::Failure);
        return;
    }
    let package = draft.keep_package(work.package);
    end_step(draft, handoff, step, Outcome::Failure, Some(package));
    let reason = stated(work).map(|it| draft.keep(it.as_str()));
    let again = Offer {
        kind: handoff.kind,
        reason,
        forward: handoff.forward.clone(),
        reject_to: handoff.reject_to.clone(),
        attempt: handoff.attempt + 1,
        follows: Some(handoff.no),
        ..Offer::new(handoff.from.clone(), handoff.to.clone(), handoff.package)
    };
    draft.done.handoff = Some(offer(draft, again));
}

fn ask(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    step: &Step,
    work: &Work<'_>,
    cause: GateCause,
    outcome: Outcome,
) {
    let package = draft.keep_package(work.package);
    end_step(draft, handoff, step, outcome, Some(package));
    let reason = stated(work).map(|it| draft.keep(it.as_str()));
    let gate = stuck(cause, handoff, Some(package), reason);
    draft.done.handoff = Some(open_gate(draft, gate, Some(handoff.no)));
}

fn ask_for_review(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    step: &Step,
    package: ContentId,
    to: Party,
    work: &Work<'_>,
) {
    end_step(draft, handoff, step, Outcome::NeedsReview, Some(package));
    let reason = stated(work).map(|it| draft.keep(it.as_str()));
    let gate = Gate {
        worker: to,
        forward: handoff.forward.clone(),
        ..stuck(GateCause::NeedsReview, handoff, Some(package), reason)
    };
    draft.done.handoff = Some(open_gate(draft, gate, Some(handoff.no)));
}

fn end_step(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    step: &Step,
    outcome: Outcome,
    package: Option<ContentId>,
) {
    draft.emit(Event::HandoffCompleted { handoff: handoff.no, outcome, package, answer: None });
    let agent = handoff.to.agent.clone();
    draft.emit(Event::StepCompleted { step: step.id.clone(), agent, outcome });
}

/// Whoever skips may say something; what it says nothing about is handed on as it came.
fn work_or_given(draft: &mut Draft<'_>, handoff: &Handoff, work: &Work<'_>) -> Option<ContentId> {
    if work.package.document.is_blank() {
        return handoff.package;
    }
    Some(draft.keep_package(work.package))
}

fn stated(work: &Work<'_>) -> Option<Reason> {
    let from_package = || work.package.stated_reason().and_then(Reason::shortened);
    work.reason.clone().or_else(from_package)
}

fn step_of<'a>(draft: &Draft<'a>, handoff: &Handoff) -> Result<&'a Step, Refusal> {
    draft.step_at(&handoff.to.place).ok_or_else(|| Refusal::WrongState {
        command: "complete",
        handoff: handoff.no,
        state: handoff.state.name(),
        hint: "nobody works there",
    })
}

fn choose(workflow: &Workflow, step: &Step, outcome: Outcome) -> Refusal {
    let choices: Vec<String> = step
        .edges_on(outcome)
        .flat_map(|it| workflow.agents_at(&Workflow::target_place(&it.to)))
        .map(|it| format!("`{it}`"))
        .collect();
    Refusal::ChooseReceiver {
        step: step.id.clone(),
        outcome: outcome.name(),
        choices: choices.join(", "),
    }
}

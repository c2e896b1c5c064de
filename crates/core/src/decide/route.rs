//! Where finished work goes: the outcome, the receiver and the sender's stated way pick the route.

mod several;

use super::detour;
use super::draft::Draft;
use super::edge::edge_to;
use super::phase;
use crate::command::Way;
use crate::contract::Profile;
use crate::detour::Detour;
use crate::gate::GateCause;
use crate::names::{AgentId, Reason};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::Handoff;
use crate::workflow::{Edge, Place, Step, Workflow};

/// Finished work, or a part of it, and where the sender wants it to go.
pub(super) struct FinishedWork<'a> {
    pub(super) package: &'a Package,
    pub(super) outcome: Option<Outcome>,
    pub(super) to: Option<&'a AgentId>,
    /// More receivers, where the sender names all of a fan-out.
    pub(super) others: &'a [AgentId],
    pub(super) way: Option<Way>,
    /// Only a create may delegate a part; a complete finishes the work.
    pub(super) may_be_part: bool,
    pub(super) reason: Option<Reason>,
    pub(super) fence: Option<u32>,
    pub(super) profile: Profile,
}

impl FinishedWork<'_> {
    /// The sender's reason, else the one that its package gives.
    pub(super) fn stated_reason(&self) -> Option<Reason> {
        let from_package = || self.package.stated_reason().and_then(Reason::shortened);
        self.reason.clone().or_else(from_package)
    }
}

pub(super) enum Route<'a> {
    Edge(&'a Step, &'a Edge, AgentId),
    /// Along this edge, after a person's review.
    Review(&'a Step, &'a Edge, AgentId),
    /// Back to the orchestrator with an error: implied in every workflow.
    Error(&'a Step),
    /// Nothing was done: on along the success edge, under the rules of a skip.
    PassOn(&'a Step, &'a Edge, AgentId),
    Retry(&'a Step),
    Ask(&'a Step, GateCause, Outcome),
    /// A part of it to a specialist, under this contract.
    Delegate(AgentId, Option<&'a String>),
    /// To a person, while the holder waits.
    Escalate,
    /// Back to the caller, under this contract.
    Return(Box<Handoff>, Option<&'a String>),
    /// What blocks the step, to the agent that resolves it.
    Detour(&'a Step, AgentId),
    /// The blockers are resolved: back to the blocked agent.
    Resolved(Box<Detour>),
    /// They are not: to a person.
    Unresolved(Box<Detour>, Outcome),
}

impl Route<'_> {
    /// The profile of the edge or the workflow, where either sets one for all API layers.
    pub(super) fn profile(&self, workflow: &Workflow) -> Option<Profile> {
        match self {
            Route::Edge(_, edge, _) | Route::Review(_, edge, _) | Route::PassOn(_, edge, _) => {
                edge.profile.or(workflow.profile)
            }
            Route::Error(_)
            | Route::Retry(_)
            | Route::Ask(..)
            | Route::Delegate(..)
            | Route::Escalate
            | Route::Detour(..)
            | Route::Resolved(_)
            | Route::Unresolved(..)
            | Route::Return(..) => workflow.profile,
        }
    }
}

/// The route of work whose sender got it by `handoff`.
pub(super) fn route<'a>(
    draft: &Draft<'a>,
    handoff: &Handoff,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    match (&handoff.to.place, draft.step_at(&handoff.to.place)) {
        (_, Some(step)) if !work.others.is_empty() => several::route(draft, handoff, step, work),
        (_, None) if !work.others.is_empty() => Err(several::not_a_fan_out(handoff, work)),
        (_, Some(step)) => at_step(draft, handoff, step, work),
        (Place::Delegate(_), None) => match (&handoff.detour, work.way) {
            (Some(_), Some(Way::Delegation)) | (None, _) => at_delegate(draft, handoff, work),
            (Some(detour), _) => detour::route(handoff, detour, work),
        },
        (Place::Step(_) | Place::Orchestrator | Place::Human, None) => {
            Err(super::draft::wrong_state("complete", handoff, "no agent works on it"))
        }
    }
}

fn at_step<'a>(
    draft: &Draft<'a>,
    handoff: &Handoff,
    step: &'a Step,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    let workflow = draft.workflow();
    let place = Place::Step(step.id.clone());
    match (work.way, work.to) {
        (Some(Way::Return), _) => return Err(Refusal::NotInFrame { handoff: handoff.no }),
        (Some(Way::Delegation), Some(to)) => {
            return delegate(
                draft,
                handoff,
                to,
                step.delegate(to).and_then(|it| it.contract.as_ref()),
            );
        }
        (Some(Way::Escalation), Some(to)) if to.is_human() => return Ok(Route::Escalate),
        (Some(Way::Escalation | Way::Delegation), to) => return Err(nowhere(handoff, to)),
        (Some(Way::Sequential), Some(to)) if to.is_human() => {
            return Err(nowhere(handoff, Some(to)));
        }
        (None, Some(to)) if work.may_be_part => {
            if let Some(part) = step.delegate(to) {
                return delegate(draft, handoff, to, part.contract.as_ref());
            }
        }
        (Some(Way::Sequential) | None, _) => {}
    }
    let edge_outcome = edge_outcome(step, work.outcome);
    if let Some(to) = work.to {
        if to.is_human() {
            return ask_a_person(workflow, step, &handoff.to.agent, work);
        }
        if to.is_orchestrator() && is_trouble(work) && work.outcome != Some(Outcome::Blocked) {
            return Ok(Route::Error(step));
        }
        if !is_routed_by_outcome(workflow, &place, work) {
            let edge = phase::edge_to(workflow, &place, to, edge_outcome, work.package)
                .map_err(|it| with_what_to_do(it, step, work.outcome))?;
            phase::check(workflow, step, edge.on, work.package)?;
            return on_edge(step, edge, to.clone(), work.outcome);
        }
    }
    by_outcome(draft, step, handoff, edge_outcome, work)
}

/// Work that needs a review or was skipped takes the success edge, unless the workflow has an edge of
/// its own for it.
fn edge_outcome(step: &Step, outcome: Option<Outcome>) -> Option<Outcome> {
    outcome.map(|it| {
        let has_edge = step.edges_on(it).next().is_some();
        let is_as_success = matches!(it, Outcome::NeedsReview | Outcome::Skipped) && !has_edge;
        if is_as_success { Outcome::Success } else { it }
    })
}

/// Work that is blocked, or that a person has to clarify first, goes where the outcome leads, whichever
/// of the workflow's next agents the sender names: that agent could do nothing with it.
fn is_routed_by_outcome(workflow: &Workflow, place: &Place, work: &FinishedWork<'_>) -> bool {
    let is_stopped = |it: &Outcome| matches!(it, Outcome::Blocked | Outcome::NeedsClarification);
    let (Some(to), Some(outcome)) = (work.to, work.outcome.filter(is_stopped)) else {
        return false;
    };
    let leads = |outcome| edge_to(workflow, place, to, outcome).is_ok();
    to.is_orchestrator() || (!leads(Some(outcome)) && leads(None))
}

/// The warning that the receiver was not the one that the sender named.
pub(super) fn routed_by_outcome(
    draft: &Draft<'_>,
    handoff: &Handoff,
    work: &FinishedWork<'_>,
) -> Option<Problem> {
    let to = work.to.filter(|it| !it.is_orchestrator())?;
    let place = &handoff.to.place;
    if draft.step_at(place).is_none() || !is_routed_by_outcome(draft.workflow(), place, work) {
        return None;
    }
    let why = if work.outcome == Some(Outcome::NeedsClarification) {
        "a person answers its questions first; leave `to` out of a document that asks"
    } else {
        "the step is blocked, and its blockers have to be cleared first; leave `to` out of a blocked \
         document"
    };
    let message = format!("`{to}` does not get it: {why}");
    Some(Problem::new("to", "routed_by_outcome", message))
}

/// Adds to the refusal what a failed step can do instead.
fn with_what_to_do(refusal: Refusal, step: &Step, outcome: Option<Outcome>) -> Refusal {
    let has_edge = step.edges_on(Outcome::Failure).next().is_some();
    let mut refusal = refusal;
    if let Refusal::NotAnEdge { known, .. } = &mut refusal
        && outcome == Some(Outcome::Failure)
        && !has_edge
    {
        *known += "; leave `to` out, and the step is tried again before a person is asked, or send \
                   it to `orchestrator` with the error";
    }
    refusal
}

fn by_outcome<'a>(
    draft: &Draft<'a>,
    step: &'a Step,
    handoff: &Handoff,
    edge_outcome: Option<Outcome>,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    let (workflow, sender) = (draft.workflow(), &handoff.to.agent);
    let outcome = edge_outcome.unwrap_or(Outcome::Success);
    phase::check(workflow, step, outcome, work.package)?;
    if step.edges_on(outcome).next().is_some() {
        let (edge, agent) = match phase::edge_on(workflow, step, outcome, work)? {
            Some(edge) => (edge, only_agent(workflow, step, sender, edge)?),
            None => only_edge(workflow, step, sender, outcome)?,
        };
        return on_edge(step, edge, agent, work.outcome);
    }
    match outcome {
        Outcome::Failure | Outcome::Unknown => Ok(Route::Retry(step)),
        Outcome::Blocked => Ok(match detour::resolver(draft, step, handoff, work) {
            Some(agent) => Route::Detour(step, agent),
            None => Route::Ask(step, GateCause::Blocked, outcome),
        }),
        Outcome::NeedsClarification => Ok(Route::Ask(step, GateCause::NeedsClarification, outcome)),
        Outcome::Success | Outcome::NeedsReview | Outcome::Skipped => {
            Err(choose(workflow, step, outcome))
        }
    }
}

/// A delegate has no edges: it returns its result, or delegates and asks in turn.
fn at_delegate<'a>(
    draft: &Draft<'a>,
    handoff: &Handoff,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    if let (Some(_), Some(to)) = (&handoff.detour, work.to) {
        return delegate(draft, handoff, to, None);
    }
    let Some(caller) = draft.run.caller_of(handoff) else {
        return Err(Refusal::NotInFrame { handoff: handoff.no });
    };
    let is_back = work.to.is_none_or(|it| *it == caller.to.agent);
    match (work.way, work.to) {
        (Some(Way::Delegation), Some(to)) => delegate(draft, handoff, to, None),
        (Some(Way::Escalation) | None, Some(to)) if to.is_human() => Ok(Route::Escalate),
        (Some(Way::Return) | None, _) if is_back => {
            let step = draft.step_at(&caller.to.place);
            let part = step.and_then(|it| it.delegate(&handoff.to.agent));
            let returns = part.and_then(|it| it.returns.as_ref());
            Ok(Route::Return(Box::new(caller.clone()), returns))
        }
        (Some(Way::Sequential | Way::Delegation | Way::Escalation | Way::Return) | None, to) => {
            Err(Refusal::NotAnEdge {
                from: handoff.to.place.to_string(),
                to: to.unwrap_or(&handoff.to.agent).clone(),
                outcome: None,
                known: format!("a delegate gives its part back to `{}`", caller.to.agent),
            })
        }
    }
}

fn delegate<'a>(
    draft: &Draft<'_>,
    handoff: &Handoff,
    to: &AgentId,
    contract: Option<&'a String>,
) -> Result<Route<'a>, Refusal> {
    if to.is_human() || to.is_orchestrator() || *to == handoff.to.agent {
        return Err(nowhere(handoff, Some(to)));
    }
    if draft.ground.agents.find(to).is_none() {
        return Err(Refusal::UnknownAgent { agent: to.clone() });
    }
    Ok(Route::Delegate(to.clone(), contract))
}

fn nowhere(handoff: &Handoff, to: Option<&AgentId>) -> Refusal {
    Refusal::NotAnEdge {
        from: handoff.to.place.to_string(),
        to: to.unwrap_or(&handoff.to.agent).clone(),
        outcome: None,
        known: "a part goes to another agent, a question to `human`".to_owned(),
    }
}

/// True for an error, by the outcome or, without an outcome, by the package.
pub(super) fn is_trouble(work: &FinishedWork<'_>) -> bool {
    let is_trouble =
        |it: Outcome| matches!(it, Outcome::Failure | Outcome::Blocked | Outcome::Unknown);
    work.outcome.map_or_else(|| work.package.has_error(), is_trouble)
}

/// A person may be asked from anywhere: to review good work, to help with stuck work, or to give
/// information that only a person has.
fn ask_a_person<'a>(
    workflow: &Workflow,
    step: &'a Step,
    sender: &AgentId,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    match work.outcome {
        Some(Outcome::Success | Outcome::NeedsReview) => review(workflow, step, sender),
        None if work.package.asks_for_gate() => review(workflow, step, sender),
        Some(outcome @ Outcome::NeedsClarification) => {
            Ok(Route::Ask(step, GateCause::NeedsClarification, outcome))
        }
        Some(Outcome::Failure | Outcome::Unknown) => {
            Ok(Route::Ask(step, GateCause::Failure, Outcome::Failure))
        }
        Some(outcome @ Outcome::Blocked) => Ok(Route::Ask(step, GateCause::Blocked, outcome)),
        Some(Outcome::Skipped) | None => Ok(Route::Escalate),
    }
}

fn review<'a>(workflow: &Workflow, step: &'a Step, sender: &AgentId) -> Result<Route<'a>, Refusal> {
    let (edge, agent) = only_edge(workflow, step, sender, Outcome::Success)?;
    Ok(Route::Review(step, edge, agent))
}

/// The edge for an outcome, where there is exactly one, to one agent.
fn only_edge<'a>(
    workflow: &Workflow,
    step: &'a Step,
    sender: &AgentId,
    outcome: Outcome,
) -> Result<(&'a Edge, AgentId), Refusal> {
    let mut edges = step.edges_on(outcome);
    if let (Some(edge), None) = (edges.next(), edges.next()) {
        return Ok((edge, only_agent(workflow, step, sender, edge)?));
    }
    Err(choose(workflow, step, outcome))
}

/// The only agent there; of several, the one of the sender's domain.
fn only_agent(
    workflow: &Workflow,
    step: &Step,
    sender: &AgentId,
    edge: &Edge,
) -> Result<AgentId, Refusal> {
    let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
    match agents.as_slice() {
        // Each branch has a receiver of its own; that of the first stands for all of them.
        [agent, ..] if edge.fan_out.is_some() => Ok(agent.clone()),
        [agent] => Ok(agent.clone()),
        several => {
            let alike = workflow.agent_like(several, sender);
            alike.ok_or_else(|| choose(workflow, step, edge.on))
        }
    }
}

fn on_edge<'a>(
    step: &'a Step,
    edge: &'a Edge,
    agent: AgentId,
    outcome: Option<Outcome>,
) -> Result<Route<'a>, Refusal> {
    let is_skipped = outcome == Some(Outcome::Skipped);
    if is_skipped && !step.is_optional {
        return Err(Refusal::NotOptional { step: step.id.clone() });
    }
    if is_skipped {
        return Ok(Route::PassOn(step, edge, agent));
    }
    if outcome == Some(Outcome::NeedsReview) && edge.on != Outcome::NeedsReview {
        return Ok(Route::Review(step, edge, agent));
    }
    Ok(Route::Edge(step, edge, agent))
}

fn choose(workflow: &Workflow, step: &Step, outcome: Outcome) -> Refusal {
    let choices = step.edges_on(outcome).flat_map(|it| workflow.agents_along(it)).collect();
    Refusal::ChooseReceiver { step: step.id.clone(), outcome: outcome.name(), choices }
}

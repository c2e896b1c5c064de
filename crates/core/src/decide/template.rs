//! What a package would have to hold, for an agent that is about to hand its work on.

use super::accept;
use super::draft::Draft;
use super::route::{FinishedWork, Route, route};
use super::{DecisionContext, edge};
use crate::contract::ImpliedWay;
use crate::contract::Profile;
use crate::document::Node;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::refusal::Refusal;
use crate::run::{HandoffNo, Run};
use crate::skeleton;

/// Where the receiver of a handoff would hand its work.
#[derive(Debug, Clone, Copy)]
pub struct TemplateRequest<'a> {
    pub handoff: HandoffNo,
    /// Left out: the receiver that the workflow has for the outcome.
    pub to: Option<&'a AgentId>,
    /// Left out: as the edge to the receiver says, or success.
    pub outcome: Option<Outcome>,
}

/// A package that passes in strict on that way, once its marks are filled in.
pub fn template(
    run: &Run,
    asked: &TemplateRequest<'_>,
    ground: DecisionContext<'_>,
) -> Result<Node, Refusal> {
    let branch = run.handoff(asked.handoff).map_or(0, |it| it.branch);
    let draft = Draft::new(run.clone(), branch, ground);
    let handoff = draft.open_work(asked.handoff)?;
    let package = Package::new(Format::Json, "{}", Node::map([]));
    let work = FinishedWork {
        package: &package,
        outcome: asked.outcome,
        to: asked.to,
        others: &[],
        way: None,
        may_be_part: true,
        reason: None,
        fence: None,
        profile: Profile::Strict,
    };
    let workflow = draft.workflow();
    let route = route(&draft, &accept::work_behind(&draft, &handoff), &work)?;
    let way = implied_way(&route, asked.outcome);
    let phases = match &route {
        Route::Edge(step, edge, _) | Route::Review(step, edge, _) => {
            Some((step.phase.as_str(), workflow.phase_after(edge)))
        }
        Route::Error(_)
        | Route::PassOn(..)
        | Route::Retry(_)
        | Route::Ask(..)
        | Route::Delegate(..)
        | Route::Escalate
        | Route::Return(..)
        | Route::Detour(..)
        | Route::Resolved(_)
        | Route::Unresolved(..) => None,
    };
    let (contract, min_score, outcome) = match route {
        Route::Edge(_, edge, _) | Route::Review(_, edge, _) | Route::PassOn(_, edge, _) => {
            (edge.contract.as_ref(), edge.min_score, Some(edge.on))
        }
        Route::Delegate(_, contract) => (contract, None, None),
        Route::Escalate => (workflow.escalation.as_ref(), None, None),
        Route::Return(_, contract) => {
            let is_success = asked.outcome.is_none_or(|it| it == Outcome::Success);
            (contract.filter(|_| is_success), None, asked.outcome)
        }
        Route::Ask(_, _, outcome) => (None, None, Some(outcome)),
        Route::Detour(..) => (None, None, Some(Outcome::Blocked)),
        Route::Unresolved(_, outcome) => (None, None, Some(outcome)),
        Route::Resolved(_) => (None, None, Some(Outcome::Success)),
        Route::Error(_) | Route::Retry(_) => (None, None, asked.outcome),
    };
    let contract = contract.and_then(|it| workflow.contract(it));
    if contract.is_none() && (way.is_some() || outcome.is_some_and(is_stuck)) {
        let stuck = edge::stuck_template(ground, way, min_score, outcome);
        let is_blocked = outcome == Some(Outcome::Blocked);
        let reasons = workflow.blocked_reasons().filter(|_| is_blocked).collect::<Vec<_>>();
        return Ok(skeleton::with_blocked_reason(stuck, &reasons));
    }
    Ok(edge::template(ground, contract, min_score, outcome, phases))
}

/// The way that the package goes where the workflow declares no contract for it.
fn implied_way(route: &Route<'_>, asked: Option<Outcome>) -> Option<ImpliedWay> {
    let outcome = match route {
        Route::Error(_) => return Some(ImpliedWay::Error),
        Route::Edge(_, edge, _) | Route::Review(_, edge, _) => Some(edge.on),
        Route::Ask(_, _, outcome) => Some(*outcome),
        Route::Return(..) => asked,
        Route::Detour(..) => Some(Outcome::Blocked),
        Route::Resolved(_) | Route::Unresolved(..) => None,
        Route::PassOn(..) | Route::Delegate(..) | Route::Escalate | Route::Retry(_) => None,
    };
    match outcome? {
        Outcome::Blocked => Some(ImpliedWay::Blocked),
        Outcome::NeedsClarification => Some(ImpliedWay::Clarification),
        Outcome::Success
        | Outcome::Failure
        | Outcome::NeedsReview
        | Outcome::Skipped
        | Outcome::Unknown => None,
    }
}

fn is_stuck(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failure | Outcome::Blocked | Outcome::NeedsClarification | Outcome::Unknown => {
            true
        }
        Outcome::Success | Outcome::NeedsReview | Outcome::Skipped => false,
    }
}

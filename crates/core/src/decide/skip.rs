//! A step with nothing to do passes the work on. Nothing was done, so the contract of the work does not
//! hold; but a skip is no way around the answers to a review, nor around a contract of its own.

use super::complete::{end_step, hand_on};
use super::dispositions;
use super::draft::Draft;
use super::edge::{check_contract, check_only};
use super::limit;
use super::offer::Offer;
use super::route::FinishedWork;
use crate::content::ContentId;
use crate::contract::{Contract, ContractRule};
use crate::event::StepEvent;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Handoff, Party};
use crate::workflow::{Edge, Step, Workflow};

pub(super) fn pass_on(
    draft: &mut Draft<'_>,
    held: &Handoff,
    step: &Step,
    edge: &Edge,
    agent: AgentId,
    work: &FinishedWork<'_>,
) -> Result<(), Refusal> {
    let warnings = check(draft, edge, work)?;
    let package = work_or_given(draft, held, work);
    let reason = draft.keep_some(work.reason.as_ref());
    end_step(draft, held, step, Outcome::Skipped, package);
    draft.emit(StepEvent::Skipped { step: step.id.clone(), reason });
    let to = Party { agent, place: Workflow::target_place(&edge.to) };
    let offer = Offer {
        follows: Some(held.no),
        warnings,
        entry: limit::entry_along(edge, None),
        on: Some(Outcome::Skipped),
        ..Offer::new(held.to.clone(), to, package)
    };
    // Nothing was done of which the sender could be unsure.
    hand_on(draft, held, edge, offer, None);
    Ok(())
}

/// An edge for `skipped` has a contract for skips, which holds like any other. Along the success edge
/// only what its contract says about the answers to findings holds, where there are findings.
fn check(
    draft: &mut Draft<'_>,
    edge: &Edge,
    work: &FinishedWork<'_>,
) -> Result<Vec<Problem>, Refusal> {
    let workflow = draft.workflow();
    let Some(contract) = edge.contract.as_ref().and_then(|it| workflow.contract(it)) else {
        return Ok(Vec::new());
    };
    if edge.on == Outcome::Skipped {
        return check_contract(draft, edge, work.package, work.profile);
    }
    let has_findings = draft.ground.to_answer.is_some_and(|it| !it.is_empty());
    match answers_of(contract).filter(|_| has_findings) {
        Some(answers) => check_only(draft, edge, &answers, work.package, work.profile),
        None => Ok(Vec::new()),
    }
}

/// The rules of a contract that are about the answers to a review.
fn answers_of(contract: &Contract) -> Option<Contract> {
    let only = |rules: &[ContractRule]| {
        rules.iter().filter(|it| dispositions::is_about_answers(it)).cloned().collect()
    };
    let answers = Contract {
        name: contract.name.clone(),
        must: only(&contract.must),
        should: only(&contract.should),
    };
    dispositions::asks_for_answers(&answers).then_some(answers)
}

/// A skip may bring a package; without one, the package that came in is handed on.
fn work_or_given(
    draft: &mut Draft<'_>,
    held: &Handoff,
    work: &FinishedWork<'_>,
) -> Option<ContentId> {
    if work.package.document.is_blank() {
        return held.package;
    }
    Some(draft.keep_package(work.package))
}

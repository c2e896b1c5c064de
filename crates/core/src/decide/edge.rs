//! Which edge leads where, and what it asks of a package.

use crate::contract::{Contract, Profile};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::workflow::{Edge, Place, Workflow};

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
    let profile = edge.profile.or(workflow.profile).unwrap_or(asked);
    check_named(workflow, edge.contract.as_ref(), package, profile)
}

/// As [`check_contract`], for what goes along no edge.
pub(super) fn check_named(
    workflow: &Workflow,
    name: Option<&String>,
    package: &Package,
    profile: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let contract: Option<&Contract> = name.and_then(|name| workflow.contract(name));
    let Some(contract) = contract else { return Ok(Vec::new()) };
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

//! Which contract a document has to keep, by what it says itself: for callers that have no run to
//! ask, such as the linter.

use std::borrow::Cow;

use baton_core::contract::{Contract, ImpliedWay};
use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::view::{Meaning, View};
use baton_core::workflow::{Edge, Workflow};

use crate::builtin;

/// What the way of a document asks of it.
#[derive(Debug, Clone, Default)]
pub struct DocumentRequirements<'a> {
    pub contract: Option<Cow<'a, Contract>>,
    pub min_score: Option<u8>,
}

/// What a document has to keep. A workflow's own contract takes precedence over the built-in one
/// of the document's format; `said` takes precedence over the agents that the document names.
pub fn requirements<'a>(
    workflows: impl IntoIterator<Item = &'a Workflow>,
    document: &Node,
    said: Option<&(AgentId, AgentId)>,
) -> DocumentRequirements<'a> {
    let workflows: Vec<&Workflow> = workflows.into_iter().collect();
    let DocumentRequirements { contract, min_score } = of_way(&workflows, document, said);
    // Which of them the run has is not known: a reason that one of them routes is a reason.
    let reasons = || workflows.iter().flat_map(|it| it.blocked_reasons());
    let contract = contract.map(|it| match it.with_blocked_reasons(reasons()) {
        Cow::Owned(widened) => Cow::Owned(widened),
        Cow::Borrowed(_) => it,
    });
    DocumentRequirements { contract, min_score }
}

fn of_way<'a>(
    workflows: &[&'a Workflow],
    document: &Node,
    said: Option<&(AgentId, AgentId)>,
) -> DocumentRequirements<'a> {
    let view = View::of(document);
    let only = |contract: Option<&'a Contract>| DocumentRequirements {
        contract: contract.map(Cow::Borrowed),
        min_score: None,
    };
    // A progress note moves nothing, so no edge asks anything of it.
    let is_note = view.claim.as_ref().is_some_and(|it| it.meaning == Meaning::UnderWay);
    if is_note && said.is_none() && !matches!(view.kind, DocumentKind::MetadataBlock(_)) {
        return DocumentRequirements::default();
    }
    let agent = |it: &Option<String>| AgentId::parse(it.as_deref()?).ok();
    let named = said.cloned().or_else(|| Some((agent(&view.sender)?, agent(&view.receiver)?)));
    let claimed = view.claim.as_ref().and_then(|it| it.outcome());
    let sender = said.map(|(from, _)| from.clone()).or_else(|| agent(&view.sender));
    let mut workflows = workflows.iter().copied();
    let found = match (named, sender.zip(claimed)) {
        (Some((from, to)), _) => workflows.find_map(|it| in_workflow(it, &from, &to, claimed)),
        // The workflow decides who is next, by how the step ended.
        (None, Some((from, claimed))) => workflows.find_map(|it| edge_on(it, &from, claimed)),
        (None, None) => None,
    };
    if claimed == Some(Outcome::Blocked) {
        // Sending asks for this one where the workflow declares none.
        let implied = ImpliedWay::Blocked.contract_name(document);
        let DocumentRequirements { contract, min_score } = found.unwrap_or_default();
        let contract = contract.or_else(|| builtin::contract(implied).map(Cow::Borrowed));
        return DocumentRequirements { contract, min_score };
    }
    found.unwrap_or_else(|| only(builtin::contract_of(document)))
}

/// The only edge of the sender's step on an outcome.
fn edge_on<'a>(
    workflow: &'a Workflow,
    from: &AgentId,
    claimed: Outcome,
) -> Option<DocumentRequirements<'a>> {
    let step = workflow.steps.iter().find(|it| it.agents.contains(from))?;
    let mut edges = step.edges_on(claimed);
    let (edge, None) = (edges.next()?, edges.next()) else { return None };
    let contract = edge.contract.as_ref().and_then(|it| workflow.contract(it))?;
    Some(DocumentRequirements {
        contract: Some(Cow::Borrowed(contract)),
        min_score: edge.min_score,
    })
}

/// Along an edge, to a specialist, back from one, or to a person.
fn in_workflow<'a>(
    workflow: &'a Workflow,
    from: &AgentId,
    to: &AgentId,
    claimed: Option<Outcome>,
) -> Option<DocumentRequirements<'a>> {
    let named =
        |name: Option<&String>| name.and_then(|it| workflow.contract(it)).map(Cow::Borrowed);
    if let Some(edge) = edge_of(workflow, from, to, claimed) {
        let contract = named(edge.contract.as_ref());
        return Some(DocumentRequirements { contract, min_score: edge.min_score });
    }
    let steps_of = |agent: &AgentId| {
        let agent = agent.clone();
        workflow.steps.iter().filter(move |it| it.agents.contains(&agent))
    };
    let given = steps_of(from).find_map(|it| it.delegate(to)).map(|it| it.contract.as_ref());
    let back = || steps_of(to).find_map(|it| it.delegate(from)).map(|it| it.returns.as_ref());
    let name = given.or_else(back)?;
    Some(DocumentRequirements { contract: named(name), min_score: None })
}

/// Of several edges between two agents, the one on the outcome that the document claims.
fn edge_of<'a>(
    workflow: &'a Workflow,
    from: &AgentId,
    to: &AgentId,
    claimed: Option<Outcome>,
) -> Option<&'a Edge> {
    let leads = |edge: &&Edge| workflow.agents_along(edge).contains(to);
    let steps = workflow.steps.iter().filter(|it| it.agents.contains(from));
    let mut edges = steps.flat_map(|it| &it.edges).filter(leads);
    let on_claimed = edges.find(|it| claimed == Some(it.on));
    // Work that is blocked goes along no edge of another outcome.
    if claimed == Some(Outcome::Blocked) {
        return on_claimed;
    }
    on_claimed.or_else(|| workflow.edge_of_agents(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_reason_that_a_workflow_routes_is_one_that_blocked_work_may_give() {
        let (_, text) = builtin::workflows().iter().find(|it| it.0 == "feature-phases").unwrap();
        let mut workflow = crate::workflow_file::parse(text).unwrap();
        let text = r#"{"status":"blocked","blocked_reason":"licence_question","attempted":["read it"],
            "agent":"frontend-lead","handoff":{"next_agent":null,"context":"AGPL in `d.ts`"}}"#;
        let document = json::parse(text).unwrap();
        let n_refused = |workflow: &Workflow| {
            let contract = requirements([workflow], &document, None).contract.unwrap();
            contract.check(&document).must.len()
        };
        assert_eq!(n_refused(&workflow), 1);
        workflow.routing.rows[0].reason = "licence_question".to_owned();
        assert_eq!(n_refused(&workflow), 0);
    }
}

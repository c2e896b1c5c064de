//! The sender names several receivers: they have to be those of a fan-out, all of them.

use super::{FinishedWork, Route, edge_outcome, on_edge};
use crate::decide::draft::Draft;
use crate::decide::fork;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::Handoff;
use crate::workflow::{Edge, FanOut, Step};

pub(super) fn route<'a>(
    draft: &Draft<'a>,
    handoff: &Handoff,
    step: &'a Step,
    work: &FinishedWork<'_>,
) -> Result<Route<'a>, Refusal> {
    let on = edge_outcome(step, work.outcome).unwrap_or(Outcome::Success);
    let mut choices = Vec::new();
    for edge in step.edges_on(on) {
        let Some(fan_out) = &edge.fan_out else { continue };
        // Inside a branch, the party that fanned out sends to that branch alone.
        if draft.branch != 0 {
            continue;
        }
        if let Some(agent) = named(draft, handoff, fan_out, work) {
            return on_edge(step, edge, agent, work.outcome);
        }
        choices.push(in_words(draft, handoff, edge, fan_out));
    }
    let known = match choices.is_empty() {
        true => format!("`{}` hands to one receiver on {}", step.id, on.name()),
        false => choices.join("; or "),
    };
    Err(refused(handoff, work, known))
}

/// At a place without edges.
pub(super) fn not_a_fan_out(handoff: &Handoff, work: &FinishedWork<'_>) -> Refusal {
    let known = format!("`{}` hands to one receiver", handoff.to.place);
    refused(handoff, work, known)
}

/// The receiver in the first branch, where the sender names those of all branches, each once, in any
/// order.
fn named(
    draft: &Draft<'_>,
    handoff: &Handoff,
    fan_out: &FanOut,
    work: &FinishedWork<'_>,
) -> Option<AgentId> {
    let named: Vec<&AgentId> = all(work).collect();
    let is_all = |named_first: &&&AgentId| {
        let receivers = fork::receivers(draft, fan_out, &handoff.to, named_first);
        receivers.first() == Some(**named_first) && is_permutation(&named, &receivers)
    };
    named.iter().find(is_all).map(|it| (*it).clone())
}

fn is_permutation(named: &[&AgentId], receivers: &[AgentId]) -> bool {
    let mut named: Vec<&AgentId> = named.to_vec();
    let mut receivers: Vec<&AgentId> = receivers.iter().collect();
    named.sort();
    receivers.sort();
    named == receivers
}

fn in_words(draft: &Draft<'_>, handoff: &Handoff, edge: &Edge, fan_out: &FanOut) -> String {
    let agents = draft.workflow().agents_at(&crate::workflow::Workflow::target_place(&edge.to));
    let first = agents.first().cloned().unwrap_or_else(AgentId::orchestrator);
    let receivers = fork::receivers(draft, fan_out, &handoff.to, &first);
    format!("on {} it goes to {} at once", edge.on.name(), listed(receivers.iter()))
}

fn refused(handoff: &Handoff, work: &FinishedWork<'_>, known: String) -> Refusal {
    Refusal::NotTheReceivers { from: handoff.to.place.to_string(), to: listed(all(work)), known }
}

fn all<'a>(work: &FinishedWork<'a>) -> impl Iterator<Item = &'a AgentId> {
    work.to.into_iter().chain(work.others)
}

fn listed<'a>(agents: impl Iterator<Item = &'a AgentId>) -> String {
    let names: Vec<String> = agents.map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

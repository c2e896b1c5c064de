//! A workflow as a Mermaid flowchart, and as a picture in the terminal.

use std::collections::BTreeSet;

use baton_core::gate::GateKind;
use baton_core::outcome::Outcome;
use baton_core::workflow::{Edge, Target, Workflow};

pub(crate) fn mermaid(workflow: &Workflow) -> String {
    let mut lines = vec!["flowchart LR".to_owned()];
    lines.push("    orchestrator([orchestrator])".to_owned());
    for step in &workflow.steps {
        let agents: Vec<&str> = step.agents.iter().map(|it| it.as_str()).collect();
        let label = format!("{}<br/>{}", step.id, agents.join(" / "));
        lines.push(format!("    {}[\"{label}\"]", node(step.id.as_str())));
    }
    let delegates: BTreeSet<&str> =
        workflow.steps.iter().flat_map(|it| &it.delegates).map(|it| it.agent.as_str()).collect();
    for agent in delegates {
        lines.push(format!("    {}([\"{agent}\"])", delegate_node(agent)));
    }
    lines.push("    complete([complete])".to_owned());
    lines.extend(edge_lines("orchestrator", &workflow.start));
    for step in &workflow.steps {
        for edge in &step.edges {
            lines.extend(edge_lines(&node(step.id.as_str()), edge));
        }
        for delegate in &step.delegates {
            let (from, to) = (node(step.id.as_str()), delegate_node(delegate.agent.as_str()));
            lines.push(format!("    {from} -.->|delegates| {to}"));
        }
    }
    lines.join("\n")
}

/// The steps from top to bottom, with the other ways beside each.
pub(crate) fn picture(workflow: &Workflow) -> String {
    let mut lines = vec!["orchestrator".to_owned(), "  │".to_owned()];
    let mut leads_on = true;
    for (index, step) in workflow.steps.iter().enumerate() {
        let agents: Vec<&str> = step.agents.iter().map(|it| it.as_str()).collect();
        let optional = if step.is_optional { " (optional)" } else { "" };
        lines.push(if leads_on { "  ▼".to_owned() } else { String::new() });
        lines.push(format!("{}{optional}  ·  {}", step.id, agents.join(" / ")));
        let next = workflow.steps.get(index + 1).map(|it| Target::Step(it.id.clone()));
        let next = next.unwrap_or(Target::Complete);
        let is_next = |it: &&Edge| it.on == Outcome::Success && it.to == next && !it.is_back;
        for edge in step.edges.iter().filter(|it| !is_next(it)) {
            lines.push(format!("  ├─ {} {}", way_name(edge), edge.leads_in_words()));
        }
        for delegate in &step.delegates {
            lines.push(format!("  ├─ delegates ⇄ {}", delegate.agent));
        }
        let next = step.edges.iter().find(is_next);
        leads_on = next.is_some();
        lines.extend(next.map(|it| format!("  │  {}", gate_label(it)).trim_end().to_owned()));
    }
    lines.push(if leads_on { "  ▼".to_owned() } else { String::new() });
    lines.push("complete".to_owned());
    lines.join("\n")
}

/// `failure ↩` for a move back, `failure →` for another.
fn way_name(edge: &Edge) -> String {
    let arrow = if edge.is_back { "↩" } else { "→" };
    let gate = gate_label(edge);
    let gate = if gate.is_empty() { gate } else { format!(" {gate}") };
    format!("{}{gate} {arrow}", edge.on.name())
}

fn gate_label(edge: &Edge) -> String {
    let label = |it: &baton_core::workflow::EdgeGate| format!("{} {}", mark(it.kind), it.name);
    edge.gate.as_ref().map(label).unwrap_or_default()
}

/// One line, or one for each branch of a fan-out.
fn edge_lines(from: &str, edge: &Edge) -> Vec<String> {
    edge.targets().iter().map(|it| edge_line(from, edge, it)).collect()
}

fn edge_line(from: &str, edge: &Edge, to: &Target) -> String {
    let to = match to {
        Target::Step(step) => node(step.as_str()),
        Target::Complete => "complete".to_owned(),
    };
    let arrow = if edge.is_back { "-.->" } else { "-->" };
    let on = match edge.on {
        Outcome::Success => None,
        Outcome::Failure
        | Outcome::Blocked
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped
        | Outcome::Unknown => Some(edge.on.name().to_owned()),
    };
    let gate = edge.gate.as_ref().map(|it| format!("{} {}", mark(it.kind), it.kind.name()));
    let joined = edge.fan_out.as_ref();
    let joined = joined.map(|it| format!("at once, {} join", it.need.word()));
    let label: Vec<String> = on.into_iter().chain(joined).chain(gate).collect();
    if label.is_empty() {
        return format!("    {from} {arrow} {to}");
    }
    format!("    {from} {arrow}|{}| {to}", label.join(", "))
}

/// A symbol beside the word: a stop should be visible at a glance. The gate's own name may contain
/// characters that end a label, so it is not drawn.
fn mark(kind: GateKind) -> &'static str {
    match kind {
        GateKind::Blocking => "⛔",
        GateKind::Advisory => "👁",
        GateKind::Automatic => "✔",
    }
}

/// A separate id space from the steps: an agent may have the name of a step.
fn delegate_node(agent: &str) -> String {
    format!("d_{}", agent.replace('-', "_"))
}

/// `end` is a keyword of Mermaid, and a hyphen can read as part of an arrow.
fn node(step: &str) -> String {
    format!("s_{}", step.replace('-', "_"))
}

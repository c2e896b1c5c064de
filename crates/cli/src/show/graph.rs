//! A workflow as a Mermaid flowchart.

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
    lines.push("    complete([complete])".to_owned());
    lines.push(edge_line("orchestrator", &workflow.start));
    for step in &workflow.steps {
        for edge in &step.edges {
            lines.push(edge_line(&node(step.id.as_str()), edge));
        }
    }
    lines.join("\n")
}

fn edge_line(from: &str, edge: &Edge) -> String {
    let to = match &edge.to {
        Target::Step(step) => node(step.as_str()),
        Target::Complete => "complete".to_owned(),
    };
    let arrow = if edge.is_back { "-.->" } else { "-->" };
    match edge.on {
        Outcome::Success => format!("    {from} {arrow} {to}"),
        Outcome::Failure
        | Outcome::Blocked
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped
        | Outcome::Unknown => format!("    {from} {arrow}|{}| {to}", edge.on.name()),
    }
}

/// `end` is a word of Mermaid's own, and a hyphen can read as part of an arrow.
fn node(step: &str) -> String {
    format!("s_{}", step.replace('-', "_"))
}

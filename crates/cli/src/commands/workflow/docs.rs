//! `baton workflow docs`: a workflow as a page of Markdown.

use std::fmt::Write as _;

use baton_core::contract::ContractRule;
use baton_core::workflow::{BlockerRouting, Edge, Step, Target, Workflow};

use crate::show;

pub(super) fn page(workflow: &Workflow) -> String {
    let mut page = format!("# {}\n\n{}\n", workflow.title, workflow.description.trim());
    let _ = write!(page, "\n```mermaid\n{}\n```\n", show::mermaid(workflow));
    let modes: Vec<String> = workflow.modes().iter().map(|it| format!("`{}`", it.name())).collect();
    let limits = &workflow.limits;
    let _ = write!(
        page,
        "\nA run can be {}. Work goes back at most {} times along an edge, and a failed step is \
         tried again {} times, before a person is asked.\n",
        modes.join(", "),
        limits.rounds,
        limits.retries
    );
    page += "\n## Steps\n";
    for step in &workflow.steps {
        step_section(&mut page, workflow, step);
    }
    routing_section(&mut page, &workflow.routing);
    if !workflow.contracts.is_empty() {
        page += "\n## Contracts\n";
    }
    for contract in &workflow.contracts {
        let _ = write!(
            page,
            "\n### `{}`\n\n| | field | is | about |\n|---|---|---|---|\n",
            contract.name
        );
        for rule in &contract.must {
            rule_row(&mut page, "must", rule);
        }
        for rule in &contract.should {
            rule_row(&mut page, "should", rule);
        }
    }
    page
}

fn step_section(page: &mut String, workflow: &Workflow, step: &Step) {
    let agents: Vec<String> = step.agents.iter().map(|it| format!("`{it}`")).collect();
    let _ = write!(page, "\n### {}\n\n", step.title);
    if let Some(reason) = &step.reason {
        let _ = write!(page, "{}. ", cell(reason.as_str()));
    }
    let _ = write!(page, "Done by {}; phase `{}`", agents.join(" or "), cell(&step.phase));
    let _ = write!(page, "; entered at most {} times", workflow.entries_of(&step.id));
    if step.is_optional {
        page.push_str("; optional");
    }
    if let Some(at_once) = step.at_once {
        let _ = write!(page, "; at most {at_once} at once");
    }
    page.push_str(".\n\n| on | goes to | contract | asks a person |\n|---|---|---|---|\n");
    for edge in &step.edges {
        let back = if edge.is_back { " (back)" } else { "" };
        let contract = edge.contract.as_ref().map(|it| format!("`{it}`")).unwrap_or_default();
        let _ = writeln!(
            page,
            "| {} | {}{back} | {contract} | {} |",
            edge.on.name(),
            target(edge),
            cell(&show::asks(edge))
        );
    }
    for delegate in &step.delegates {
        let _ = write!(page, "\nIt may delegate a part to `{}`.\n", delegate.agent);
    }
}

fn routing_section(page: &mut String, routing: &BlockerRouting) {
    if routing.rows.is_empty() {
        return;
    }
    page.push_str(
        "\n## Who resolves what blocks a step\n\n| reason | domain | agent |\n|---|---|---|\n",
    );
    for row in &routing.rows {
        for it in &row.resolvers {
            let domain = it.domain.as_deref().unwrap_or("any");
            let _ = writeln!(page, "| `{}` | {domain} | `{}` |", row.reason, it.agent);
        }
    }
}

fn rule_row(page: &mut String, strength: &str, rule: &ContractRule) {
    let mut fields = vec![format!("`{}`", rule.field)];
    fields.extend(rule.others.iter().map(|it| format!("`{it}`")));
    let mut is = rule.check.words();
    let case = rule.case();
    if !case.is_empty() {
        let _ = write!(is, ", when {case}");
    }
    let (is, about) = (cell(&is), cell(&rule.about));
    let _ = writeln!(page, "| {strength} | {} | {is} | {about} |", fields.join(" or "));
}

fn target(edge: &Edge) -> String {
    match (&edge.fan_out, &edge.to) {
        (Some(_), _) => format!("at once: {}", edge.leads_in_words()),
        (None, Target::Step(id)) => format!("`{id}`"),
        (None, Target::Complete) => "the end".to_owned(),
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

//! Workflows as pages.

use baton_core::approval::Approvers;
use baton_core::contract::ContractRule;
use baton_core::workflow::{Delegate, Edge, EdgeGate, Expiry, Mode, OnExpire, Step, Workflow};

use super::{bold, dim, fields, table, visible};

pub(crate) fn workflow_page(workflow: &Workflow) -> String {
    let mut rows = vec![
        ("workflow", format!("{} ({})", workflow.name, workflow.title)),
        ("about", workflow.description.trim().to_owned()),
        ("hash", workflow.hash.to_string()),
        ("rounds", format!("{} before a person is asked", workflow.limits.rounds)),
        ("retries", workflow.limits.retries.to_string()),
        ("questions", format!("{} before a person is asked", workflow.limits.questions)),
        ("stale after", format!("{:#}", workflow.limits.stale_after)),
    ];
    rows.extend(workflow.limits.expiry.iter().map(|it| ("expires", expiry_text("any", it))));
    for step in &workflow.steps {
        let own = step.expiry.iter().map(|it| ("expires", expiry_text(step.id.as_str(), it)));
        rows.extend(own);
    }
    if let Some(escalation) = &workflow.escalation {
        rows.push(("escalation", escalation.clone()));
    }
    let modes: Vec<&str> = workflow.modes().into_iter().map(Mode::name).collect();
    if modes.len() > 1 {
        rows.push(("modes", modes.join(", ")));
    }
    for step in &workflow.steps {
        let at_once = step.at_once.iter();
        rows.extend(at_once.map(|it| ("at once", format!("{}: {it} runs at most", step.id))));
    }
    if let Some(profile) = workflow.profile {
        rows.push(("profile", profile.name().to_owned()));
    }
    let mut steps = vec![edge_row("(start)", "orchestrator", &workflow.start)];
    for step in &workflow.steps {
        for (index, edge) in step.edges.iter().enumerate() {
            let (name, agents) = if index == 0 { step_names(step) } else { Default::default() };
            steps.push(edge_row(&name, &agents, edge));
        }
    }
    let headings = ["STEP", "AGENT", "ON", "GOES TO", "CONTRACT", "GATE"];
    let mut page = format!("{}\n\n{}", fields(rows), table(&headings, steps));
    page += &delegate_table(workflow);
    page += &routing_table(workflow);
    for (step, gate) in gates(workflow) {
        page += &gate_section(step, gate);
    }
    for contract in &workflow.contracts {
        page += &format!("\n\n{}\n", bold(&format!("contract {}", contract.name)));
        let must = contract.must.iter().map(|it| rule_row("must", it));
        let should = contract.should.iter().map(|it| rule_row("should", it));
        page += &table(&["", "FIELD", "IS", "ABOUT"], must.chain(should).collect());
    }
    page
}

/// Every gate that an edge declares, with the step that the edge leads from.
fn gates(workflow: &Workflow) -> impl Iterator<Item = (&Step, &EdgeGate)> {
    let of_step = |step| {
        let step: &Step = step;
        step.edges.iter().filter_map(move |edge| Some((step, edge.gate.as_ref()?)))
    };
    workflow.steps.iter().flat_map(of_step)
}

fn gate_section(step: &Step, gate: &EdgeGate) -> String {
    let checks: Vec<&str> = gate.checks.iter().map(|it| it.as_str()).collect();
    let mut rows = vec![("after", step.id.to_string())];
    if !checks.is_empty() {
        rows.push(("checks", checks.join(", ")));
    }
    rows.extend(gate.approvers.as_ref().map(|it| ("approvers", approvers(it))));
    rows.extend(gate.remind_after.map(|it| ("reminder", format!("after {it:#}"))));
    rows.extend(gate.items.iter().map(|it| ("look at", it.clone())));
    rows.extend(gate.options.iter().map(|(answer, text)| (answer.as_str(), text.clone())));
    let title = bold(&format!("{} gate: {}", gate.kind.name(), gate.name));
    format!("\n\n{title}\n{}", fields(rows))
}

fn approvers(approvers: &Approvers) -> String {
    let people: Vec<String> = approvers.of.iter().map(|it| visible(it.as_str())).collect();
    let people = if people.is_empty() { "any people".to_owned() } else { people.join(", ") };
    let author = if approvers.author_may_approve { "" } else { "; not who made the package" };
    format!("{} of {people}{author}", approvers.need)
}

fn delegate_table(workflow: &Workflow) -> String {
    let rows: Vec<Vec<String>> = workflow
        .steps
        .iter()
        .flat_map(|step| step.delegates.iter().map(move |it| delegate_row(step, it)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n\n{}", table(&["STEP", "DELEGATES TO", "CONTRACT", "RETURNS"], rows))
}

fn delegate_row(step: &Step, delegate: &Delegate) -> Vec<String> {
    vec![
        step.id.to_string(),
        delegate.agent.to_string(),
        delegate.contract.clone().unwrap_or_default(),
        delegate.returns.clone().unwrap_or_default(),
    ]
}

/// What happens to a handoff that no agent accepts.
fn expiry_text(step: &str, expiry: &Expiry) -> String {
    let then = match expiry.then {
        OnExpire::Loose => "lies loose",
        OnExpire::Return => "goes back to its sender",
        OnExpire::Ask => "a person is asked",
    };
    format!("{step}: {then} after {:#}", expiry.after)
}

fn step_names(step: &Step) -> (String, String) {
    let optional = if step.is_optional { dim(" (optional)") } else { String::new() };
    let agents: Vec<&str> = step.agents.iter().map(|it| it.as_str()).collect();
    (format!("{}{optional}", step.id), agents.join(", "))
}

fn edge_row(step: &str, agents: &str, edge: &Edge) -> Vec<String> {
    let back = if edge.is_back { dim(" (back)") } else { String::new() };
    vec![
        step.to_owned(),
        agents.to_owned(),
        edge.on.name().to_owned(),
        format!("{}{back}", edge.leads_in_words()),
        edge.contract.clone().unwrap_or_default(),
        asks(edge),
    ]
}

/// What a person is asked on an edge: by its gate, in a mode, or where the sender is unsure.
pub(crate) fn asks(edge: &Edge) -> String {
    let gate = edge.gate.as_ref().map(|it| format!("{}: {}", it.kind.name(), it.name));
    let modes: Vec<&str> = edge.ask_in.iter().map(|it| it.name()).collect();
    let modes = (!modes.is_empty()).then(|| format!("in {}", modes.join(" and ")));
    let below = edge.threshold.as_ref();
    let below = below.map(|it| format!("where {} is below {}", it.field, it.below.as_str()));
    let rules: Vec<&str> = edge.raise.iter().map(|it| it.kind.name()).collect();
    let raise = (!rules.is_empty()).then(|| format!("for {}", rules.join(", ")));
    gate.into_iter().chain(modes).chain(below).chain(raise).collect::<Vec<_>>().join("; ")
}

fn routing_table(workflow: &Workflow) -> String {
    let rows: Vec<Vec<String>> = workflow
        .routing
        .rows
        .iter()
        .flat_map(|row| {
            row.resolvers.iter().map(move |it| {
                let domain = it.domain.clone().unwrap_or_else(|| "any".to_owned());
                vec![row.reason.clone(), domain, it.agent.to_string()]
            })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n\n{}", table(&["BLOCKED BY", "DOMAIN", "RESOLVED BY"], rows))
}

fn rule_row(strength: &str, rule: &ContractRule) -> Vec<String> {
    let mut spellings = vec![rule.field.clone()];
    spellings.extend(rule.others.iter().cloned());
    let mut is = rule.check.words();
    let case = rule.case();
    if !case.is_empty() {
        is += &format!(", when {case}");
    }
    vec![strength.to_owned(), spellings.join(" or "), is, rule.about.clone()]
}

//! Workflows and agents, as pages and as JSON.

use baton_core::agent::Agent;
use baton_core::contract::{Check, Profile, Rule, ValueKind};
use baton_core::document::Node;
use baton_core::workflow::{Edge, Step, Target, Workflow};

use super::{bold, dim, fields, table};

pub(crate) fn workflow_page(workflow: &Workflow) -> String {
    let mut rows = vec![
        ("workflow", format!("{} ({})", workflow.name, workflow.title)),
        ("about", workflow.description.trim().to_owned()),
        ("hash", workflow.hash.to_string()),
        ("rounds", format!("{} before a person is asked", workflow.limits.rounds)),
        ("retries", workflow.limits.retries.to_string()),
        ("stale after", format!("{:#}", workflow.limits.stale_after)),
    ];
    if let Some(profile) = workflow.profile {
        rows.push(("profile", profile_name(profile).to_owned()));
    }
    let mut steps = vec![edge_row("(start)", "orchestrator", &workflow.start)];
    for step in &workflow.steps {
        for (index, edge) in step.edges.iter().enumerate() {
            let (name, agents) = if index == 0 { step_names(step) } else { Default::default() };
            steps.push(edge_row(&name, &agents, edge));
        }
    }
    let headings = ["STEP", "AGENT", "ON", "GOES TO", "CONTRACT"];
    let mut page = format!("{}\n\n{}", fields(rows), table(&headings, steps));
    for contract in &workflow.contracts {
        page += &format!("\n\n{}\n", bold(&format!("contract {}", contract.name)));
        let must = contract.must.iter().map(|it| rule_row("must", it));
        let should = contract.should.iter().map(|it| rule_row("should", it));
        page += &table(&["", "FIELD", "IS", "ABOUT"], must.chain(should).collect());
    }
    page
}

pub(crate) fn workflow_json(workflow: &Workflow) -> Node {
    let texts = |items: Vec<String>| Node::List(items.into_iter().map(Node::Text).collect());
    let steps = workflow.steps.iter().map(|step| {
        Node::map([
            ("id", Node::text(step.id.as_str())),
            ("title", Node::text(&step.title)),
            ("agents", texts(step.agents.iter().map(ToString::to_string).collect())),
            ("phase", Node::text(&step.phase)),
            ("isOptional", Node::Bool(step.is_optional)),
            ("edges", Node::List(step.edges.iter().map(edge_json).collect())),
        ])
    });
    Node::map([
        ("name", Node::text(workflow.name.as_str())),
        ("title", Node::text(&workflow.title)),
        ("description", Node::text(workflow.description.trim())),
        ("hash", Node::text(workflow.hash.to_string())),
        ("start", edge_json(&workflow.start)),
        ("steps", Node::List(steps.collect())),
        ("contracts", texts(workflow.contracts.iter().map(|it| it.name.clone()).collect())),
    ])
}

pub(crate) fn agent_json(agent: &Agent) -> Node {
    let some = |it: &Option<String>| it.as_ref().map_or(Node::Null, Node::text);
    Node::map([
        ("agentId", Node::text(agent.id.as_str())),
        ("agentName", Node::text(&agent.name)),
        ("agentDescription", Node::text(&agent.description)),
        ("agentAvatarUrl", some(&agent.avatar)),
        ("color", some(&agent.color)),
        ("capabilities", Node::List(agent.capabilities.iter().map(Node::text).collect())),
        ("prompt", Node::text(&agent.prompt)),
    ])
}

fn edge_json(edge: &Edge) -> Node {
    Node::map([
        ("on", Node::text(edge.on.name())),
        ("to", Node::text(target_name(&edge.to))),
        ("isBack", Node::Bool(edge.is_back)),
        ("contract", edge.contract.as_ref().map_or(Node::Null, Node::text)),
    ])
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
        format!("{}{back}", target_name(&edge.to)),
        edge.contract.clone().unwrap_or_default(),
    ]
}

fn rule_row(strength: &str, rule: &Rule) -> Vec<String> {
    let mut spellings = vec![rule.field.clone()];
    spellings.extend(rule.others.iter().cloned());
    let mut is = match &rule.check {
        Check::Present => "there".to_owned(),
        Check::Kind(kind) => kind_name(*kind).to_owned(),
        Check::OneOf(words) => format!("one of {}", words.join(", ")),
        Check::NoneOf(words) => format!("not {}", words.join(", ")),
    };
    if let Some(when) = &rule.when {
        is += &format!(", when {} is {}", when.field, when.is);
    }
    vec![strength.to_owned(), spellings.join(" or "), is, rule.about.clone()]
}

pub(super) fn target_name(target: &Target) -> String {
    match target {
        Target::Step(step) => step.to_string(),
        Target::Complete => "complete".to_owned(),
    }
}

fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Text => "text",
        ValueKind::Number => "a number",
        ValueKind::Bool => "true or false",
        ValueKind::List => "a list",
        ValueKind::Map => "a map",
    }
}

fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Lenient => "lenient",
        Profile::Strict => "strict",
    }
}

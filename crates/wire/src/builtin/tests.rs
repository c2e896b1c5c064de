use baton_core::contract::{Contract, Profile};
use baton_core::document::Node;
use baton_core::gate::GateKind;
use baton_core::lint::{self, Facts, LintSubject, Settings};
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::problem::Problem;
use baton_core::workflow::{Step, Workflow};
use expect_test::expect;

use super::*;
use crate::agent_file::{self, AgentFile};
use crate::{json, workflow_file};

pub(super) fn workflow(name: &str) -> Workflow {
    let (_, text) = workflows().iter().find(|(it, _)| *it == name).unwrap();
    workflow_file::parse(text).unwrap()
}

pub(super) fn agent_of(id: &AgentId) -> AgentFile {
    let (_, text) = agents().iter().find(|(it, _)| *it == id.as_str()).unwrap();
    agent_file::parse(text).unwrap()
}

/// The packages that a text shows.
fn packages(prompt: &str) -> Vec<Node> {
    let package = |it: &str| json::parse(it.split("\n```").next().unwrap()).unwrap();
    prompt.split("```json\n").skip(1).map(package).collect()
}

/// What stands under a heading, up to the next one.
fn under<'a>(prompt: &'a str, heading: &str) -> &'a str {
    let (_, rest) = prompt.split_once(heading).unwrap_or_else(|| panic!("{heading}"));
    rest.split_once("\n## ").map_or(rest, |(part, _)| part)
}

/// The contract of what `from` hands to `to`: along an edge, to a delegate, or back from one.
pub(super) fn contract<'a>(workflow: &'a Workflow, from: &str, to: &str) -> Option<&'a Contract> {
    let [from, to] = [from, to].map(|it| AgentId::parse(it).unwrap());
    let along_edge = workflow.edges().find(|(place, edge)| {
        workflow.agents_at(place).contains(&from)
            && workflow.agents_at(&Workflow::target_place(&edge.to)).contains(&to)
    });
    let delegate = |agent: &AgentId, caller: &AgentId| {
        let step = workflow.steps.iter().find(|it| it.agents.contains(caller))?;
        step.delegate(agent)
    };
    let name = along_edge
        .map(|(_, edge)| &edge.contract)
        .or_else(|| delegate(&to, &from).map(|it| &it.contract))
        .or_else(|| delegate(&from, &to).map(|it| &it.returns))?;
    workflow.contract(name.as_ref()?)
}

fn is_at_work(workflow: &Workflow, agent: &str) -> bool {
    let is_meant = |it: &AgentId| it.as_str() == agent;
    let has = |step: &Step| {
        step.agents.iter().any(is_meant) || step.delegates.iter().any(|it| is_meant(&it.agent))
    };
    workflow.steps.iter().any(has)
}

#[track_caller]
pub(super) fn check_kept(contract: &Contract, document: &Node, profile: Profile, what: &str) {
    assert_eq!(contract.check(document).refusing(profile), [], "{what}: {}", contract.name);
}

/// As Baton checks it: the contract in strict, and the linter.
#[track_caller]
pub(super) fn check_strict(contract: &Contract, document: &Node, what: &str) {
    let (facts, settings) = (Facts::default(), Settings::default());
    let contract = Some(contract);
    let subject =
        LintSubject { document, contract, facts: &facts, settings: &settings, file: None };
    let report = lint::lint(&subject);
    let problems: Vec<Problem> =
        report.refusing(Profile::Strict).map(lint::Finding::to_problem).collect();
    assert_eq!(problems, [], "{what}");
    assert!(report.score.points >= 70, "{what}: {:?}", report.score);
}

#[test]
fn every_workflow_reads_without_a_problem() {
    for (name, text) in workflows() {
        assert_eq!(workflow_file::parse(text).unwrap().name.as_str(), *name);
    }
}

#[test]
fn every_agent_reads_without_a_problem_and_every_step_has_one() {
    for (id, text) in agents() {
        assert_eq!(agent_file::parse(text).unwrap().agent.id.as_str(), *id);
    }
    let ids: Vec<&str> = agents().iter().map(|(id, _)| *id).collect();
    for (name, _) in workflows() {
        for step in workflow(name).steps {
            let delegates = step.delegates.iter().map(|it| &it.agent);
            for agent in step.agents.iter().chain(delegates) {
                assert!(ids.contains(&agent.as_str()), "{name}: {agent}");
            }
        }
    }
}

#[test]
fn every_agent_says_that_it_takes_and_gives_what_its_workflow_asks() {
    let produces = |agent: &AgentId, on: Outcome, contract: &String| {
        let produces = agent_of(agent).produces;
        produces.iter().any(|(outcome, names)| *outcome == on && names.contains(contract))
    };
    let accepts = |agent: &AgentId, contract: &String| agent_of(agent).accepts.contains(contract);
    for (name, _) in workflows() {
        let workflow = workflow(name);
        for (from, edge) in workflow.edges() {
            let contract = edge.contract.as_ref().unwrap();
            for agent in workflow.agents_at(&from).iter().filter(|it| !it.is_orchestrator()) {
                assert!(produces(agent, edge.on, contract), "{agent} {contract}");
            }
            let to = Workflow::target_place(&edge.to);
            for agent in workflow.agents_at(&to).iter().filter(|it| !it.is_orchestrator()) {
                assert!(accepts(agent, contract), "{agent} {contract}");
            }
        }
        for step in &workflow.steps {
            for delegate in &step.delegates {
                assert!(accepts(&delegate.agent, delegate.contract.as_ref().unwrap()));
                let returns = delegate.returns.as_ref().unwrap();
                assert!(produces(&delegate.agent, Outcome::Success, returns));
                assert!(step.agents.iter().all(|it| accepts(it, returns)), "{returns}");
            }
        }
    }
}

/// A line for each edge, delegate and gate.
pub(super) fn ways(workflow: &Workflow) -> String {
    let mut lines = Vec::new();
    for (from, edge) in workflow.edges() {
        let to = Workflow::target_place(&edge.to);
        let contract = edge.contract.as_deref().unwrap_or("none");
        lines.push(format!("{from} -{}-> {to} ({contract})", edge.on.name()));
        if let Some(gate) = &edge.gate {
            let checks: Vec<&str> = gate.checks.iter().map(|it| it.as_str()).collect();
            let line = format!("  {} gate: {} {}", gate.kind.name(), gate.name, checks.join(" "));
            lines.push(line.trim_end().to_owned());
        }
    }
    for step in &workflow.steps {
        for it in &step.delegates {
            let [contract, returns] =
                [&it.contract, &it.returns].map(|it| it.as_deref().unwrap_or("none"));
            lines.push(format!("{} ..> {} ({contract}, {returns})", step.id, it.agent));
        }
    }
    lines.join("\n")
}

#[test]
fn the_story_pipeline_is_that_of_its_source_document() {
    let workflow = workflow("story-pipeline");
    expect![[r#"
        orchestrator -success-> analyze (story)
        analyze -success-> implement (plan)
        implement -success-> review (implementation)
        review -success-> refactor (approval)
        review -failure-> implement (feedback)
        refactor -success-> document (polish)
        document -success-> orchestrator (wrap-up)"#]]
    .assert_eq(&ways(&workflow));
    let phases: Vec<&str> = workflow.steps.iter().map(|it| it.phase.as_str()).collect();
    assert_eq!(phases, ["analyzing", "implementing", "reviewing", "refactoring", "documenting"]);
}

#[test]
fn the_gated_project_has_the_agents_the_delegation_and_the_gates_of_its_source_document() {
    let workflow = workflow("gated-project");
    expect![[r#"
        orchestrator -success-> specification (story)
        specification -success-> architecture (specification)
          blocking gate: Specification validated
        architecture -success-> estimation (architecture)
          advisory gate: Architecture presented
        estimation -success-> implementation (estimate)
          blocking gate: Budget approved
        implementation -success-> orchestrator (delivery)
          automatic gate: Quality proven lint types tests build
        architecture ..> security-check (security-request, security-review)"#]]
    .assert_eq(&ways(&workflow));
    assert_eq!(workflow.escalation.as_deref(), Some("escalation"));
    for gate in workflow.edges().filter_map(|(_, edge)| edge.gate.as_ref()) {
        assert!(!gate.items.is_empty(), "{}", gate.name);
        let answers: Vec<&str> = gate.options.iter().map(|(it, _)| it.as_str()).collect();
        let expected = match gate.kind {
            GateKind::Advisory => ["approve", "reject"].as_slice(),
            GateKind::Blocking | GateKind::Automatic => {
                &["approve", "reject", "question", "modify"]
            }
        };
        assert_eq!(answers, expected, "{}", gate.name);
    }
}

#[test]
fn the_printed_examples_of_the_source_document_pass_in_lenient() {
    let workflow = workflow("story-pipeline");
    for (from, to, payload) in [
        ("orchestrator", "analyst", r#"{ "story": {} , "story_id": "v0.1:1.1.1" }"#),
        ("orchestrator", "analyst", r#"{ "story": { "title": "x" } }"#),
        ("analyst", "implementer", r#"{ "plan": "..." }"#),
        ("implementer", "reviewer", "{}"),
        ("reviewer", "refactorer", "{}"),
        ("reviewer", "implementer", "{}"),
        ("refactorer", "documenter", "{}"),
        ("documenter", "orchestrator", "{}"),
    ] {
        let contract = contract(&workflow, from, to).unwrap();
        check_kept(contract, &json::parse(payload).unwrap(), Profile::Lenient, from);
    }
}

#[test]
fn a_contradiction_is_refused_in_lenient() {
    let workflow = workflow("story-pipeline");
    for (from, to, payload) in [
        ("orchestrator", "analyst", "{}"),
        ("analyst", "implementer", "{}"),
        ("implementer", "reviewer", r#"{ "build_passes": false }"#),
        ("reviewer", "refactorer", r#"{ "approved": false }"#),
    ] {
        let contract = contract(&workflow, from, to).unwrap();
        let report = contract.check(&json::parse(payload).unwrap());
        assert_eq!(report.refusing(Profile::Lenient).len(), 1, "{from} to {to}");
    }
}

const SEQUENTIAL: &str = include_str!("../../tests/packages/sequential.json");
const DELEGATION: &str = include_str!("../../tests/packages/delegation.json");
const ESCALATION: &str = include_str!("../../tests/packages/escalation.json");
const RETURN: &str = include_str!("../../tests/packages/return.json");
const PACKAGE: &str = include_str!("../../tests/packages/package.json");
const GATE: &str = include_str!("../../tests/packages/gate.json");

#[test]
fn the_printed_packages_of_the_yaml_handoff_pass_in_lenient_with_and_without_their_root() {
    let workflow = workflow("gated-project");
    let edges = [
        ("specification", "architecture"),
        ("architecture", "estimation"),
        ("estimation", "implementation"),
        ("implementation", "orchestrator"),
    ];
    let mut printed = vec![
        (SEQUENTIAL, contract(&workflow, "specification", "architecture").unwrap()),
        (DELEGATION, contract(&workflow, "architecture", "security-check").unwrap()),
        (RETURN, contract(&workflow, "security-check", "architecture").unwrap()),
        (ESCALATION, workflow.contract("escalation").unwrap()),
    ];
    // The general form is that of any edge, and a gate asks about any of them.
    for (from, to) in edges {
        printed.push((PACKAGE, contract(&workflow, from, to).unwrap()));
        printed.push((GATE, contract(&workflow, from, to).unwrap()));
    }
    for (text, contract) in printed {
        let with_root = json::parse(text).unwrap();
        let without_root = with_root.member("handoff").unwrap();
        check_kept(contract, &with_root, Profile::Lenient, "with its root");
        check_kept(contract, without_root, Profile::Lenient, "without its root");
    }
}

#[test]
fn the_general_form_of_the_yaml_handoff_passes_every_edge_in_strict() {
    let workflow = workflow("gated-project");
    let package = json::parse(PACKAGE).unwrap();
    for contract in workflow.contracts.iter().filter(|it| it.name != "story") {
        check_kept(contract, &package, Profile::Strict, "with its root");
        check_kept(contract, package.member("handoff").unwrap(), Profile::Strict, "without it");
    }
}

#[test]
fn a_package_that_says_nothing_is_refused_by_every_contract_of_the_gated_project() {
    let workflow = workflow("gated-project");
    let refused = |contract: &Contract, document: &str| {
        contract.check(&json::parse(document).unwrap()).refusing(Profile::Lenient).len()
    };
    for contract in &workflow.contracts {
        let n_rules = if contract.name == "security-request" { 2 } else { 1 };
        for nothing in ["{}", r#"{"handoff":{}}"#, r#"{"context":{"summary":" "}}"#] {
            assert_eq!(refused(contract, nothing), n_rules, "{}: {nothing}", contract.name);
        }
    }
    let plain = r#"{"summary":"3 stories, all validated"}"#;
    assert_eq!(refused(workflow.contract("specification").unwrap(), plain), 0);
}

#[test]
fn the_example_in_every_prompt_passes_its_edge_in_strict() {
    for (id, text) in agents() {
        // The agents that hand off in documents are looked at with their workflows.
        let mut known = ["story-pipeline", "gated-project"].map(workflow).into_iter();
        let Some(workflow) = known.find(|it| is_at_work(it, id)) else { continue };
        let prompt = agent_file::parse(text).unwrap().agent.prompt;
        let examples = packages(under(&prompt, "## Handoff format"));
        assert_eq!(examples.len(), 1, "{id}");
        check_strict(forward(&workflow, id), &examples[0], id);
    }
}

/// The contract of what an agent hands on when its work is done.
fn forward<'a>(workflow: &'a Workflow, id: &str) -> &'a Contract {
    let id = AgentId::parse(id).unwrap();
    let step = workflow.steps.iter().find(|it| it.agents.contains(&id));
    let name = match step {
        Some(step) => step.edges_on(Outcome::Success).next().unwrap().contract.as_ref(),
        None => {
            let mut delegates = workflow.steps.iter().flat_map(|it| &it.delegates);
            delegates.find(|it| it.agent == id).unwrap().returns.as_ref()
        }
    };
    workflow.contract(name.unwrap()).unwrap()
}

#[test]
fn what_a_prompt_delegates_or_asks_a_person_keeps_its_contract_in_strict() {
    let workflow = workflow("gated-project");
    let prompt = |id: &str| agent_of(&AgentId::parse(id).unwrap()).agent.prompt;
    let delegated = packages(under(&prompt("architecture"), "## Delegating to the security check"));
    assert_eq!(delegated.len(), 1);
    let request = contract(&workflow, "architecture", "security-check").unwrap();
    check_strict(request, &delegated[0], "the delegation");
    let asked = packages(under(&prompt("estimation"), "## Escalating to a person"));
    assert_eq!(asked.len(), 1);
    let escalation = workflow.contract("escalation").unwrap();
    check_strict(escalation, &asked[0], "the escalation");
}

#[test]
fn the_prompt_of_an_automatic_gate_names_every_check() {
    let workflow = workflow("gated-project");
    for step in &workflow.steps {
        let prompt = agent_of(&step.agents[0]).agent.prompt;
        for check in step.edges.iter().flat_map(|it| &it.gate).flat_map(|it| &it.checks) {
            assert!(prompt.contains(&format!("`{check}`")), "{check}");
        }
    }
}

/// How to accept and to hand on is rendered for the interface in use, at the end of a prompt.
#[test]
fn no_agent_file_has_commands_for_baton() {
    for (id, text) in agents() {
        for word in ["curl", "/api/", "baton handoff", "baton evidence", "HANDOFF_ID"] {
            assert!(!text.contains(word), "{id}: {word}");
        }
    }
}

#[test]
fn every_prompt_has_the_same_parts() {
    for (id, text) in agents() {
        let parts = [
            "> **Context:** Use `DASHBOARD_URL`, `STORY_ID` and `BRANCH` from your execution prompt.",
            "## Identity",
            "**Strengths:**",
            "**Principles:**",
            "**Never:**",
            "## Responsibilities",
            "## Task",
            "## Decision criteria",
            "## Handoff format",
        ]
        .map(|it| text.find(it).unwrap_or_else(|| panic!("{id} lacks {it}")));
        assert!(parts.is_sorted(), "{id}: {parts:?}");
    }
}

//! Tests of the workflows whose agents hand off in documents: what each source document prints passes
//! its edge, and so does the example in every prompt.

use baton_core::contract::{Contract, Profile};
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::workflow::Workflow;
use expect_test::expect;

use super::agents;
use super::tests::{agent_of, check_kept, check_strict, contract, ways, workflow};
use crate::formats::{self, Format};

/// The fenced blocks of a prompt that have this language.
fn examples(prompt: &str, language: &str) -> Vec<Node> {
    let format = Format::parse(language).unwrap();
    let opening = format!("```{language}\n");
    let block = |it: &str| formats::decode(format, it.split("```").next().unwrap()).unwrap();
    prompt.split(opening.as_str()).skip(1).map(block).collect()
}

/// The two sides of an XML handoff; the closing document goes from the closer to the end.
fn parties(document: &Node) -> (String, String) {
    let text = |key: &str| document.at(&format!("handoff.{key}")).and_then(Node::as_text);
    match (text("from"), text("to")) {
        (Some(from), Some(to)) => (from.to_owned(), to.to_owned()),
        _ => ("closer-agent".to_owned(), "orchestrator".to_owned()),
    }
}

const PRINTED: [&str; 9] = [
    include_str!("../../tests/fixtures/xml/issue-manager-to-prep-agent.xml"),
    include_str!("../../tests/fixtures/xml/prep-agent-to-implementer-agent.xml"),
    include_str!("../../tests/fixtures/xml/implementer-agent-to-reviewer-agent.xml"),
    include_str!("../../tests/fixtures/xml/reviewer-agent-to-fixer-agent.xml"),
    include_str!("../../tests/fixtures/xml/reviewer-agent-to-validator-agent.xml"),
    include_str!("../../tests/fixtures/xml/fixer-agent-to-reviewer-agent.xml"),
    include_str!("../../tests/fixtures/xml/validator-agent-to-closer-agent.xml"),
    include_str!("../../tests/fixtures/xml/validator-agent-to-fixer-agent.xml"),
    include_str!("../../tests/fixtures/xml/workflow-complete.xml"),
];

fn agents_of(workflow: &Workflow) -> Vec<AgentId> {
    workflow.steps.iter().flat_map(|it| it.agents.clone()).collect()
}

#[test]
fn issue_to_merge_has_the_states_and_the_edges_of_its_source_document() {
    let workflow = workflow("issue-to-merge");
    expect![[r#"
        orchestrator -success-> issue (request)
        issue -success-> prep (xml/issue-manager→prep-agent)
        prep -success-> implement (xml/prep-agent→implementer-agent)
        implement -success-> review (xml/implementer-agent→reviewer-agent)
        review -success-> validate (xml/reviewer-agent→validator-agent)
        review -failure-> fix (xml/reviewer-agent→fixer-agent)
        fix -success-> review (fixes)
        fix -success-> validate (nothing-to-fix)
        fix -skipped-> validate (nothing-to-fix)
        validate -success-> close (xml/validator-agent→closer-agent)
        validate -failure-> fix (xml/validator-agent→fixer-agent)
        close -success-> orchestrator (xml/closer-agent→complete)"#]]
    .assert_eq(&ways(&workflow));
    let phases: Vec<&str> = workflow.steps.iter().map(|it| it.phase.as_str()).collect();
    assert_eq!(
        phases,
        ["created", "preparing", "implementing", "in_review", "fixing", "validating", "merging"]
    );
}

#[test]
fn every_printed_xml_handoff_passes_its_edge_of_issue_to_merge_in_lenient() {
    let workflow = workflow("issue-to-merge");
    for text in PRINTED {
        let document = formats::decode(Format::Xml, text).unwrap();
        let (from, to) = parties(&document);
        let contract = contract(&workflow, &from, &to).unwrap();
        check_kept(contract, &document, Profile::Lenient, &from);
    }
}

#[test]
fn every_xml_example_in_a_prompt_passes_its_edge_in_strict() {
    let workflow = workflow("issue-to-merge");
    let mut n_examples = 0;
    for agent in agents_of(&workflow) {
        let examples = examples(&agent_of(&agent).agent.prompt, "xml");
        assert!(!examples.is_empty(), "{agent}");
        for document in examples {
            let (from, to) = parties(&document);
            assert_eq!(from, agent.as_str());
            check_strict(contract(&workflow, &from, &to).unwrap(), &document, &from);
            n_examples += 1;
        }
    }
    // One for each of the ten edges.
    assert_eq!(n_examples, 10);
}

#[test]
fn a_prompt_of_a_document_agent_has_its_parts_and_no_protocol() {
    for (id, text) in agents() {
        let is_document_agent = ["```xml", "\"next_phase\"", "\"confidence\""];
        if !is_document_agent.iter().any(|it| text.contains(it)) {
            continue;
        }
        let parts = [
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
        for protocol in ["curl", "$DASHBOARD_URL", "/api/handoffs", "baton handoff"] {
            assert!(!text.contains(protocol), "{id} says `{protocol}`");
        }
    }
}

const PHASES: [(&str, &str); 3] = [
    (
        "architecture",
        include_str!("../../tests/fixtures/metadata/architecture-to-implementation.json"),
    ),
    (
        "implementation",
        include_str!("../../tests/fixtures/metadata/implementation-to-testing.json"),
    ),
    ("testing", include_str!("../../tests/fixtures/metadata/testing-to-complete.json")),
];

/// The contract of good work at a step.
fn of_success<'a>(workflow: &'a Workflow, step: &str) -> &'a Contract {
    let step = workflow.steps.iter().find(|it| it.id.as_str() == step).unwrap();
    let edge = step.edges_on(Outcome::Success).next().unwrap();
    workflow.contract(edge.contract.as_ref().unwrap()).unwrap()
}

#[test]
fn feature_phases_has_the_phases_and_the_table_of_its_source_document() {
    let workflow = workflow("feature-phases");
    expect![[r#"
        orchestrator -success-> architecture (request)
        architecture -success-> implementation (metadata/*→*)
        implementation -success-> testing (metadata/*→*)
        testing -success-> orchestrator (metadata/*→*)
        testing -failure-> implementation (metadata/*→*)"#]]
    .assert_eq(&ways(&workflow));
    let routes = |agent: &str| {
        let agent = AgentId::parse(agent).unwrap();
        let reasons = workflow.routing.rows.iter().map(|it| it.reason.as_str());
        let route = |it: &str| format!("{it} {}", workflow.routing.resolver(it, &agent).unwrap());
        reasons.map(route).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        security_concern frontend-security
        architecture_decision frontend-lead
        architecture_change_needed frontend-lead
        implementation_unclear frontend-lead
        test_failures frontend-tester
        missing_test_plan frontend-tester
        missing_requirements human
        out_of_scope human
        schema_discovery_failed human
        unknown human"#]]
    .assert_eq(&routes("frontend-developer"));
    assert_eq!(
        routes("backend-developer"),
        routes("frontend-developer").replace("frontend", "backend")
    );
    assert_eq!(routes("python-developer"), routes("backend-developer"));
}

#[test]
fn every_printed_phase_document_passes_its_edge_of_feature_phases_in_lenient() {
    let workflow = workflow("feature-phases");
    for (step, text) in PHASES {
        let document = formats::decode(Format::Json, text).unwrap();
        check_kept(of_success(&workflow, step), &document, Profile::Lenient, step);
    }
}

#[test]
fn a_phase_that_failed_its_tests_or_its_build_is_not_complete() {
    let workflow = workflow("feature-phases");
    let refused = |text: String| {
        let document = formats::decode(Format::Json, &text).unwrap();
        let report = of_success(&workflow, "testing").check(&document);
        let paths = report.must.iter().map(|it| format!("{} {}", it.path, it.rule));
        paths.collect::<Vec<_>>()
    };
    let (_, printed) = PHASES[2];
    for (field, value) in [("tests_passed", "false"), ("build_success", "\"false\"")] {
        let text = printed.replace(&format!("\"{field}\": true"), &format!("\"{field}\": {value}"));
        let expected = format!("verification.{field} contradiction");
        assert_eq!(refused(text.clone()), [expected]);
        // A person looks at it, or it goes back.
        for status in ["needs_review", "failed"] {
            let other =
                text.replace("\"complete\",\n  \"phase", &format!("\"{status}\",\n  \"phase"));
            assert_ne!(other, text);
            assert_eq!(refused(other), [""; 0], "{status}");
        }
    }
}

#[test]
fn every_json_example_in_a_prompt_passes_its_edge_in_strict() {
    for name in ["feature-phases", "bmad-delivery"] {
        let workflow = workflow(name);
        for step in &workflow.steps {
            // The reviewer belongs to another workflow, where its example is looked at.
            for agent in step.agents.iter().filter(|it| it.as_str() != "reviewer") {
                let examples = examples(&agent_of(agent).agent.prompt, "json");
                assert_eq!(examples.len(), 1, "{agent}");
                let contract = of_success(&workflow, step.id.as_str());
                check_strict(contract, &examples[0], agent.as_str());
            }
        }
    }
}

#[test]
fn every_example_of_a_resolver_passes_in_strict() {
    let workflow = workflow("feature-phases");
    for agent in ["frontend-security", "backend-security"].map(|it| AgentId::parse(it).unwrap()) {
        let examples = examples(&agent_of(&agent).agent.prompt, "json");
        check_strict(of_success(&workflow, "testing"), &examples[0], agent.as_str());
    }
}

#[test]
fn bmad_delivery_has_the_agents_of_its_source_document() {
    let workflow = workflow("bmad-delivery");
    expect![[r#"
        orchestrator -success-> requirements (idea)
        requirements -success-> architecture (requirements)
        architecture -success-> development (architecture)
        development -success-> review (implementation)
        review -success-> orchestrator (approval)
        review -failure-> development (feedback)"#]]
    .assert_eq(&ways(&workflow));
    let shown: Vec<String> = workflow
        .steps
        .iter()
        .map(|step| {
            let agent = agent_of(&step.agents[0]).agent;
            let color = agent.color.unwrap_or_default();
            let has_all = agent.avatar.is_some() && !agent.capabilities.is_empty();
            let reason = step.reason.as_ref().map(|it| it.as_str().to_owned());
            format!("{} {color} {has_all} {}", agent.name, reason.unwrap_or_default())
        })
        .collect();
    expect![[r#"
        Product Manager blue true Step requires Product Manager expertise
        Architect purple true Step requires Architect expertise
        Developer green true Step requires Developer expertise
        Reviewer orange true Step requires Reviewer expertise"#]]
    .assert_eq(&shown.join("\n"));
    let thresholds =
        workflow.edges().filter(|(_, it)| it.on == Outcome::Success && it.threshold.is_some());
    assert_eq!(thresholds.count(), workflow.steps.len());
}

//! Tests of the workflows whose agents hand off in documents: what each source document prints passes
//! its edge, and so does the example in every prompt.

use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::names::AgentId;
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
    expect![[r#""#]].assert_eq(&ways(&workflow));
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
        for protocol in ["curl", "$DASHBOARD_URL", "/api/", "baton handoff"] {
            assert!(!text.contains(protocol), "{id} says `{protocol}`");
        }
    }
}

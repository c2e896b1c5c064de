//! The schemas of the documents that agents hand over are generated from the contracts, and written
//! to `schemas/documents/` by this test with `UPDATE_EXPECT=1`. The files are what is published.

use baton_core::document::Node;
use expect_test::expect_file;

use super::of_contract::{definitions, enumeration, of_contract, present, reference, texts};
use crate::{builtin, json, workflow_file};

fn document(
    name: &str,
    title: &str,
    about: &str,
    mut rest: Vec<(String, Node)>,
    defs: Vec<(String, Node)>,
) -> String {
    let schema = "https://json-schema.org/draft/2020-12/schema";
    let mut members = vec![
        ("$schema".to_owned(), Node::text(schema)),
        ("$id".to_owned(), Node::text(format!("urn:baton:schema:{name}"))),
        ("title".to_owned(), Node::text(title)),
        ("description".to_owned(), Node::text(about)),
    ];
    members.append(&mut rest);
    members.push(("$defs".to_owned(), Node::Map(definitions().into_iter().chain(defs).collect())));
    json::print_pretty(&Node::Map(members)) + "\n"
}

fn members(node: Node) -> Vec<(String, Node)> {
    match node {
        Node::Map(members) => members,
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => Vec::new(),
    }
}

/// `xml/prep-agent→implementer-agent` as the name of a definition.
fn name_of(contract: &str) -> String {
    let name = contract.split('/').next_back().unwrap_or_default();
    name.replace('→', "-to-").replace('*', "any")
}

fn xml_handoff() -> String {
    let contracts: Vec<_> = builtin::contracts()
        .iter()
        .filter(|it| it.name.starts_with("xml/") && !it.name.ends_with("→complete"))
        .collect();
    let case = |name: &str| {
        let (from, to) = name.trim_start_matches("xml/").split_once('→').unwrap();
        let mut cases = vec![present("to", enumeration(&[to]))];
        // Any agent may fail; other documents to the orchestrator are not covered here.
        cases.push(if from == "*" {
            present("error", reference("something"))
        } else {
            present("from", enumeration(&[from]))
        });
        let then = reference(&name_of(name));
        Node::map([("if", Node::map([("allOf", Node::List(cases))])), ("then", then)])
    };
    let cases = contracts.iter().map(|it| case(&it.name)).collect();
    let inside = Node::map([
        ("type", Node::text("object")),
        ("required", texts(&["from", "to"])),
        ("allOf", Node::List(cases)),
    ]);
    let defs = contracts.iter().map(|it| (name_of(&it.name), of_contract(it))).collect();
    let about = "The JSON form of `<handoff>`, by who hands to whom.";
    document(
        "xml-handoff",
        "Baton handoff, XML protocol",
        about,
        members(present("handoff", inside)),
        defs,
    )
}

fn under(name: &str, root: &str, contract: &str, title: &str, about: &str) -> String {
    let contract = builtin::contract(contract).unwrap();
    document(name, title, about, members(present(root, of_contract(contract))), Vec::new())
}

fn metadata_block() -> String {
    let contract = builtin::contract("metadata/*→*").unwrap();
    let about = "The metadata block at the end of an agent's output. With a `phase` it is in the phase profile, without in the metadata profile.";
    document(
        "metadata-block",
        "Baton handoff between phases",
        about,
        members(of_contract(contract)),
        Vec::new(),
    )
}

fn pipeline_payload() -> String {
    let text = builtin::workflows().iter().find(|(name, _)| *name == "story-pipeline").unwrap().1;
    let workflow = workflow_file::parse(text).unwrap();
    let defs = workflow.contracts.iter().map(|it| (it.name.clone(), of_contract(it))).collect();
    let about = "The field `payload` of the pipeline API. Each edge of the story pipeline has a definition of its own: refer to `pipeline-payload#/$defs/plan`.";
    let rest = vec![("type".to_owned(), Node::text("object"))];
    document("pipeline-payload", "Baton payload", about, rest, defs)
}

#[test]
fn the_schemas_of_documents_say_what_the_contracts_do() {
    expect_file!["../../schemas/documents/xml-handoff.schema.json"].assert_eq(&xml_handoff());
    let about = "The JSON form of `<workflow-complete>`.";
    let complete = under(
        "workflow-complete",
        "workflow-complete",
        "xml/closer-agent→complete",
        "Baton workflow complete",
        about,
    );
    expect_file!["../../schemas/documents/workflow-complete.schema.json"].assert_eq(&complete);
    expect_file!["../../schemas/documents/metadata-block.schema.json"].assert_eq(&metadata_block());
    let about = "A package under `handoff`: sequential, escalation, return, or at a gate.";
    let package = under("yaml-handoff", "handoff", "yaml/*→*", "Baton package", about);
    expect_file!["../../schemas/documents/yaml-handoff.schema.json"].assert_eq(&package);
    let about = "A package that asks a specialist for a part of the work.";
    let delegation =
        under("yaml-delegation", "handoff", "yaml/delegation", "Baton delegation", about);
    expect_file!["../../schemas/documents/yaml-delegation.schema.json"].assert_eq(&delegation);
    expect_file!["../../schemas/documents/pipeline-payload.schema.json"]
        .assert_eq(&pipeline_payload());
}

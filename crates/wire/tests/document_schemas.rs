//! The published schemas of documents, by a validator that is not ours: what the source documents print and what
//! the corpus calls good validates, and what breaks a contract does not.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

use std::collections::BTreeMap;
use std::path::Path;

use baton_core::document::Node;
use baton_wire::formats::{self, Format};
use baton_wire::{json, schema};
use jsonschema::Validator;

fn validators() -> BTreeMap<&'static str, Validator> {
    let validator = |(name, text): (&'static str, &str)| {
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        (name, jsonschema::draft202012::new(&schema).unwrap_or_else(|it| panic!("{name}: {it}")))
    };
    schema::all().map(validator).collect()
}

/// Every document below `tests/` in this folder, by its name.
fn documents(folder: &str) -> Vec<(String, Node)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut found = Vec::new();
    for path in std::fs::read_dir(root).unwrap().map(|it| it.unwrap().path()) {
        let format = path.extension().and_then(|it| Format::parse(it.to_str()?));
        let Some(format) = format else { continue };
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.push((name, formats::decode(format, &text).unwrap()));
    }
    found
}

fn value(document: &Node) -> serde_json::Value {
    serde_json::from_str(&json::print(document)).unwrap()
}

#[test]
fn every_printed_example_validates() {
    let validators = validators();
    let mut n_documents = 0;
    for folder in ["pipeline", "xml", "metadata", "yaml"] {
        for (name, document) in documents(&format!("fixtures/{folder}")) {
            let schema = schema::of_document(&document);
            let value = value(&document);
            let problem = validators[schema].validate(&value).err();
            assert!(problem.is_none(), "{folder}/{name} by {schema}: {problem:?}");
            n_documents += 1;
        }
    }
    assert!(n_documents >= 35, "{n_documents}");
}

#[test]
fn what_the_corpus_calls_good_validates_and_what_breaks_a_contract_does_not() {
    let validators = validators();
    let is_valid =
        |document: &Node| validators[schema::of_document(document)].is_valid(&value(document));
    for (name, document) in documents("corpus/good") {
        assert!(is_valid(&document), "{name}");
    }
    let bad: BTreeMap<String, Node> = documents("corpus/bad").into_iter().collect();
    for name in [
        "001-approved-with-critical.xml",
        "001-no-blocking-issue.xml",
        "001-merged-without-sha.xml",
        "001-without-pr.xml",
        "001-merged-in-words.xml",
        "002-blocked-empty-handed.json",
        "002-blocked-names-next.json",
        "002-context-blank.json",
        "002-status-word.json",
    ] {
        assert!(!is_valid(&bad[name]), "{name}");
    }
}

#[test]
fn a_gate_asks_for_validation_and_a_person_for_a_deliverable() {
    let validators = validators();
    let handoff = |rest: &str| {
        format!(
            r#"{{"handoff":{{"from":{{"agent":"a"}},"to":{{"agent":"human"}},"context":{{"summary":"s"}}{rest}}}}}"#
        )
    };
    for (rest, expected) in [
        ("", false),
        (r#","expectations":{"deliverable":"a choice"}"#, true),
        (r#","gate":{"type":"blocking"}"#, false),
        (r#","gate":{"type":"blocking"},"validation_request":{"items":["x"]}"#, true),
    ] {
        let document: serde_json::Value = serde_json::from_str(&handoff(rest)).unwrap();
        assert_eq!(validators["yaml-handoff"].is_valid(&document), expected, "{rest}");
    }
    let ask = r#"{"acknowledgment":{"received":true,"action":"request_clarification"}}"#;
    let ask: serde_json::Value = serde_json::from_str(ask).unwrap();
    assert!(!validators["acknowledgement"].is_valid(&ask));
}

//! Every example that the source documents print, against the contracts that come with Baton: in lenient each
//! of them passes, and what a source document prints as bad is told.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]
use std::path::{Path, PathBuf};

use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::lint::{self, Facts, LintRule, LintSubject, Settings};
use baton_wire::builtin;
use baton_wire::formats::{self, Format};

fn fixtures() -> Vec<(PathBuf, Node)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(|it| it.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for path in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            let format = Format::parse(path.extension().unwrap().to_str().unwrap()).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, formats::decode(format, &text).unwrap()));
        }
    }
    found.sort_by(|one, two| one.0.cmp(&two.0));
    found
}

fn report(document: &Node) -> lint::LintReport {
    let (facts, settings) = (Facts::default(), Settings::default());
    let contract = builtin::contract_of(document);
    lint::lint(&LintSubject { document, contract, facts: &facts, settings: &settings, file: None })
}

#[test]
fn every_printed_example_passes_its_edge_in_lenient() {
    let mut n_with_contract = 0;
    for (path, document) in fixtures() {
        let refusing: Vec<String> = report(&document)
            .refusing(Profile::Lenient)
            .map(|it| it.to_problem().to_string())
            .collect();
        assert_eq!(refusing, Vec::<String>::new(), "{}", path.display());
        n_with_contract += usize::from(builtin::contract_of(&document).is_some());
    }
    // Ten of the XML handoff, six of the metadata block, six of the YAML handoff.
    assert!(n_with_contract >= 20, "{n_with_contract}");
}

#[test]
fn every_handoff_that_is_printed_has_a_contract() {
    for (path, document) in fixtures() {
        let name = path.file_name().unwrap().to_str().unwrap();
        // The general structure of the XML handoff is between no agents in particular.
        let is_general = name == "structure.xml";
        let has_one = match DocumentKind::of(&document) {
            DocumentKind::XmlHandoff => !is_general,
            DocumentKind::WorkflowComplete
            | DocumentKind::MetadataBlock(_)
            | DocumentKind::YamlHandoff
            | DocumentKind::YamlGate => true,
            DocumentKind::Acknowledgement(_) | DocumentKind::Other(_) | DocumentKind::Payload => {
                false
            }
        };
        assert_eq!(builtin::contract_of(&document).is_some(), has_one, "{name}");
    }
}

/// What the linter says of the printed examples, beside the marks in templates.
#[test]
fn the_printed_examples_have_no_findings_but_those_they_are_printed_for() {
    for (path, document) in fixtures() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let expected: &[LintRule] = match name.as_str() {
            "fragment-context-forbidden.yaml" => &[LintRule::VagueSummary],
            "fragment-success-criteria-bad.yaml" => &[LintRule::Unmeasurable],
            _ => &[],
        };
        let found = report(&document).findings;
        let mut rules: Vec<LintRule> = found
            .iter()
            .filter_map(|it| it.rule)
            .filter(|it| !matches!(it, LintRule::Placeholder | LintRule::BlankField))
            .collect();
        rules.dedup();
        assert_eq!(rules, expected, "{name}: {found:?}");
    }
}

//! The linter, measured on handoffs that were labelled by hand. The figures stand in
//! `docs/lint/README.md`; `UPDATE_EXPECT=1` writes them anew. Read the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact, Rule, Settings, Severity, Subject};
use baton_wire::builtin;
use baton_wire::formats::{self, Format};
use expect_test::expect_file;
use serde::Deserialize;

/// What somebody who read the document says of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    half: u8,
    rules: BTreeSet<String>,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    changed: Vec<String>,
    #[serde(default)]
    lines: BTreeMap<String, u64>,
}

struct Case {
    name: String,
    label: Label,
    /// What trips on it: rules of the linter, and what its contract must have.
    tripped: BTreeSet<String>,
    n_findings: usize,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn document(name: &str) -> Node {
    let path = corpus().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let format = Format::parse(path.extension().unwrap().to_str().unwrap()).unwrap();
    formats::decode(format, &text).unwrap_or_else(|it| panic!("{name}: {it}"))
}

fn facts(label: &Label) -> Facts {
    let file = |n_lines| FileFact::File { n_lines, sha256: Some("0".repeat(64)) };
    let missing = label.missing.iter().map(|it| (it.clone(), FileFact::Missing));
    let changed = label.changed.iter().map(|it| (it.clone(), file(None)));
    let lines = label.lines.iter().map(|(it, n)| (it.clone(), file(Some(*n))));
    Facts { files: missing.chain(changed).chain(lines).collect(), run: None }
}

fn cases() -> Vec<Case> {
    let labels = std::fs::read_to_string(corpus().join("labels.toml")).unwrap();
    let labels: BTreeMap<String, Label> = toml::from_str(&labels).unwrap();
    let case = |(name, label): (String, Label)| {
        let document = document(&name);
        let (facts, settings) = (facts(&label), Settings::default());
        let contract = builtin::contract_of(&document);
        let subject = Subject {
            document: &document,
            contract,
            facts: &facts,
            settings: &settings,
            file: None,
        };
        let report = lint::lint(&subject);
        let counts =
            |it: &&lint::Finding| Rule::parse(&it.code).is_some() || it.severity == Severity::Error;
        let tripped = report.findings.iter().filter(counts).map(|it| it.code.to_string()).collect();
        Case { name, label, tripped, n_findings: report.findings.len() }
    };
    labels.into_iter().map(case).collect()
}

#[test]
fn print_mistakes() {
    for case in cases() {
        if case.tripped != case.label.rules {
            println!(
                "{} ({}): labelled {:?}, tripped {:?}",
                case.name, case.label.half, case.label.rules, case.tripped
            );
        }
        let _ = case.n_findings;
    }
}

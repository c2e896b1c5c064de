//! The linter on sixty documents that another person wrote from the source documents alone, without
//! sight of the rules. Their files are frozen: a wrong judgement is mended in a rule, or stands.
//!
//! A bad document is found where an error or a warning points at, above or below a field that its
//! author named. A good one is a false alarm where there is any error or warning.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

use std::path::{Path, PathBuf};

use baton_core::lint::{self, Facts, LintSubject, Settings, Severity};
use baton_core::workflow::Workflow;
use baton_wire::formats::{self, Format};
use baton_wire::requirements::requirements;
use baton_wire::{builtin, workflow_file};
use expect_test::expect;

struct Judged {
    file: String,
    is_bad: bool,
    /// The fields that its author says are wrong.
    fields: Vec<String>,
    /// The paths of errors and warnings, each with its rule.
    found: Vec<(String, String)>,
}

impl Judged {
    fn is_found(&self) -> bool {
        let touches = |field: &String, path: &str| {
            let (field, path) = (parts(field), parts(path));
            field.starts_with(&path) || path.starts_with(&field)
        };
        self.fields.iter().any(|field| self.found.iter().any(|(path, _)| touches(field, path)))
    }

    fn line(&self) -> String {
        let found: Vec<String> =
            self.found.iter().map(|(path, rule)| format!("{path} [{rule}]")).collect();
        format!("{}: {}", self.file, found.join(", "))
    }
}

/// A path without the places in lists.
fn parts(path: &str) -> Vec<String> {
    let part = |it: &str| it.split('[').next().unwrap_or_default().to_owned();
    path.split('.').map(part).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent")
}

/// As `baton lint` does in a project without workflows of its own, with nothing known of files.
fn judged() -> Vec<Judged> {
    let parse = |(_, text): &(&str, &str)| workflow_file::parse(text).unwrap();
    let workflows: Vec<Workflow> = builtin::workflows().iter().map(parse).collect();
    let expected = std::fs::read_to_string(folder().join("EXPECTED.tsv")).unwrap();
    let judge = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let (file, verdict, fields) = (columns[0], columns[1], columns[2]);
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        let end = file.rsplit('.').next().unwrap();
        let document = formats::decode(Format::parse(end).unwrap(), &text).unwrap();
        let asked = requirements(&workflows, &document, None);
        let report = lint::lint(&LintSubject {
            document: &document,
            contract: asked.contract.as_deref(),
            facts: &Facts::default(),
            settings: &Settings::default(),
            file: Some(file),
        });
        let counting = report.findings.iter().filter(|it| it.severity > Severity::Info);
        Judged {
            file: file.to_owned(),
            is_bad: verdict == "bad",
            fields: fields.split(';').filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            found: counting.map(|it| (it.path.clone(), it.code.to_string())).collect(),
        }
    };
    expected.lines().skip(1).filter(|it| !it.trim().is_empty()).map(judge).collect()
}

/// The figures stand in `docs/lint/README.md` too.
#[test]
fn the_linter_judges_documents_of_another_author() {
    let judged = judged();
    let (bad, good): (Vec<_>, Vec<_>) = judged.iter().partition(|it| it.is_bad);
    let n_found = bad.iter().filter(|it| it.is_found()).count();
    let missed: Vec<&&Judged> = bad.iter().filter(|it| !it.is_found()).collect();
    let alarms: Vec<&&Judged> = good.iter().filter(|it| !it.found.is_empty()).collect();
    let list = |of: &[&&Judged]| of.iter().map(|it| it.line() + "\n").collect::<String>();
    let figures = format!(
        "bad: {} of {} found\ngood: {} of {} with a false alarm\n\nmissed:\n{}\nfalse alarms:\n{}",
        n_found,
        bad.len(),
        alarms.len(),
        good.len(),
        list(&missed),
        list(&alarms)
    );
    expect![[r#"
        bad: 28 of 30 found
        good: 0 of 30 with a false alarm

        missed:
        bad-13-json-status-word.json: 
        bad-26-yaml-unlisted-file.yaml: 

        false alarms:
    "#]]
    .assert_eq(&figures);
}

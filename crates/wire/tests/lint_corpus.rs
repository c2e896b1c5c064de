//! The linter, measured on handoffs that were labelled by hand. The figures stand in
//! `docs/lint/README.md`; `UPDATE_EXPECT=1` writes them anew. Read the difference.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact, LintRule, LintSubject, Settings, Severity};
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
    points: u8,
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
    Facts { files: missing.chain(changed).chain(lines).collect(), ..Facts::default() }
}

fn cases() -> Vec<Case> {
    let labels = std::fs::read_to_string(corpus().join("labels.toml")).unwrap();
    let labels: BTreeMap<String, Label> = toml::from_str(&labels).unwrap();
    let case = |(name, label): (String, Label)| {
        let document = document(&name);
        let (facts, settings) = (facts(&label), Settings::default());
        let contract = builtin::contract_of(&document);
        let subject = LintSubject {
            document: &document,
            contract,
            facts: &facts,
            settings: &settings,
            file: None,
        };
        let report = lint::lint(&subject);
        let counts = |it: &&lint::Finding| {
            LintRule::parse(&it.code).is_some() || it.severity == Severity::Error
        };
        let tripped = report.findings.iter().filter(counts).map(|it| it.code.to_string()).collect();
        Case { name, label, tripped, points: report.score.points }
    };
    labels.into_iter().map(case).collect()
}

/// How often a rule was right, over all documents of one half.
#[derive(Default, Clone, Copy)]
struct Figures {
    n_right: usize,
    n_missed: usize,
    n_false: usize,
}

impl Figures {
    fn of<'a>(code: &str, cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut figures = Self::default();
        for case in cases {
            match (case.label.rules.contains(code), case.tripped.contains(code)) {
                (true, true) => figures.n_right += 1,
                (true, false) => figures.n_missed += 1,
                (false, true) => figures.n_false += 1,
                (false, false) => {}
            }
        }
        figures
    }

    fn columns(self) -> String {
        let Self { n_right, n_missed, n_false } = self;
        let share = |of: usize| match (100 * n_right).checked_div(of) {
            Some(share) => format!("{share} %"),
            None => "–".to_owned(),
        };
        format!(
            "{} | {n_missed} | {n_false} | {} | {}",
            n_right + n_missed,
            share(n_right + n_false),
            share(n_right + n_missed)
        )
    }
}

/// The linter's own rules, and what a contract must have.
fn codes() -> Vec<&'static str> {
    let contract = ["missing", "wrong_value", "contradiction"];
    LintRule::ALL.map(LintRule::code).into_iter().chain(contract).collect()
}

fn table(cases: &[Case], half: u8) -> String {
    let mut table = "| rule | documents | missed | false alarms | precision | recall |\n|---|---|---|---|---|---|\n".to_owned();
    for code in codes() {
        let figures = Figures::of(code, cases.iter().filter(|it| it.label.half == half));
        if figures.n_right + figures.n_missed + figures.n_false > 0 {
            let _ = writeln!(table, "| `{code}` | {} |", figures.columns());
        }
    }
    table
}

fn page(cases: &[Case]) -> String {
    let mut rules = String::new();
    for rule in LintRule::ALL {
        let (code, severity) = (rule.code(), rule.severity().name());
        let _ = writeln!(rules, "| [`{code}`]({code}.md) | {severity} | {} |", rule.about());
    }
    let n_in = |folder: &str| cases.iter().filter(|it| it.name.starts_with(folder)).count();
    include_str!("corpus/page.md")
        .replace("{RULES}", rules.trim_end())
        .replace("{N_GOOD}", &n_in("good/").to_string())
        .replace("{N_BAD}", &n_in("bad/").to_string())
        .replace("{FIRST}", table(cases, 1).trim_end())
        .replace("{SECOND}", table(cases, 2).trim_end())
        .replace("{HELD_OUT}", table(cases, 3).trim_end())
        .replace("{LATER}", table(cases, 4).trim_end())
}

#[test]
fn the_figures_of_the_docs_are_those_of_the_corpus() {
    expect_file!["../../../docs/lint/README.md"].assert_eq(&page(&cases()));
}

#[test]
fn the_corpus_is_large_and_has_every_format_and_every_rule() {
    let cases = cases();
    for folder in ["good/", "bad/"] {
        let names: Vec<&str> =
            cases.iter().map(|it| it.name.as_str()).filter(|it| it.starts_with(folder)).collect();
        assert!(names.len() >= 60, "{folder}: {}", names.len());
        for end in [".json", ".xml", ".yaml", ".md"] {
            assert!(names.iter().any(|it| it.ends_with(end)), "{folder} has no {end}");
        }
    }
    for code in codes() {
        assert!(cases.iter().any(|it| it.label.rules.contains(code)), "{code}");
    }
    let n_first = cases.iter().filter(|it| it.label.half == 1).count();
    assert!(n_first >= 60, "{n_first}");
}

#[test]
fn every_document_is_labelled_and_every_label_is_known() {
    let labelled: BTreeSet<String> = cases().into_iter().map(|it| it.name).collect();
    for folder in ["good", "bad"] {
        for entry in std::fs::read_dir(corpus().join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
            assert!(labelled.contains(&name), "{name}");
        }
    }
    let known = codes();
    for case in cases() {
        let is_known = |it: &&String| known.contains(&it.as_str());
        assert_eq!(case.label.rules.iter().find(|it| !is_known(it)), None, "{}", case.name);
        assert_eq!(case.label.rules.is_empty(), case.name.starts_with("good/"), "{}", case.name);
    }
}

/// A rule that gets worse is told here by name. The documents that were written last may be judged
/// wrongly: they are harder, and not all of them are worth a rule.
#[test]
fn no_document_is_judged_otherwise_than_its_label_says() {
    let wrong: Vec<String> = cases()
        .into_iter()
        .filter(|it| it.label.half < 3 && it.tripped != it.label.rules)
        .map(|it| format!("{}: labelled {:?}, tripped {:?}", it.name, it.label.rules, it.tripped))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_good_score_higher_than_the_bad() {
    let cases = cases();
    let mean = |folder: &str| {
        let points: Vec<u32> = cases
            .iter()
            .filter(|it| it.name.starts_with(folder))
            .map(|it| u32::from(it.points))
            .collect();
        points.iter().sum::<u32>() / u32::try_from(points.len()).unwrap()
    };
    let (good, bad) = (mean("good/"), mean("bad/"));
    assert!(good >= bad + 10, "good {good}, bad {bad}");
}

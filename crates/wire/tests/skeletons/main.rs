//! A skeleton passes at the first try once its marks are filled in as they say: for every built-in
//! contract, every rule of the linter that can refuse, and in every format.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its own marks has failed")]

mod broken;
mod dice;
mod marks;
mod rules;

use baton_core::contract::{Contract, Profile};
use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact, LintSubject, Parties, RunFact, Settings, StepFact};
use baton_core::outcome::Outcome;
use baton_core::skeleton::{self, PackageRules};
use baton_wire::formats::{self, Format};
use baton_wire::{builtin, workflow_file};
use proptest::prelude::*;

use dice::Dice;

/// Every built-in contract, and none.
fn contracts() -> Vec<Option<Contract>> {
    let of_workflows = builtin::workflows()
        .iter()
        .flat_map(|(_, text)| workflow_file::parse(text).unwrap().contracts);
    let all = builtin::contracts().iter().cloned().chain(of_workflows);
    all.map(Some).chain([None]).collect()
}

fn facts() -> Facts {
    let file = FileFact::File { n_lines: Some(20), sha256: Some("0".repeat(64)) };
    let files =
        [("src/missing.rs".to_owned(), FileFact::Missing), ("src/store.rs".to_owned(), file)];
    let step = |id: &str, phase: &str| StepFact { id: id.to_owned(), phase: phase.to_owned() };
    let run = RunFact {
        workflow: "story-pipeline".to_owned(),
        steps: vec!["analyze".to_owned(), "implement".to_owned()],
        visited: vec!["analyze".to_owned()],
        at: Some(step("implement", "implementation")),
        phases: vec![step("analyze", "architecture"), step("implement", "implementation")],
    };
    Facts { files: files.into(), run: Some(run), outcome: None, parties: Parties::InDocument }
}

/// What still refuses a document in strict.
fn refusing(document: &Node, rules: &PackageRules<'_>) -> Vec<String> {
    let PackageRules { contract, facts, settings, .. } = *rules;
    let report = lint::lint(&LintSubject { document, contract, facts, settings, file: None });
    let low = rules.min_score.filter(|it| report.score.points < *it);
    let low =
        low.map(|it| format!("{} of {it} points: {:?}", report.score.points, report.score.parts));
    let findings = report.refusing(rules.profile).map(|it| it.to_problem().to_string());
    findings.chain(low).collect()
}

/// Fills a document in as its marks say, written in each of the formats.
#[track_caller]
fn check(document: &Node, rules: &PackageRules<'_>, dice: &mut Dice) {
    let skeleton = skeleton::skeleton(document, rules);
    for format in Format::ALL {
        let written = formats::encode(&skeleton, format);
        let read = formats::decode(format, &written).unwrap();
        let filled = marks::fill(&read, dice);
        assert_eq!(marks::marks(&filled), Vec::<String>::new());
        let sent = formats::decode(format, &formats::encode(&filled, format)).unwrap();
        let left = refusing(&sent, rules);
        assert!(
            left.is_empty(),
            "{left:#?}\nof {document:?}\n{written}\n{}",
            formats::encode(&sent, format)
        );
    }
}

fn rules<'a>(
    contract: Option<&'a Contract>,
    facts: &'a Facts,
    settings: &'a Settings,
) -> PackageRules<'a> {
    let (profile, min_score, outcome) = (Profile::Strict, None, None);
    PackageRules { contract, facts, settings, profile, min_score, outcome }
}

#[test]
fn a_template_passes_once_its_marks_are_filled_in() {
    let (facts, settings) = (Facts::default(), Settings::default());
    let outcomes = Outcome::ALL.into_iter().map(Some).chain([None]);
    for (seed, outcome) in (0..).zip(outcomes) {
        for contract in contracts() {
            let mut dice = Dice::new(seed);
            let contract = contract.as_ref();
            let rules = PackageRules { outcome, ..rules(contract, &facts, &settings) };
            let template = skeleton::template(&rules, "what was done");
            assert!(!marks::marks(&template).is_empty());
            let filled = marks::fill(&template, &mut dice);
            let left = refusing(&filled, &rules);
            assert!(left.is_empty(), "{left:#?}\n{template:#?}\n{filled:#?}");
        }
    }
}

#[test]
fn every_rule_of_the_linter_has_a_correction() {
    let settings = Settings::default();
    for rule in lint::LintRule::ALL {
        let document = rules::broken(rule);
        let facts = facts();
        let rules = rules(None, &facts, &settings);
        let report = lint::lint(&LintSubject {
            document: &document,
            contract: None,
            facts: &facts,
            settings: &settings,
            file: None,
        });
        assert!(report.findings.iter().any(|it| it.rule == Some(rule)), "{rule}: {report:?}");
        let skeleton = skeleton::skeleton(&document, &rules);
        let is_refused = !refusing(&document, &rules).is_empty();
        assert_eq!(skeleton != document, is_refused, "{rule}");
        check(&document, &rules, &mut Dice::new(1));
    }
}

#[test]
fn a_score_that_is_too_low_can_be_raised_by_filling_in() {
    let (facts, settings) = (Facts::default(), Settings::default());
    let text = |it: &str| Node::text(it);
    let package = Node::map([("context", Node::map([("notes", text("see `src/a.rs`"))]))]);
    let gate =
        Node::map([("handoff", Node::map([("gate", Node::map([("type", text("blocking"))]))]))]);
    let phase = |status: &str| Node::map([("status", text(status)), ("phase", text("testing"))]);
    let xml = Node::map([("handoff", Node::map([("from", text("a")), ("to", text("b"))]))]);
    let documents = [Node::map([]), package, gate, phase("complete"), phase("blocked"), xml];
    for (profile, document) in
        Profile::ALL.into_iter().flat_map(|it| documents.iter().map(move |document| (it, document)))
    {
        let rules = PackageRules { min_score: Some(90), profile, ..rules(None, &facts, &settings) };
        assert!(!refusing(document, &rules).is_empty(), "{document:?}");
        check(document, &rules, &mut Dice::new(3));
    }
}

#[test]
fn what_is_right_is_not_touched() {
    let (facts, settings) = (Facts::default(), Settings::default());
    for contract in contracts() {
        let contract = contract.as_ref();
        let rules = rules(contract, &facts, &settings);
        let template = skeleton::template(&rules, "what was done");
        let filled = marks::fill(&template, &mut Dice::new(5));
        assert_eq!(skeleton::skeleton(&filled, &rules), filled);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_broken_package_passes_once_the_marks_of_its_skeleton_are_filled_in(seed: u64) {
        let (facts, settings) = (facts(), Settings::default());
        let mut dice = Dice::new(seed);
        for contract in contracts() {
            let contract = contract.as_ref();
            let document = broken::package(contract, &mut dice);
            check(&document, &rules(contract, &facts, &settings), &mut dice);
        }
    }

    /// A skeleton that is sent back as it is comes back with its marks, and passes the same way.
    #[test]
    fn an_unfilled_skeleton_stays_one(seed: u64) {
        let (facts, settings) = (facts(), Settings::default());
        let mut dice = Dice::new(seed);
        for contract in contracts() {
            let contract = contract.as_ref();
            let rules = rules(contract, &facts, &settings);
            let document = broken::package(contract, &mut dice);
            let skeleton = skeleton::skeleton(&document, &rules);
            if !marks::marks(&skeleton).is_empty() {
                prop_assert!(!refusing(&skeleton, &rules).is_empty(), "{:?}", skeleton);
            }
            check(&skeleton, &rules, &mut dice);
        }
    }
}

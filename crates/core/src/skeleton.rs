//! The corrected form of a package: every valid part is kept, and every wrong or missing part is a
//! mark that says what belongs there. With its marks filled in as they say, it passes.
//!
//! It is corrected until the rules take it with samples in the place of the marks, so a rule that
//! has no correction is found by the tests. `docs/contracts.md` says how a mark is read.

mod counting;
mod fields;
mod frame;
mod mark;
mod members;
mod raise;
mod repair;
mod sketch;
mod texts;

use std::collections::BTreeSet;

use crate::contract::{Body, Check, Contract, ContractRule, Profile, items};
use crate::document::{Node, NodeKind};
use crate::lint::{self, Facts, Finding, LintReport, LintRule, LintSubject, Settings};
use crate::outcome::Outcome;

use fields::FieldMarks;
use mark::{FieldMark, TextKind, Wanted};
use sketch::{PathStep, Sketch, at, steps};

pub(crate) use mark::is_mark;

/// Everything that a package has to satisfy.
#[derive(Debug, Clone, Copy)]
pub struct PackageRules<'a> {
    pub contract: Option<&'a Contract>,
    pub facts: &'a Facts,
    pub settings: &'a Settings,
    pub profile: Profile,
    /// The lowest score that is taken.
    pub min_score: Option<u8>,
    /// How the sender's step ended, where that is known.
    pub outcome: Option<Outcome>,
}

/// A correction may break another rule, which the next round corrects.
const MOST_ROUNDS: usize = 12;

/// How many characters of a document are looked at to find out which words pass.
const MOST_WEIGHED: usize = 4_000_000;

/// The document as it would pass, once the marks are filled in.
pub fn skeleton(document: &Node, rules: &PackageRules<'_>) -> Node {
    corrected(document, rules).shown
}

/// A package that satisfies the rules, once its marks are filled in. Where they ask for nothing, it
/// has a summary, with these words about it.
pub fn template(rules: &PackageRules<'_>, about: &str) -> Node {
    let template = skeleton(&Node::Map(Vec::new()), rules);
    if !template.is_blank() {
        return template;
    }
    Node::map([("summary", FieldMark::text(TextKind::Summary, about).shown())])
}

/// As [`template`], for a step whose contract asks for phases: with the phase that ends and the one that
/// comes next, so that its words are those of this very step.
pub fn template_of_phase(rules: &PackageRules<'_>, about: &str, phase: &str, next: &str) -> Node {
    let is_asked = |it: &ContractRule| it.field == "phase";
    let mut asked = rules.contract.into_iter().flat_map(|it| it.must.iter().chain(&it.should));
    if !asked.any(is_asked) {
        return template(rules, about);
    }
    let next = Node::map([("next_phase", Node::text(next))]);
    let start = Node::map([("phase", Node::text(phase)), ("handoff", next)]);
    skeleton(&start, rules)
}

/// A stuck template with a place for the word by which the workflow finds an agent that helps.
pub fn with_blocked_reason(template: Node, reasons: &[&str]) -> Node {
    let Node::Map(mut members) = template else { return template };
    let is_there = members.iter().any(|(key, _)| key == "blocked_reason");
    if !reasons.is_empty() && !is_there {
        let words = reasons.iter().map(|it| (*it).to_owned()).collect();
        let mark = FieldMark::new(Wanted::Word(words), "what kind of blocker it is");
        members.insert(0, ("blocked_reason".to_owned(), mark.shown()));
    }
    Node::Map(members)
}

/// A package that satisfies the rules, with samples where a template has marks: for workflows that
/// are tried without work.
pub fn sample_of(rules: &PackageRules<'_>) -> Node {
    corrected(&Node::Map(Vec::new()), rules).sample
}

/// As [`template`], for an agent that cannot go on, where no contract says what it has to tell.
pub fn stuck_template() -> Node {
    Node::map(stuck_marks().map(|(key, mark)| (key, mark.shown())))
}

/// As [`stuck_template`], with everything else that the rules ask for.
pub fn stuck_template_for(rules: &PackageRules<'_>) -> Node {
    let mut sketch = Sketch::of(Node::Map(Vec::new()));
    for (key, mark) in stuck_marks() {
        sketch.put(&steps(key), &mark);
    }
    improved(sketch, rules).shown
}

fn stuck_marks() -> [(&'static str, FieldMark); 3] {
    let list = |about: &str| {
        let item = FieldMark::text(TextKind::Any, about);
        FieldMark::new(Wanted::Items(1, Box::new(item)), about)
    };
    let reason = "what keeps you from going on, in one sentence";
    [
        ("reason", FieldMark::text(TextKind::NoPerson, reason)),
        ("blockers", list("what has to be cleared before you can go on")),
        ("attempted", list("what you have tried")),
    ]
}

/// Every mark of a skeleton, with its path.
pub fn marks(skeleton: &Node) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    collect_marks(skeleton, String::new(), &mut found);
    found
}

fn collect_marks<'a>(node: &'a Node, path: String, found: &mut Vec<(String, &'a str)>) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => {}
        Node::Text(text) if is_mark(text) => found.push((path, text)),
        Node::Text(_) => {}
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_marks(item, format!("{path}[{index}]"), found);
            }
        }
        Node::Map(members) => {
            for (key, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                collect_marks(member, format!("{path}{dot}{key}"), found);
            }
        }
    }
}

/// The value at a path as problems write it: `context.artifacts[2].path`.
pub fn value_at<'a>(document: &'a Node, path: &str) -> Option<&'a Node> {
    at(document, &steps(path))
}

fn corrected(document: &Node, rules: &PackageRules<'_>) -> Sketch {
    let has_fields = document.kind() == NodeKind::Map || rules.contract.is_none();
    improved(Sketch::of(if has_fields { document.clone() } else { Node::Map(Vec::new()) }), rules)
}

/// Corrects what is wrong until the rules take it.
fn improved(mut sketch: Sketch, rules: &PackageRules<'_>) -> Sketch {
    let marks = FieldMarks { contract: rules.contract, outcome: rules.outcome };
    // Where the score is too low, every finding counts, whatever the profile.
    let mut profile = rules.profile;
    for _ in 0..MOST_ROUNDS {
        let is_changed = keep_contract(&mut sketch, &marks);
        let report = report(&sketch.sample, rules);
        let refusing: Vec<(LintRule, String)> = report
            .refusing(profile)
            .filter_map(|it: &Finding| Some((it.rule?, it.path.clone())))
            .collect();
        let refused: BTreeSet<LintRule> = refusing.iter().map(|(rule, _)| *rule).collect();
        for (rule, path) in &refusing {
            repair::repair(&mut sketch, &marks, rules.facts, (*rule, path));
        }
        texts::repair(&mut sketch, &marks, &refused);
        let is_low = rules.min_score.is_some_and(|least| report.score.points < least);
        if !sketch.has_room() {
            break;
        }
        if refusing.is_empty() && !is_changed {
            if !is_low {
                break;
            }
            if profile == Profile::Strict {
                raise::raise(&mut sketch, &marks, &report.score);
            }
            profile = Profile::Strict;
        }
    }
    offer_possible_words(&mut sketch, rules);
    sketch
}

fn report(document: &Node, rules: &PackageRules<'_>) -> LintReport {
    let PackageRules { contract, facts, settings, .. } = *rules;
    lint::lint(&LintSubject { document, contract, facts, settings, file: None })
}

/// Marks every field that a rule of the contract refuses, and says whether there was one.
fn keep_contract(sketch: &mut Sketch, marks: &FieldMarks<'_>) -> bool {
    let mut is_changed = false;
    let rules = marks.contract.into_iter().flat_map(|it| it.must.iter().chain(&it.should));
    for rule in rules {
        // Once for each spelling: several spellings may hold a contradiction.
        for _ in rule.spellings() {
            let Some(problem) = rule.check(&Body::of(&sketch.sample)) else { break };
            is_changed = true;
            keep_rule(sketch, marks, rule, &problem.path);
        }
    }
    is_changed
}

fn keep_rule(sketch: &mut Sketch, marks: &FieldMarks<'_>, rule: &ContractRule, path: &str) {
    let path = steps(path);
    match &rule.check {
        Check::CountedBy(counted) => {
            let number = steps(&Body::of(&sketch.sample).path(&counted.by));
            repair::correct_count(sketch, marks, &number);
        }
        Check::AtLeast(least) => add_items(sketch, marks, &path, *least),
        Check::Present
        | Check::Kind(_)
        | Check::OneOf(_)
        | Check::NoneOf(_)
        | Check::AtMost(_)
        | Check::Absent
        | Check::SameAs(_) => repair::replace(sketch, marks, &path),
    }
}

/// Keeps the items of a list that is too short.
fn add_items(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep], least: usize) {
    let n_items = at(&sketch.sample, path).and_then(items).map_or(0, <[Node]>::len);
    let mark = marks.at(&sketch.sample, path);
    if let Wanted::Items(_, each) = &mark.wanted
        && n_items > 0
    {
        sketch.append(path, least - n_items, each);
    } else {
        repair::put_instead(sketch, path, mark);
    }
}

/// A word may bring other rules with it. Only the words that this skeleton passes with are offered,
/// also where every other choice between the same words is made in the same way.
fn offer_possible_words(sketch: &mut Sketch, rules: &PackageRules<'_>) {
    let is_shown =
        |(path, mark): &(Vec<PathStep>, FieldMark)| at(&sketch.shown, path) == Some(&mark.shown());
    let mut choices = std::mem::take(&mut sketch.choices);
    choices.retain(is_shown);
    // Each word costs a look at the whole document.
    let mut n_looks = MOST_WEIGHED / weight(&sketch.sample);
    let mut open: Vec<Vec<String>> = choices.iter().map(|(_, mark)| mark.words()).collect();
    for (index, (path, mark)) in choices.iter().enumerate() {
        let words = mark.words();
        // The first word passes in any case: the sample has it.
        let n_tried = if 2 * words.len() <= n_looks { words.len() } else { 1 };
        n_looks = n_looks.saturating_sub(2 * words.len());
        let mut possible = Vec::new();
        for word in words.iter().take(n_tried) {
            let is_like = |other: usize| {
                other != index && choices[other].1.words() == words && open[other].contains(word)
            };
            let alike = (0..choices.len()).filter(|it| is_like(*it)).map(|it| &choices[it]);
            if passes_with(sketch, rules, word, path, &alike.collect::<Vec<_>>()) {
                possible.push(word.clone());
            }
        }
        if !possible.is_empty() && possible != words {
            let wanted = Wanted::Word(possible.clone());
            sketch.put(path, &FieldMark { wanted, about: mark.about.clone() });
        }
        open[index] = possible;
    }
}

/// True if a word passes at a path, alone and with all of the choices that are alike.
fn passes_with(
    sketch: &mut Sketch,
    rules: &PackageRules<'_>,
    word: &str,
    path: &[PathStep],
    alike: &[&(Vec<PathStep>, FieldMark)],
) -> bool {
    let before = sketch.sample.clone();
    let is_fine = |sketch: &mut Sketch| {
        sketch.count_again();
        report(&sketch.sample, rules).refusing(Profile::Strict).next().is_none()
    };
    sketch.set_sample(path, Node::text(word));
    let is_fine_alone = is_fine(sketch);
    for (other, _) in alike {
        sketch.set_sample(other, Node::text(word));
    }
    let passes = is_fine_alone && (alike.is_empty() || is_fine(sketch));
    sketch.sample = before;
    passes
}

/// About how many characters a document has.
fn weight(node: &Node) -> usize {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => 8,
        Node::Text(text) => 8 + text.len(),
        Node::List(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Node::Map(members) => {
            8 + members.iter().map(|(key, it)| key.len() + weight(it)).sum::<usize>()
        }
    }
}

/// The skeleton with samples in the place of its marks.
#[cfg(test)]
pub(crate) fn sample(document: &Node, contract: &Contract) -> Node {
    let (facts, settings) = (Facts::default(), Settings::default());
    let rules = PackageRules {
        contract: Some(contract),
        facts: &facts,
        settings: &settings,
        profile: Profile::Strict,
        min_score: None,
        outcome: None,
    };
    corrected(document, &rules).sample
}

#[cfg(test)]
mod tests;

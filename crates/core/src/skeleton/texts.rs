//! Corrections of texts, wherever in a document they stand.

use std::collections::BTreeSet;

use super::fields::FieldMarks;
use super::mark::{FieldMark, TextKind, Wanted, is_mark, sample_of_mark};
use super::repair::put_instead;
use super::sketch::{PathStep, Sketch};
use crate::document::Node;
use crate::invisible::hidden;
use crate::lint::{LintRule, redacted, rules_of_key, rules_of_text};

/// Corrects every text that one of the rules refuses.
pub(super) fn repair(sketch: &mut Sketch, marks: &FieldMarks<'_>, refused: &BTreeSet<LintRule>) {
    if [LintRule::InvisibleCharacter, LintRule::Secret].iter().any(|it| refused.contains(it)) {
        show_keys(&mut sketch.shown);
        show_keys(&mut sketch.sample);
    }
    let mut found = Vec::new();
    collect(&sketch.shown, &mut Vec::new(), &mut |path, key, text| {
        let rule = rules_of_text(key, text).into_iter().find(|it| refused.contains(it));
        if let Some(rule) = rule.filter(|_| found.len() < 1000) {
            found.push((path.to_vec(), rule));
        }
    });
    for (path, rule) in found {
        // A mark that Baton wrote just now has a sample, and needs nothing else.
        let Some(Node::Text(text)) = sketch.kept(&path).cloned() else { continue };
        correct(sketch, marks, &path, rule, &text);
    }
}

fn correct(
    sketch: &mut Sketch,
    marks: &FieldMarks<'_>,
    path: &[PathStep],
    rule: LintRule,
    text: &str,
) {
    let own = || marks.at(&sketch.sample, path);
    let field = |kind: TextKind| FieldMark::text(kind, own().about);
    match rule {
        LintRule::InvisibleCharacter => sketch.keep(path, Node::Text(visible(text))),
        LintRule::Placeholder if may_stay(path, text.trim()) && own().is_generic() => {
            // It stays: it says more than Baton knows.
            sketch.set_sample(path, sample_of_mark(text.trim()));
        }
        LintRule::Placeholder => {
            let mark = left_over(text.trim(), own());
            put_instead(sketch, path, mark);
        }
        LintRule::BlankField => {
            let mark = own();
            sketch.put(path, &mark);
        }
        LintRule::Secret => {
            let clean = redacted(text);
            if rules_of_text(last_key(path), &clean).is_empty() {
                sketch.keep(path, Node::Text(clean));
            } else {
                let mark = field(TextKind::NoSecret);
                sketch.put(path, &mark);
            }
        }
        LintRule::PersonalData => {
            let mark = field(TextKind::NoPerson);
            sketch.put(path, &mark);
        }
        LintRule::InstructionToReader => {
            let mark = field(TextKind::NoOrders);
            put_instead(sketch, path, mark);
        }
        // These look at one field in particular.
        LintRule::VagueSummary
        | LintRule::LongSummary
        | LintRule::Unmeasurable
        | LintRule::ArtifactWithoutPath
        | LintRule::ArtifactOutside
        | LintRule::ArtifactMissing
        | LintRule::ArtifactChanged
        | LintRule::QuestionWithoutPriority
        | LintRule::DecisionWithoutRationale
        | LintRule::ClaimWithoutEvidence
        | LintRule::CountMismatch
        | LintRule::StaleWorkflowState
        | LintRule::WrongRange
        | LintRule::MissingParty
        | LintRule::RepeatedField
        | LintRule::UnknownStatus
        | LintRule::BadTimestamp
        | LintRule::UnknownWord
        | LintRule::ImpossibleNumber
        | LintRule::FailedCheck
        | LintRule::IncompleteItem
        | LintRule::DecisionWithoutId
        | LintRule::UnclearAcknowledgement
        | LintRule::NumberMismatch => {}
    }
}

/// True for a mark that passes in its place, once it is filled in as it says.
fn may_stay(path: &[PathStep], text: &str) -> bool {
    let passes = |sample: &Node| {
        sample.as_text().is_none_or(|it| rules_of_text(last_key(path), it).is_empty())
    };
    is_mark(text) && passes(&sample_of_mark(text))
}

/// What a template had there may say what is wanted.
fn left_over(text: &str, mark: FieldMark) -> FieldMark {
    if !mark.is_generic() {
        return mark;
    }
    let is_choice = text.matches('|').count() >= 2 && !text.contains(' ');
    if is_choice {
        let words = text.split('|').map(|it| it.trim().to_owned()).collect();
        return FieldMark { wanted: Wanted::Word(words), ..mark };
    }
    let inside = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    match inside('<', '>').or_else(|| inside('[', ']')) {
        Some(words) if words.contains(' ') => FieldMark { about: words.to_owned(), ..mark },
        Some(_) | None => mark,
    }
}

/// Every text with its path and the nearest key.
fn collect(node: &Node, path: &mut Vec<PathStep>, visit: &mut impl FnMut(&[PathStep], &str, &str)) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) => {}
        Node::Text(text) => visit(path, last_key(path), text),
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(PathStep::Item(index));
                collect(item, path, visit);
                path.pop();
            }
        }
        Node::Map(members) => {
            for (key, member) in members {
                path.push(PathStep::Key(key.clone()));
                collect(member, path, visit);
                path.pop();
            }
        }
    }
}

fn last_key(path: &[PathStep]) -> &str {
    let keys = path.iter().rev().filter_map(|it| match it {
        PathStep::Key(key) => Some(key.as_str()),
        PathStep::Item(_) => None,
    });
    keys.into_iter().next().unwrap_or_default()
}

/// The text with every invisible character written as `U+202E`.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, it) in hidden(text) {
        if it == '\r' || (at == 0 && it == '\u{FEFF}') {
            continue;
        }
        out.push_str(&text[done..at]);
        out.push_str(&format!("U+{:04X}", it as u32));
        done = at + it.len_utf8();
    }
    out.push_str(&text[done..]);
    out
}

/// Keys are made visible too, and lose their secrets; one that is there already gets a number.
fn show_keys(node: &mut Node) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {}
        Node::List(items) => items.iter_mut().for_each(show_keys),
        Node::Map(members) => {
            for index in 0..members.len() {
                let key = &members[index].0;
                if !rules_of_key(key).is_empty() {
                    let mut shown = visible(&redacted(key));
                    while members.iter().any(|(it, _)| *it == shown) {
                        shown.push_str("-2");
                    }
                    members[index].0 = shown;
                }
                show_keys(&mut members[index].1);
            }
        }
    }
}

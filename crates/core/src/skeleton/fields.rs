//! The mark of a field: what every rule of the contract and the linter want there, in one.

use super::counting::ItemCount;
use super::mark::{FieldMark, TextKind, Wanted};
use super::members;
use super::sketch::PathStep;
use crate::contract::{Body, Check, Contract, ContractRule, ValueKind};
use crate::document::{Node, NodeKind};
use crate::lint::nature::{FieldNature, bounds, counted_lists, nature, number_in_address};
use crate::outcome::Outcome;
use crate::view::OutcomeClaim;

#[derive(Clone, Copy)]
pub(super) struct FieldMarks<'a> {
    pub(super) contract: Option<&'a Contract>,
    /// How the sender's step ended, where that is known.
    pub(super) outcome: Option<Outcome>,
}

impl FieldMarks<'_> {
    /// The mark for the value at a path from the top of the document.
    pub(super) fn at(&self, document: &Node, path: &[PathStep]) -> FieldMark {
        let body = Body::of(document);
        let is_key = |it: &&PathStep| matches!(it, PathStep::Key(_));
        let n_keys = path.iter().take_while(is_key).count();
        // A rule may name a map or a list above the value.
        for n in (1..=n_keys).rev() {
            let field = dotted(&path[..n]);
            let rules = self.rules(&body, &field);
            if rules.is_empty() {
                continue;
            }
            let mark = self.merged(&body, &field, &rules);
            if let Some(mark) = descend(mark, &path[n..]) {
                return mark;
            }
        }
        let field = dotted(&path[..n_keys]);
        let nature = nature(relative(&body, &field));
        if nature == FieldNature::Time && n_keys == path.len() {
            return FieldMark::new(Wanted::Time, "when it was written");
        }
        let generic = FieldMark::generic(text_kind(nature), last_key(path));
        if n_keys < path.len() {
            let list = relative(&body, &field);
            return descend(members::item(nature, list, &generic.about), &path[n_keys + 1..])
                .unwrap_or_else(|| FieldMark::generic(TextKind::Any, last_key(path)));
        }
        let counts = self.counts(&body, &field);
        if !counts.is_empty() {
            let (least, most) = bounds(relative(&body, &field));
            return FieldMark::new(Wanted::Number { least, most, counts }, "how many there are");
        }
        generic
    }

    /// The rules that apply to the field at a path.
    fn rules(&self, body: &Body<'_>, field: &str) -> Vec<&ContractRule> {
        let rules = self.contract.into_iter().flat_map(|it| it.must.iter().chain(&it.should));
        let is_about = |rule: &&ContractRule| {
            rule.is_due(body) && rule.spellings().any(|it| body.path(it) == field)
        };
        let is_check = |rule: &&ContractRule| match rule.check {
            // The number is corrected, not the list.
            Check::CountedBy(_) => false,
            Check::Present
            | Check::Kind(_)
            | Check::OneOf(_)
            | Check::NoneOf(_)
            | Check::AtLeast(_)
            | Check::AtMost(_)
            | Check::Absent
            | Check::SameAs(_) => true,
        };
        rules.filter(is_check).filter(is_about).collect()
    }

    fn merged(&self, body: &Body<'_>, field: &str, rules: &[&ContractRule]) -> FieldMark {
        let mut narrowed = Narrowed::default();
        for rule in rules {
            narrowed.add(&rule.check);
        }
        let about = abouts(rules);
        let nature = nature(relative(body, field));
        if narrowed.is_absent {
            return FieldMark::new(Wanted::Literal(Node::Null), about);
        }
        if let Some(path) = narrowed.same_as {
            return FieldMark::new(Wanted::SameAs(path), about);
        }
        if let Some(words) = narrowed.words {
            let words = words.into_iter().filter(|it| !narrowed.not.contains(it)).collect();
            return FieldMark::new(Wanted::Word(self.possible(words)), about);
        }
        let kind = narrowed.kind.or_else(|| usual_kind(nature));
        let text = |not| {
            let is_time = nature == FieldNature::Time;
            let wanted = if is_time { Wanted::Time } else { Wanted::Text(text_kind(nature), not) };
            FieldMark::new(wanted, about.clone())
        };
        match kind {
            Some(ValueKind::Bool) => {
                FieldMark::new(truth(&narrowed.not).unwrap_or(Wanted::TrueOrFalse), about)
            }
            Some(ValueKind::Number) => FieldMark::new(self.number_at(body, field), about),
            Some(ValueKind::List) => {
                let item = members::item(nature, relative(body, field), &about);
                FieldMark::new(Wanted::Items(narrowed.least.max(1), Box::new(item)), about)
            }
            Some(ValueKind::Map) => members::map(&about),
            None => match truth(&narrowed.not) {
                Some(wanted) => FieldMark::new(wanted, about),
                None => text(narrowed.not),
            },
            Some(ValueKind::Text) => text(narrowed.not),
        }
    }

    /// The words that fit the outcome; all of them where none says one.
    pub(super) fn possible(&self, words: Vec<String>) -> Vec<String> {
        let fits = |it: &String| {
            self.outcome.is_some_and(|outcome| OutcomeClaim::parse(it).outcome() == Some(outcome))
        };
        if words.iter().any(fits) { words.into_iter().filter(fits).collect() } else { words }
    }

    /// The lists that the number at a path counts.
    pub(super) fn counts(&self, body: &Body<'_>, field: &str) -> Vec<ItemCount> {
        let rules = || self.contract.into_iter().flat_map(|it| it.must.iter().chain(&it.should));
        let of_rule = |rule: &ContractRule| match &rule.check {
            Check::CountedBy(counted) if body.path(&counted.by) == field => {
                Some(ItemCount::of_rule(&rule.field, counted))
            }
            Check::Present
            | Check::Kind(_)
            | Check::OneOf(_)
            | Check::NoneOf(_)
            | Check::AtLeast(_)
            | Check::AtMost(_)
            | Check::Absent
            | Check::SameAs(_)
            | Check::CountedBy(_) => None,
        };
        let mut counts: Vec<ItemCount> = rules().filter_map(of_rule).collect();
        for (list, severity) in counted_lists(relative(body, field)) {
            let is_named = || rules().any(|rule| rule.spellings().any(|it| it == list));
            let is_list = body.fields().at(list).is_some_and(|it| it.kind() != NodeKind::Text);
            let only = severity.map(|it| ("severity".to_owned(), it.to_owned()));
            let count = ItemCount { list: list.to_owned(), only };
            if (is_list || is_named()) && !counts.contains(&count) {
                counts.push(count);
            }
        }
        counts
    }

    /// The greatest value that the contract and the linter allow for the number at a path.
    pub(super) fn most_at(&self, body: &Body<'_>, field: &str) -> Option<u32> {
        let mut narrowed = Narrowed::default();
        for rule in self.rules(body, field) {
            narrowed.add(&rule.check);
        }
        let (_, most) = bounds(relative(body, field));
        narrowed.most.into_iter().chain(most).min()
    }

    /// A number at a path, with everything that limits it.
    pub(super) fn number_at(&self, body: &Body<'_>, field: &str) -> Wanted {
        let counts = self.counts(body, field);
        let address = number_in_address(body, relative(body, field));
        if let Some(number) = address.and_then(|(_, number)| number).filter(|it| *it > 0) {
            return Wanted::Number { least: Some(number), most: Some(number), counts };
        }
        let (least, _) = bounds(relative(body, field));
        Wanted::Number { least, most: self.most_at(body, field), counts }
    }
}

/// What the rules of one field leave over.
#[derive(Default)]
struct Narrowed {
    kind: Option<ValueKind>,
    words: Option<Vec<String>>,
    not: Vec<String>,
    least: usize,
    most: Option<u32>,
    is_absent: bool,
    same_as: Option<String>,
}

impl Narrowed {
    fn add(&mut self, check: &Check) {
        match check {
            Check::Present | Check::CountedBy(_) => {}
            Check::Kind(kind) => self.kind = Some(*kind),
            Check::OneOf(words) => {
                let is_left = |it: &&String| self.words.as_ref().is_none_or(|all| all.contains(it));
                self.words = Some(words.iter().filter(is_left).cloned().collect());
            }
            Check::NoneOf(words) => self.not.extend(words.iter().cloned()),
            Check::AtLeast(least) => {
                self.kind = Some(ValueKind::List);
                self.least = self.least.max(*least);
            }
            Check::AtMost(most) => {
                self.kind = Some(ValueKind::Number);
                self.most = Some(self.most.map_or(*most, |it| it.min(*most)));
            }
            Check::Absent => self.is_absent = true,
            Check::SameAs(path) => self.same_as = Some(path.clone()),
        }
    }
}

/// The value that is left where `true` or `false` is refused.
fn truth(not: &[String]) -> Option<Wanted> {
    let is_refused = |word: &str| not.iter().any(|it| it == word);
    match (is_refused("true"), is_refused("false")) {
        (false, true) => Some(Wanted::Literal(Node::Bool(true))),
        (true, false) => Some(Wanted::Literal(Node::Bool(false))),
        (true, true) | (false, false) => None,
    }
}

/// What a field of this nature is where no rule says it.
fn usual_kind(nature: FieldNature) -> Option<ValueKind> {
    match nature {
        FieldNature::Artifacts
        | FieldNature::Files
        | FieldNature::Questions
        | FieldNature::Decisions
        | FieldNature::Ranges => Some(ValueKind::List),
        FieldNature::Summary
        | FieldNature::Context
        | FieldNature::Measured
        | FieldNature::Reason
        | FieldNature::Time
        | FieldNature::Plain => None,
    }
}

pub(super) fn text_kind(nature: FieldNature) -> TextKind {
    match nature {
        FieldNature::Summary => TextKind::Summary,
        FieldNature::Context => TextKind::Specific,
        FieldNature::Measured => TextKind::Measurable,
        FieldNature::Artifacts
        | FieldNature::Files
        | FieldNature::Questions
        | FieldNature::Decisions
        | FieldNature::Ranges
        | FieldNature::Reason
        | FieldNature::Time
        | FieldNature::Plain => TextKind::Any,
    }
}

/// The part of a mark for the part of a value.
fn descend(mark: FieldMark, path: &[PathStep]) -> Option<FieldMark> {
    let Some((step, rest)) = path.split_first() else { return Some(mark) };
    let part = match (mark.wanted, step) {
        (Wanted::Items(_, each), PathStep::Item(_)) => *each,
        (Wanted::Members(members), PathStep::Key(key)) => {
            let key = key.trim_start_matches('@');
            members.into_iter().find(|(it, _)| it == key).map(|(_, it)| it)?
        }
        _ => return None,
    };
    descend(part, rest)
}

/// Every rule's own words, once.
fn abouts(rules: &[&ContractRule]) -> String {
    let mut abouts: Vec<&str> = Vec::new();
    // What a field is comes before what it must not be.
    let is_limit = |it: &&&ContractRule| matches!(it.check, Check::NoneOf(_) | Check::AtMost(_));
    let (limits, kinds): (Vec<&&ContractRule>, Vec<&&ContractRule>) =
        rules.iter().partition(is_limit);
    for rule in kinds.into_iter().chain(limits) {
        if !abouts.contains(&rule.about.as_str()) {
            abouts.push(&rule.about);
        }
    }
    abouts.join("; ")
}

pub(super) fn dotted(path: &[PathStep]) -> String {
    let keys = path.iter().filter_map(|it| match it {
        PathStep::Key(key) => Some(key.as_str()),
        PathStep::Item(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

pub(super) fn last_key(path: &[PathStep]) -> &str {
    let keys = path.iter().rev().filter_map(|it| match it {
        PathStep::Key(key) => Some(key.as_str()),
        PathStep::Item(_) => None,
    });
    // The sender chose it, so a mark shows it only if it is a plain name.
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    keys.map(|it| it.trim_start_matches(['@', '#']))
        .next()
        .filter(|it| !it.is_empty() && it.len() <= 40 && it.chars().all(is_plain))
        .unwrap_or("this field")
}

/// A path as it is counted from the fields of a document.
pub(super) fn relative<'a>(body: &Body<'_>, path: &'a str) -> &'a str {
    let inside = body.inside.and_then(|(root, _)| path.strip_prefix(root)?.strip_prefix('.'));
    inside.unwrap_or(path)
}

//! The `gate` of an edge: what must be decided before the work continues along it.

use baton_core::evidence::MOST_CHECKS;
use baton_core::gate::GateKind;
use baton_core::names::CheckName;
use baton_core::workflow::EdgeGate;

use super::approvers::approvers;
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::located::LocatedValue;

pub(crate) const KEYS: &[&str] =
    &["type", "name", "items", "options", "checks", "approvers", "remind_after"];
/// The answers of a declared gate, except ending the run.
pub(crate) const OPTION_KEYS: &[&str] = &["approve", "reject", "question", "modify"];
/// Each kind has one name; two have a common alias.
pub(crate) const KINDS: &[(&str, GateKind)] = &[
    ("blocking", GateKind::Blocking),
    ("advisory", GateKind::Advisory),
    ("informative", GateKind::Advisory),
    ("automatic", GateKind::Automatic),
    ("auto", GateKind::Automatic),
];

/// More than a person reviews with care.
const MOST_ITEMS: usize = 50;

/// One word, or a map with details. `name` is the gate's default name. `None` where it could not be
/// read, which is reported already.
pub(super) fn gate(name: String, field: &FieldAt<'_>, problems: &mut Problems) -> Option<EdgeGate> {
    if field.node.scalar_text().is_some() {
        let kind = field.choice(KINDS, problems)?;
        return Some(EdgeGate::plain(kind, name));
    }
    let fields = Fields::open(field, KEYS, problems)?;
    let kind = fields.required("type", problems).and_then(|it| it.choice(KINDS, problems));
    let own_name = fields.get("name").and_then(|it| it.line(problems));
    let items = fields.get("items").map(|it| items(&it, problems)).unwrap_or_default();
    let options = fields.get("options").map(|it| options(&it, problems)).unwrap_or_default();
    let checks = match fields.get("checks") {
        Some(it) => checks(&it, problems)?,
        None => Vec::new(),
    };
    let approvers = match fields.get("approvers") {
        Some(it) => approvers(&it, problems).map(Some),
        None => Some(None),
    };
    let remind_after = fields.get("remind_after").and_then(|it| it.duration(problems));
    let name = own_name.unwrap_or(name);
    Some(EdgeGate {
        kind: kind?,
        name,
        items,
        options,
        checks,
        approvers: approvers?,
        remind_after,
    })
}

fn items(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<String> {
    let items = at_most(MOST_ITEMS, "items", field, problems);
    items.iter().filter_map(|it| it.line(problems)).collect()
}

fn options(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let Some(fields) = Fields::open(field, OPTION_KEYS, problems) else { return Vec::new() };
    let option = |key: &&str| {
        let text = fields.get(key)?.line(problems)?;
        Some(((*key).to_owned(), text))
    };
    OPTION_KEYS.iter().filter_map(option).collect()
}

/// `None` where one could not be read: reporting the others as too few would mislead.
pub(super) fn checks(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<CheckName>> {
    let items = at_most(MOST_CHECKS, "checks", field, problems);
    let mut checks = Vec::new();
    for item in &items {
        let Some(check) = item.parsed(CheckName::parse, problems) else { continue };
        if checks.contains(&check) {
            item.problem("twice", format!("says `{check}` twice"), problems);
        }
        checks.push(check);
    }
    let is_list = matches!(field.node.value, LocatedValue::List(_));
    (is_list && checks.len() == items.len()).then_some(checks)
}

fn at_most<'a>(
    most: usize,
    what: &str,
    field: &FieldAt<'a>,
    problems: &mut Problems,
) -> Vec<FieldAt<'a>> {
    let mut items = field.list(problems);
    if items.len() > most {
        let message = format!("has {} {what}; the most is {most}", items.len());
        field.problem("too_many", message, problems);
        items.truncate(most);
    }
    items
}

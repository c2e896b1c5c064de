//! The `approvers` of a gate, and what a package may say that raises an edge to a blocking gate.

use baton_core::approval::Approvers;
use baton_core::names::Principal;
use baton_core::workflow::{RaiseCondition, RaiseKind, RaiseRule};

use super::edges::number;
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::located::LocatedValue;

pub(crate) const KEYS: &[&str] = &["need", "of", "author_may_approve"];
pub(crate) const RAISE_KEYS: &[&str] =
    &["cost", "days", "risk", "breaking_change", "security", "migration"];
pub(crate) const OVER_KEYS: &[&str] = &["over", "field"];
pub(crate) const ANY_OF_KEYS: &[&str] = &["any_of", "field"];
pub(crate) const STATED_KEYS: &[&str] = &["field"];

/// `None` where it could not be read, which is reported already.
pub(super) fn approvers(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Approvers> {
    let fields = Fields::open(field, KEYS, problems)?;
    let most = Approvers::MOST;
    let need = fields.get("need").map(|it| it.whole_number(1..=most as i64, problems));
    let of = fields.get("of").map(|it| people(&it, problems));
    let may = fields.get("author_may_approve").and_then(|it| it.bool(problems));
    let need = need.map_or(Some(1), |it| it.and_then(|it| u32::try_from(it).ok()));
    let of = of.unwrap_or_else(|| Some(Vec::new()));
    Some(Approvers { need: need?, of: of?, author_may_approve: may.unwrap_or(false) })
}

fn people(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<Principal>> {
    let (items, most) = (field.list(problems), Approvers::MOST);
    if items.len() > most {
        let message = format!("has {} people; the most is {most}", items.len());
        field.problem("too_many", message, problems);
        return None;
    }
    if items.is_empty() {
        if field.is_list() {
            let message = "names nobody; name the people who may approve, or leave `of` out: then any \
                           person may";
            field.problem("no_approvers", message, problems);
        }
        return None;
    }
    let people: Vec<Principal> =
        items.iter().filter_map(|it| it.parsed(Principal::typed, problems)).collect();
    (people.len() == items.len()).then_some(people)
}

/// The rules, without those that could not be read and those that are switched off.
pub(super) fn raise(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<RaiseRule> {
    let Some(fields) = Fields::open(field, RAISE_KEYS, problems) else { return Vec::new() };
    let rule = |kind: RaiseKind| {
        let field = fields.get(kind.name())?;
        let is_map = matches!(field.node.value, LocatedValue::Map(_));
        match kind {
            RaiseKind::Cost | RaiseKind::Days if is_map => over(kind, &field, problems),
            RaiseKind::Cost | RaiseKind::Days => {
                let when = RaiseCondition::Over(number(&field, problems)?);
                Some(RaiseRule { kind, field: None, when })
            }
            RaiseKind::Risk if is_map => any_of(kind, &field, problems),
            RaiseKind::Risk => {
                let when = RaiseCondition::AnyOf(levels(&field, problems)?);
                Some(RaiseRule { kind, field: None, when })
            }
            RaiseKind::BreakingChange | RaiseKind::Security | RaiseKind::Migration => {
                stated(kind, &field, is_map, problems)
            }
        }
    };
    RaiseKind::ALL.into_iter().filter_map(rule).collect()
}

fn over(kind: RaiseKind, field: &FieldAt<'_>, problems: &mut Problems) -> Option<RaiseRule> {
    let fields = Fields::open(field, OVER_KEYS, problems)?;
    let limit = fields.required("over", problems).and_then(|it| number(&it, problems));
    let field = fields.get("field").and_then(|it| it.line(problems));
    Some(RaiseRule { kind, field, when: RaiseCondition::Over(limit?) })
}

fn any_of(kind: RaiseKind, field: &FieldAt<'_>, problems: &mut Problems) -> Option<RaiseRule> {
    let fields = Fields::open(field, ANY_OF_KEYS, problems)?;
    let levels = fields.required("any_of", problems).and_then(|it| levels(&it, problems));
    let field = fields.get("field").and_then(|it| it.line(problems));
    Some(RaiseRule { kind, field, when: RaiseCondition::AnyOf(levels?) })
}

fn stated(
    kind: RaiseKind,
    field: &FieldAt<'_>,
    is_map: bool,
    problems: &mut Problems,
) -> Option<RaiseRule> {
    let named = match is_map {
        true => Fields::open(field, STATED_KEYS, problems)?.get("field")?.line(problems),
        false => {
            let is_on = field.bool(problems)?;
            return is_on.then_some(RaiseRule { kind, field: None, when: RaiseCondition::Stated });
        }
    };
    Some(RaiseRule { kind, field: named, when: RaiseCondition::Stated })
}

/// A word, or a list of them.
fn levels(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let items = field.items();
    let levels: Vec<String> = items.iter().filter_map(|it| it.line(problems)).collect();
    if items.is_empty() {
        field.problem("no_level", "names no level of risk, such as `high`", problems);
    }
    (!levels.is_empty()).then_some(levels)
}

//! The `contracts` of a workflow file.

use baton_core::contract::{Check, Contract, Rule, ValueKind, When};

use crate::fields::{Field, Fields};
use crate::file_problem::Problems;
use crate::shown::shown;

pub(crate) const KEYS: &[&str] = &["must", "should"];
pub(crate) const RULE_KEYS: &[&str] =
    &["field", "any", "about", "type", "one_of", "none_of", "when"];
pub(crate) const WHEN_KEYS: &[&str] = &["field", "is"];
pub(crate) const KINDS: &[(&str, ValueKind)] = &[
    ("text", ValueKind::Text),
    ("number", ValueKind::Number),
    ("bool", ValueKind::Bool),
    ("list", ValueKind::List),
    ("map", ValueKind::Map),
];

const MOST_CONTRACTS: usize = 100;

/// Every contract that has a name; a rule that cannot be read is a problem and left out.
pub(super) fn contracts(field: &Field<'_>, problems: &mut Problems) -> Vec<Contract> {
    let entries = field.entries(problems);
    if entries.len() > MOST_CONTRACTS {
        let message = format!("has {} contracts; the most is {MOST_CONTRACTS}", entries.len());
        field.problem("too_many", message, problems);
    }
    entries
        .into_iter()
        .take(MOST_CONTRACTS)
        .map(|(member, field)| {
            if !is_name(&member.key) {
                let message = format!(
                    "`{}` is not a contract name: use letters, digits, `-` and `_`",
                    shown(&member.key)
                );
                problems.add(member.key_at, field.path.clone(), "bad_name", message);
            }
            let fields = Fields::open(&field, KEYS, problems);
            let mut rules_of = |key: &str| {
                let list = fields.as_ref().and_then(|it| it.get(key));
                list.map(|it| rules(&it, problems)).unwrap_or_default()
            };
            Contract {
                name: member.key.clone(),
                must: rules_of("must"),
                should: rules_of("should"),
            }
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_allowed)
}

fn rules(field: &Field<'_>, problems: &mut Problems) -> Vec<Rule> {
    field.list(problems).iter().filter_map(|it| rule(it, problems)).collect()
}

fn rule(field: &Field<'_>, problems: &mut Problems) -> Option<Rule> {
    let map = Fields::open(field, RULE_KEYS, problems)?;
    let fields = rule_fields(&map, problems);
    let about = map.required("about", problems).and_then(|it| it.line(problems));
    let check = check(&map, problems);
    let when = match map.get("when") {
        Some(it) => Some(when(&it, problems)?),
        None => None,
    };
    let mut fields = fields?.into_iter();
    let (field, others) = (fields.next()?, fields.collect());
    Some(Rule { field, others, about: about?, check: check?, when })
}

fn rule_fields(map: &Fields<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let Some(field) = map.one_of(&["field", "any"], problems) else {
        let path = format!("{}.field", map.path());
        let message = "is missing: name one with `field`, or several with `any`";
        problems.add(map.at(), path, "missing", message);
        return None;
    };
    if map.get("field").is_some() {
        return Some(vec![path(&field, problems)?]);
    }
    let items = field.list(problems);
    let paths: Vec<String> = items.iter().filter_map(|it| path(it, problems)).collect();
    if items.is_empty() {
        field.problem("no_field", "names no field", problems);
    }
    // A rule without a field has nothing to look at.
    (!paths.is_empty() && paths.len() == items.len()).then_some(paths)
}

/// A dotted path such as `context.summary`.
fn path(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let path = field.line(problems)?;
    if path.split('.').any(|it| it.trim().is_empty()) {
        let message = format!("`{}` is not a path such as `context.summary`", shown(&path));
        field.problem("bad_path", message, problems);
        return None;
    }
    Some(path)
}

fn check(map: &Fields<'_>, problems: &mut Problems) -> Option<Check> {
    map.one_of(&["type", "one_of", "none_of"], problems);
    if let Some(field) = map.get("type") {
        return field.choice(KINDS, problems).map(Check::Kind);
    }
    if let Some(field) = map.get("one_of") {
        return scalars(&field, problems).map(Check::OneOf);
    }
    if let Some(field) = map.get("none_of") {
        return scalars(&field, problems).map(Check::NoneOf);
    }
    Some(Check::Present)
}

fn scalars(field: &Field<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let items = field.list(problems);
    let words: Vec<String> =
        items.iter().filter_map(|it| it.scalar(problems)).map(str::to_owned).collect();
    if items.is_empty() {
        field.problem("no_value", "names no value", problems);
    }
    (!words.is_empty() && words.len() == items.len()).then_some(words)
}

fn when(field: &Field<'_>, problems: &mut Problems) -> Option<When> {
    let map = Fields::open(field, WHEN_KEYS, problems)?;
    let field = map.required("field", problems).and_then(|it| path(&it, problems));
    let is = map.required("is", problems).and_then(|it| it.scalar(problems));
    Some(When { field: field?, is: is?.to_owned() })
}

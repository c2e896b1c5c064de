//! The `contracts` of a workflow file.

use baton_core::contract::{Check, Contract, ContractRule, Counted, ValueKind, When, WhenTest};

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::shown::shown;

pub(crate) const KEYS: &[&str] = &["must", "should"];
pub(crate) const RULE_KEYS: &[&str] = &[
    "field",
    "any",
    "about",
    "type",
    "one_of",
    "none_of",
    "at_least",
    "at_most",
    "absent",
    "same_as",
    "counted_by",
    "only",
    "when",
];
/// A rule has one of these, or none: then the field must be present.
const CHECK_KEYS: &[&str] =
    &["type", "one_of", "none_of", "at_least", "at_most", "absent", "same_as", "counted_by"];
pub(crate) const WHEN_KEYS: &[&str] = &["field", "any", "is", "is_not", "there"];
pub(crate) const ONLY_KEYS: &[&str] = &["field", "is"];
pub(crate) const KINDS: &[(&str, ValueKind)] = &[
    ("text", ValueKind::Text),
    ("number", ValueKind::Number),
    ("bool", ValueKind::Bool),
    ("list", ValueKind::List),
    ("map", ValueKind::Map),
];

const MOST_CONTRACTS: usize = 100;

/// Every named contract; an unreadable rule is a problem and left out.
pub(super) fn contracts(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<Contract> {
    named(field, is_name, problems)
}

/// As [`contracts`], for names from a file of another kind.
pub(crate) fn named(
    field: &FieldAt<'_>,
    is_name: impl Fn(&str) -> bool,
    problems: &mut Problems,
) -> Vec<Contract> {
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

fn rules(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<ContractRule> {
    field.list(problems).iter().filter_map(|it| rule(it, problems)).collect()
}

fn rule(field: &FieldAt<'_>, problems: &mut Problems) -> Option<ContractRule> {
    let map = Fields::open(field, RULE_KEYS, problems)?;
    let fields = rule_fields(&map, problems);
    let about = map.required("about", problems).and_then(|it| it.line(problems));
    let check = check(&map, problems);
    let when = match map.get("when") {
        Some(it) => cases(&it, problems)?,
        None => Vec::new(),
    };
    let mut fields = fields?.into_iter();
    let (field, others) = (fields.next()?, fields.collect());
    Some(ContractRule { field, others, about: about?, check: check?, when })
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
    // A rule without a field has nothing to check.
    (!paths.is_empty() && paths.len() == items.len()).then_some(paths)
}

/// A dotted path such as `context.summary`.
fn path(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let path = field.line(problems)?;
    if path.split('.').any(|it| it.trim().is_empty()) {
        let message = format!("`{}` is not a path such as `context.summary`", shown(&path));
        field.problem("bad_path", message, problems);
        return None;
    }
    Some(path)
}

fn check(map: &Fields<'_>, problems: &mut Problems) -> Option<Check> {
    let Some(field) = map.one_of(CHECK_KEYS, problems) else {
        return useless_only(map, problems).then_some(Check::Present);
    };
    let has = |key: &str| map.get(key).is_some();
    if has("counted_by") {
        let only = match map.get("only") {
            Some(it) => Some(only(&it, problems)?),
            None => None,
        };
        return path(&field, problems).map(|by| Check::CountedBy(Counted { by, only }));
    }
    if !useless_only(map, problems) {
        return None;
    }
    if has("type") {
        field.choice(KINDS, problems).map(Check::Kind)
    } else if has("one_of") {
        scalars(&field, problems).map(Check::OneOf)
    } else if has("none_of") {
        scalars(&field, problems).map(Check::NoneOf)
    } else if has("at_least") {
        let least = field.whole_number(1..=100, problems)?;
        usize::try_from(least).ok().map(Check::AtLeast)
    } else if has("at_most") {
        let most = field.whole_number(0..=1_000_000, problems)?;
        u32::try_from(most).ok().map(Check::AtMost)
    } else if has("same_as") {
        path(&field, problems).map(Check::SameAs)
    } else {
        only_true(&field, problems).map(|()| Check::Absent)
    }
}

fn scalars(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let items = field.list(problems);
    let words: Vec<String> =
        items.iter().filter_map(|it| it.scalar(problems)).map(str::to_owned).collect();
    if items.is_empty() {
        field.problem("no_value", "names no value", problems);
    }
    (!words.is_empty() && words.len() == items.len()).then_some(words)
}

/// `absent: false` would have no meaning.
fn only_true(field: &FieldAt<'_>, problems: &mut Problems) -> Option<()> {
    if field.bool(problems)? {
        return Some(());
    }
    field.problem("wrong_value", "can only be `true`; leave it out otherwise", problems);
    None
}

/// Returns whether `only` is missing: it needs `counted_by` beside it.
fn useless_only(map: &Fields<'_>, problems: &mut Problems) -> bool {
    let only = map.get("only");
    if let Some(field) = &only {
        field.problem("useless_only", "needs `counted_by` beside it", problems);
    }
    only.is_none()
}

/// Which items of a list are counted.
fn only(field: &FieldAt<'_>, problems: &mut Problems) -> Option<(String, String)> {
    let map = Fields::open(field, ONLY_KEYS, problems)?;
    let field = map.required("field", problems).and_then(|it| path(&it, problems));
    let is = map.required("is", problems).and_then(|it| it.scalar(problems));
    Some((field?, is?.to_owned()))
}

/// One case, or a list of cases that all have to hold.
fn cases(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<When>> {
    let items = field.items();
    let cases: Vec<When> = items.iter().filter_map(|it| when(it, problems)).collect();
    (cases.len() == items.len()).then_some(cases)
}

fn when(field: &FieldAt<'_>, problems: &mut Problems) -> Option<When> {
    let map = Fields::open(field, WHEN_KEYS, problems)?;
    let fields = rule_fields(&map, problems);
    let Some(test) = map.one_of(&["is", "is_not", "there"], problems) else {
        let path = format!("{}.is", map.path());
        problems.add(map.at(), path, "missing", "is missing: say `is`, `is_not` or `there`");
        return None;
    };
    let test = if map.get("is").is_some() {
        words(&test, problems).map(WhenTest::Is)
    } else if map.get("is_not").is_some() {
        words(&test, problems).map(WhenTest::IsNot)
    } else {
        test.bool(problems).map(|it| if it { WhenTest::Present } else { WhenTest::Absent })
    };
    let mut fields = fields?.into_iter();
    Some(When { field: fields.next()?, others: fields.collect(), test: test? })
}

/// One word, or a list of them.
fn words(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    if field.node.scalar_text().is_some() {
        return field.scalar(problems).map(|it| vec![it.to_owned()]);
    }
    scalars(field, problems)
}

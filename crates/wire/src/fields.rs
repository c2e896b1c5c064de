//! Reads the keys of a located map: an unknown, missing or mistyped key becomes a problem with its
//! path and position, and reading continues.

use baton_core::budget::Budget;
use baton_core::invisible::is_formatting;
use jiff::SignedDuration;

use crate::file_problem::Problems;
use crate::located::{Located, LocatedValue, Member};
use crate::position::TextPosition;
use crate::shown::shown;
use crate::suggest::did_you_mean;

const MOST_LINE_CHARS: usize = 200;
const MOST_PROSE_CHARS: usize = 10_000;
const MOST_DURATION: SignedDuration = SignedDuration::from_hours(365 * 24);

/// A map whose keys are all known ones.
pub(crate) struct Fields<'a> {
    path: String,
    at: TextPosition,
    members: &'a [Member],
}

/// A value with its path.
#[derive(Clone)]
pub(crate) struct FieldAt<'a> {
    pub(crate) path: String,
    pub(crate) node: &'a Located,
}

impl<'a> Fields<'a> {
    /// Opens the map at `field`; every key that is not `known` is a problem.
    pub(crate) fn open(
        field: &FieldAt<'a>,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let members = field.members(problems)?;
        for member in members.iter().filter(|it| !known.contains(&it.key.as_str())) {
            if problems.is_full() {
                break;
            }
            let hint = if is_rest_of_text(member, members) {
                "text with a comma needs quotes around it in `{ ... }`".to_owned()
            } else {
                did_you_mean(&member.key, known)
            };
            let message = format!("is not a key here; {hint}");
            problems.add(member.key_at, join(&field.path, &member.key), "unknown_key", message);
        }
        Some(Self { path: field.path.clone(), at: field.node.at, members })
    }

    /// The value of `key`, if it is there and not empty.
    pub(crate) fn get(&self, key: &str) -> Option<FieldAt<'a>> {
        let member = self.members.iter().find(|it| it.key == key)?;
        let field = FieldAt { path: join(&self.path, key), node: &member.value };
        (member.value.value != LocatedValue::Null).then_some(field)
    }

    pub(crate) fn required(&self, key: &str, problems: &mut Problems) -> Option<FieldAt<'a>> {
        let field = self.get(key);
        if field.is_none() {
            let written = self.members.iter().find(|it| it.key == key);
            let at = written.map_or(self.at, |it| it.key_at);
            problems.add(at, join(&self.path, key), "missing", "is missing");
        }
        field
    }

    /// At most one of `keys`; two at once are a problem, reported at the second.
    pub(crate) fn one_of(&self, keys: &[&str], problems: &mut Problems) -> Option<FieldAt<'a>> {
        let mut found = keys.iter().filter_map(|it| self.get(it));
        let first = found.next()?;
        if let Some(second) = found.next() {
            let message = format!("cannot stand beside `{}`", first.key());
            problems.add(second.node.at, second.path, "not_both", message);
        }
        Some(first)
    }

    /// Every key that is written, known or not.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a Member> + use<'a> {
        self.members.iter()
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn at(&self) -> TextPosition {
        self.at
    }
}

impl<'a> FieldAt<'a> {
    /// The whole file.
    pub(crate) fn root(node: &'a Located) -> Self {
        Self { path: String::new(), node }
    }

    pub(crate) fn problem(&self, rule: &str, message: impl Into<String>, problems: &mut Problems) {
        problems.add(self.node.at, self.path.clone(), rule, message);
    }

    /// The members of a map, whatever their keys are.
    pub(crate) fn members(&self, problems: &mut Problems) -> Option<&'a [Member]> {
        let LocatedValue::Map(members) = &self.node.value else {
            return self.wrong_kind("a map", problems);
        };
        Some(members)
    }

    /// The members of a map as fields, with the place of each key; empty ones too.
    pub(crate) fn entries(&self, problems: &mut Problems) -> Vec<(&'a Member, Self)> {
        let entry =
            |it: &'a Member| (it, FieldAt { path: join(&self.path, &it.key), node: &it.value });
        self.members(problems).unwrap_or_default().iter().map(entry).collect()
    }

    /// The items of a list. A single value counts as a list of one.
    pub(crate) fn items(&self) -> Vec<Self> {
        let LocatedValue::List(items) = &self.node.value else { return vec![self.clone()] };
        let path = |index: usize| format!("{}[{index}]", self.path);
        items.iter().enumerate().map(|(index, node)| Self { path: path(index), node }).collect()
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.value, LocatedValue::List(_))
    }

    /// The items of a required list.
    pub(crate) fn list(&self, problems: &mut Problems) -> Vec<Self> {
        if let LocatedValue::List(_) = self.node.value {
            return self.items();
        }
        self.wrong_kind("a list", problems).unwrap_or_default()
    }

    /// Any scalar, as it was written.
    pub(crate) fn scalar(&self, problems: &mut Problems) -> Option<&'a str> {
        self.node.scalar_text().or_else(|| self.wrong_kind("text", problems))
    }

    /// One line of visible text.
    pub(crate) fn line(&self, problems: &mut Problems) -> Option<String> {
        let text = self.scalar(problems)?.trim();
        if text.is_empty() {
            self.problem("blank", "is blank", problems);
            return None;
        }
        if let Some(it) = text.chars().find(|it| is_formatting(*it)) {
            let message = format!("holds the invisible character U+{:04X}", it as u32);
            self.problem("invisible", message, problems);
            return None;
        }
        self.within(MOST_LINE_CHARS, text, problems)
    }

    /// Text of any number of lines, trimmed.
    pub(crate) fn prose(&self, problems: &mut Problems) -> Option<String> {
        let text = self.scalar(problems)?.trim();
        self.within(MOST_PROSE_CHARS, text, problems)
    }

    fn within(&self, most: usize, text: &str, problems: &mut Problems) -> Option<String> {
        let n_chars = text.chars().count();
        if n_chars > most {
            let message = format!("has {n_chars} characters; the most is {most}");
            self.problem("too_long", message, problems);
            return None;
        }
        Some(text.to_owned())
    }

    /// Lines from a list, or from one text with commas.
    pub(crate) fn words(&self, problems: &mut Problems) -> Vec<String> {
        if let LocatedValue::Text(text) = &self.node.value {
            let words = text.split(',').map(str::trim).filter(|it| !it.is_empty());
            return words.map(str::to_owned).collect();
        }
        if let LocatedValue::List(_) = self.node.value {
            return self.items().iter().filter_map(|it| it.line(problems)).collect();
        }
        self.wrong_kind("a list or text with commas", problems).unwrap_or_default()
    }

    /// A validated name, with the name's own error message.
    pub(crate) fn parsed<T, E: std::fmt::Display>(
        &self,
        parse: impl Fn(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        if let LocatedValue::Bool(_) = self.node.value {
            return self.wrong_kind("a name; put it in quotes if it is one", problems);
        }
        match parse(self.scalar(problems)?) {
            Ok(name) => Some(name),
            Err(error) => {
                self.problem("bad_name", error.to_string(), problems);
                None
            }
        }
    }

    pub(crate) fn bool(&self, problems: &mut Problems) -> Option<bool> {
        let LocatedValue::Bool(it) = self.node.value else {
            return self.wrong_kind("`true` or `false`", problems);
        };
        Some(it)
    }

    pub(crate) fn whole_number(
        &self,
        range: std::ops::RangeInclusive<i64>,
        problems: &mut Problems,
    ) -> Option<i64> {
        if let LocatedValue::Number(number) = &self.node.value
            && let Ok(number) = number.as_str().parse()
            && range.contains(&number)
        {
            return Some(number);
        }
        let message = format!("must be a whole number from {} to {}", range.start(), range.end());
        self.problem("wrong_number", message, problems);
        None
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &self,
        choices: &[(&str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let word = self.scalar(problems)?;
        let choice = choices.iter().find(|(it, _)| *it == word).map(|(_, choice)| *choice);
        if choice.is_none() {
            let words: Vec<&str> = choices.iter().map(|(it, _)| *it).collect();
            let message = format!("cannot be `{}`; {}", shown(word), did_you_mean(word, &words));
            self.problem("wrong_value", message, problems);
        }
        choice
    }

    /// What may be used of money, tokens and time.
    pub(crate) fn budget(&self, problems: &mut Problems) -> Option<Budget> {
        match Budget::parse(self.scalar(problems)?) {
            Ok(budget) => Some(budget),
            Err(error) => {
                self.problem("wrong_budget", error.to_string(), problems);
                None
            }
        }
    }

    /// A time span such as `30m`, `2h` or `90s`.
    pub(crate) fn duration(&self, problems: &mut Problems) -> Option<SignedDuration> {
        let duration = self.scalar(problems)?.parse::<SignedDuration>().ok();
        let duration = duration.filter(|it| it.is_positive() && *it <= MOST_DURATION);
        if duration.is_none() {
            let message = "must be a time span of at most a year, such as `30m`, `2h` or `90s`";
            self.problem("wrong_duration", message, problems);
        }
        duration
    }

    fn wrong_kind<T>(&self, expected: &str, problems: &mut Problems) -> Option<T> {
        let message = format!("is {}, not {expected}", self.node.kind());
        self.problem("wrong_type", message, problems);
        None
    }

    fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// In `{ about: one, two }` the text ends at the comma, and what follows is read as a key without a
/// value.
fn is_rest_of_text(member: &Member, members: &[Member]) -> bool {
    let is_before = |it: &&Member| {
        it.key_at.line == member.key_at.line && it.key_at.column < member.key_at.column
    };
    let before = members.iter().rfind(is_before);
    member.value.value == LocatedValue::Null
        && before.is_some_and(|it| matches!(it.value.value, LocatedValue::Text(_)))
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { shown(key) } else { format!("{path}.{}", shown(key)) }
}

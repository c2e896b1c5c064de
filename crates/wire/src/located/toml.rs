//! TOML, for the one file a person writes by hand: `baton.toml`.

use ::toml::de::{DeTable, DeValue};
use baton_core::document::Number;

use super::{Located, LocatedValue, Member};
use crate::file_problem::Problems;
use crate::position::TextPosition;

/// Reads a file of at most `most_bytes`, with every syntax problem it has. Keep the limit small:
/// the position of every byte is computed beforehand.
pub(crate) fn read(text: &str, most_bytes: usize, problems: &mut Problems) -> Option<Located> {
    if text.len() > most_bytes {
        let message = format!("the file has {} bytes; the most is {most_bytes}", text.len());
        problems.add(TextPosition::START, "", "too_large", message);
        return None;
    }
    let places = BytePositions::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(TextPosition::START, |it| places.at(it.start));
        let message = format!("is not TOML: {}", error.message().replace('\n', ", "));
        problems.add(at, "", "toml_syntax", message);
    }
    if !errors.is_empty() {
        return None;
    }
    let at = places.at(table.span().start);
    Some(located_table(&places, at, table.get_ref()))
}

/// The position of every byte of a text: the parser reports thousands of errors in any order.
struct BytePositions(Vec<TextPosition>);

impl BytePositions {
    fn of(text: &str) -> Self {
        let mut places = Vec::with_capacity(text.len() + 1);
        let mut at = TextPosition::START;
        for it in text.chars() {
            places.extend(std::iter::repeat_n(at, it.len_utf8()));
            at = match it {
                '\n' => TextPosition { line: at.line + 1, column: 1 },
                _ => TextPosition { line: at.line, column: at.column + 1 },
            };
        }
        places.push(at);
        Self(places)
    }

    fn at(&self, offset: usize) -> TextPosition {
        self.0.get(offset).or(self.0.last()).copied().unwrap_or(TextPosition::START)
    }
}

fn located_table(places: &BytePositions, at: TextPosition, table: &DeTable<'_>) -> Located {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(key, value)| {
            let value_at = places.at(value.span().start);
            Member {
                key: key.get_ref().to_string(),
                key_at: places.at(key.span().start),
                value: located(places, value_at, value.get_ref()),
            }
        })
        .collect();
    members.sort_by_key(|it| it.key_at);
    Located { at, value: LocatedValue::Map(members) }
}

/// The parser bounds the depth (80), so recursion is safe.
fn located(places: &BytePositions, at: TextPosition, value: &DeValue<'_>) -> Located {
    let value = match value {
        DeValue::String(it) => LocatedValue::Text(it.to_string()),
        DeValue::Boolean(it) => LocatedValue::Bool(*it),
        // TOML has more number notations than JSON; those keep their text.
        DeValue::Integer(it) => number(it.as_str()),
        DeValue::Float(it) => number(it.as_str()),
        DeValue::Datetime(it) => LocatedValue::Text(it.to_string()),
        DeValue::Array(items) => {
            let items =
                items.iter().map(|it| located(places, places.at(it.span().start), it.get_ref()));
            LocatedValue::List(items.collect())
        }
        DeValue::Table(table) => return located_table(places, at, table),
    };
    Located { at, value }
}

fn number(text: &str) -> LocatedValue {
    Number::parse(text).map_or_else(|| LocatedValue::Text(text.to_owned()), LocatedValue::Number)
}

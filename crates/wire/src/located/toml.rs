//! TOML, for the one file a person writes by hand: `baton.toml`.

use ::toml::de::{DeTable, DeValue};
use baton_core::document::Number;

use super::{Located, Member, Value};
use crate::file_problem::Problems;
use crate::position::Position;

/// Reads a file of at most `most_bytes`, with every syntax problem it has. Keep the bound small:
/// each place is found by walking the text before it.
pub(crate) fn read(text: &str, most_bytes: usize, problems: &mut Problems) -> Option<Located> {
    if text.len() > most_bytes {
        let message = format!("the file has {} bytes; the most is {most_bytes}", text.len());
        problems.add(Position::START, "", "too_large", message);
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(Position::START, |it| Position::of(text, it.start));
        let message = format!("is not TOML: {}", error.message().replace('\n', ", "));
        problems.add(at, "", "toml_syntax", message);
    }
    if !errors.is_empty() {
        return None;
    }
    let at = Position::of(text, table.span().start);
    Some(located_table(text, at, table.get_ref()))
}

fn located_table(text: &str, at: Position, table: &DeTable<'_>) -> Located {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(key, value)| {
            let value_at = Position::of(text, value.span().start);
            Member {
                key: key.get_ref().to_string(),
                key_at: Position::of(text, key.span().start),
                value: located(text, value_at, value.get_ref()),
            }
        })
        .collect();
    members.sort_by_key(|it| it.key_at);
    Located { at, value: Value::Map(members) }
}

/// The parser bounds the depth (80), so recursion is safe.
fn located(text: &str, at: Position, value: &DeValue<'_>) -> Located {
    let value = match value {
        DeValue::String(it) => Value::Text(it.to_string()),
        DeValue::Boolean(it) => Value::Bool(*it),
        // TOML has more ways to write a number than JSON; those stay as they were written.
        DeValue::Integer(it) => number(it.as_str()),
        DeValue::Float(it) => number(it.as_str()),
        DeValue::Datetime(it) => Value::Text(it.to_string()),
        DeValue::Array(items) => {
            let items = items
                .iter()
                .map(|it| located(text, Position::of(text, it.span().start), it.get_ref()));
            Value::List(items.collect())
        }
        DeValue::Table(table) => return located_table(text, at, table),
    };
    Located { at, value }
}

fn number(text: &str) -> Value {
    Number::parse(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number)
}

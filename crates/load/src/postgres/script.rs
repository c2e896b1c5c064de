//! A script for pgbench with the statements of one story, so that each execution is another story: its run,
//! its handoffs and its key are variables.

use std::fmt::Write as _;

use super::protocol::{SentStatement, SqlValue};

/// What differs from story to story, as it was in the captured one.
pub(super) struct StoryNames {
    pub(super) key: String,
    /// Of the run and of its handoffs.
    pub(super) ids: Vec<uuid::Uuid>,
    /// Each in the place of the captured one: `(:c0_numbers)[1]`.
    pub(super) numbers: Vec<(u64, String)>,
}

/// A variable is recognized by its colon, so no literal may have one.
const COLON: char = ':';

/// The whole script.
pub(super) fn script(statements: &[SentStatement], names: &StoryNames) -> String {
    let mut text = String::from("select 'story-' || gen_random_uuid() as story");
    for n in 0..names.ids.len() {
        let _ = write!(text, ", gen_random_uuid() as id{n}");
    }
    text.push_str(" \\gset\n");
    for (n, statement) in statements.iter().enumerate() {
        text.push_str(&inlined(statement, names));
        // An append returns one row, with the numbers that it gave.
        match is_append(statement) {
            true => _ = writeln!(text, " \\gset c{n}_"),
            false => text.push_str(";\n"),
        }
    }
    text
}

pub(super) fn is_append(statement: &SentStatement) -> bool {
    statement.sql.trim_start().starts_with("with ") && statement.sql.contains("insert into events")
}

/// The statement in one line, with its parameters in their places.
fn inlined(statement: &SentStatement, names: &StoryNames) -> String {
    let sql = statement.sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut rest = sql.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = after.split_at(n_digits);
        let value = digits.parse().ok().and_then(|it: usize| statement.params.get(it - 1));
        text.push_str(before);
        match value {
            Some(value) => text.push_str(&literal(value, names)),
            None => text.push('$'),
        }
        rest = after;
    }
    text + rest
}

fn literal(value: &SqlValue, names: &StoryNames) -> String {
    match value {
        SqlValue::Null(name) => format!("null::{name}"),
        SqlValue::Bool(value) => value.to_string(),
        SqlValue::Integer(name, number) => {
            let named = names.numbers.iter().find(|(it, _)| i64::try_from(*it) == Ok(*number));
            match named {
                Some((_, variable)) => variable.clone(),
                None => format!("({number})::{name}"),
            }
        }
        SqlValue::Bytes(bytes) => format!("'\\x{}'::bytea", hex(bytes)),
        SqlValue::Uuid(id) => match names.ids.iter().position(|it| it == id) {
            Some(n) => format!(":id{n}::uuid"),
            None => format!("'{id}'::uuid"),
        },
        SqlValue::Text(text) if *text == names.key => ":story::text".to_owned(),
        SqlValue::Text(text) if text.contains(COLON) => {
            format!("convert_from('\\x{}', 'UTF8')", hex(text.as_bytes()))
        }
        SqlValue::Text(text) => format!("'{}'::text", text.replace('\'', "''")),
        SqlValue::List(name, values) => {
            let values: Vec<String> = values.iter().map(|it| literal(it, names)).collect();
            format!("array[{}]::{name}", values.join(", "))
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, it| {
        let _ = write!(text, "{it:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_story_to_story_is_a_variable() {
        let id = uuid::Uuid::from_u128(7);
        let names = StoryNames {
            key: "s-1".to_owned(),
            ids: vec![id],
            numbers: vec![(7_000_001, "(:c0_numbers::bigint[])[1]".to_owned())],
        };
        let statement = SentStatement {
            sql: "select $1,\n  $2, $3, $4, $5, $10".to_owned(),
            params: vec![
                SqlValue::Uuid(id),
                SqlValue::Text("s-1".to_owned()),
                SqlValue::List("text[]", vec![SqlValue::Text("a:b".to_owned())]),
                SqlValue::Integer("bigint", 7_000_001),
                SqlValue::Null("bytea[]"),
            ],
        };
        let expected = "select 'story-' || gen_random_uuid() as story, gen_random_uuid() as id0 \\gset\n\
            select :id0::uuid, :story::text, array[convert_from('\\x613a62', 'UTF8')]::text[], \
            (:c0_numbers::bigint[])[1], null::bytea[], $;\n";
        assert_eq!(script(&[statement], &names), expected);
    }
}

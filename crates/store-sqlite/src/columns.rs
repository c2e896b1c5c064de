//! Converts between columns and values. Values are checked: other programs may have changed the
//! file.

use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_core::workflow::Place;
use baton_store::Order;
use baton_store::columns::parse_place;
pub(crate) use baton_store::columns::{
    integer, list_text, nanoseconds, nearest_nanoseconds, parse_list as list,
    parse_outcome as outcome, place_text,
};
use jiff::Timestamp;
use rusqlite::{Params, Row};
use uuid::Uuid;

use crate::error::unreadable;
use crate::statements::Statements;

/// Runs a statement that is prepared once per connection.
pub(crate) fn execute(
    statements: &impl Statements,
    sql: &'static str,
    params: impl Params,
) -> rusqlite::Result<()> {
    count_executed(statements, sql, params).map(|_| ())
}

/// As [`execute`]; returns how many rows it changed.
pub(crate) fn count_executed(
    statements: &impl Statements,
    sql: &'static str,
    params: impl Params,
) -> rusqlite::Result<usize> {
    statements.with(sql, |it| it.execute(params))
}

/// SQLite treats a negative limit as no limit.
pub(crate) fn limit(limit: u32) -> i64 {
    if limit == 0 { -1 } else { i64::from(limit) }
}

/// The condition that a row comes after number `?1`, and the sort direction.
pub(crate) fn after(order: Order, column: &str) -> (String, &'static str) {
    match order {
        Order::OldestFirst => (format!("{column} > ?1"), "asc"),
        // 0 is the start of the list, so every number comes after it.
        Order::NewestFirst => {
            (format!("{column} < case ?1 when 0 then {} else ?1 end", i64::MAX), "desc")
        }
    }
}

/// The condition that a row comes no later than number `param`; 0 means no bound.
pub(crate) fn until(order: Order, column: &str, param: &str, until: u64) -> String {
    match (until, order) {
        (0, Order::OldestFirst | Order::NewestFirst) => format!("{param} = 0"),
        (_, Order::OldestFirst) => format!("{column} <= {param}"),
        (_, Order::NewestFirst) => format!("{column} >= {param}"),
    }
}

pub(crate) fn place(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Place> {
    parsed(row, column, parse_place)
}

/// A text column, parsed by one of our own parsers.
pub(crate) fn parsed<T>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str().map_err(|_| unreadable(column))?;
    parse(text).ok_or_else(|| unreadable(column))
}

/// As [`parsed`], for a nullable column.
pub(crate) fn maybe_parsed<T>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(|_| unreadable(column))?;
    text.map(|it| parse(it).ok_or_else(|| unreadable(column))).transpose()
}

pub(crate) fn time(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Timestamp> {
    to_time(row.get(column)?, column)
}

pub(crate) fn maybe_time(
    row: &Row<'_>,
    column: &'static str,
) -> rusqlite::Result<Option<Timestamp>> {
    let nanoseconds: Option<i64> = row.get(column)?;
    nanoseconds.map(|it| to_time(it, column)).transpose()
}

fn to_time(nanoseconds: i64, column: &'static str) -> rusqlite::Result<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).map_err(|_| unreadable(column))
}

pub(crate) fn number(row: &Row<'_>, column: &'static str) -> rusqlite::Result<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| unreadable(column))
}

pub(crate) fn hash(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Hash> {
    Ok(Hash(row.get(column)?))
}

pub(crate) fn content_id(row: &Row<'_>, column: &'static str) -> rusqlite::Result<ContentId> {
    hash(row, column).map(ContentId)
}

pub(crate) fn maybe_content_id(
    row: &Row<'_>,
    column: &'static str,
) -> rusqlite::Result<Option<ContentId>> {
    let bytes: Option<[u8; 32]> = row.get(column)?;
    Ok(bytes.map(|it| ContentId(Hash(it))))
}

pub(crate) fn uuid(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Uuid> {
    Ok(Uuid::from_bytes(row.get(column)?))
}

pub(crate) fn run_id(row: &Row<'_>, column: &'static str) -> rusqlite::Result<RunId> {
    uuid(row, column).map(RunId)
}

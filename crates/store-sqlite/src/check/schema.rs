//! Tables, indexes, views and triggers are exactly those that the migrations create.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Row};

use super::found::FoundProblems;
use crate::migrate::{MIGRATIONS, migrate};

/// Its kind, its name, and the table that it belongs to.
type Name = (String, String, String);

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let fresh = fresh()?;
    let (expected, actual) = (objects(&fresh)?, objects(connection)?);
    for ((kind, name, table), sql) in &expected {
        match actual.get(&(kind.clone(), name.clone(), table.clone())) {
            None => found.add(format!("the {kind} `{name}` of `{table}` is not there")),
            Some(it) if it != sql => {
                found.add(format!("the {kind} `{name}` is not the one that Baton makes"));
            }
            Some(_) => {}
        }
    }
    for (kind, name, table) in actual.keys().filter(|it| !expected.contains_key(*it)) {
        found.add(format!("the {kind} `{name}` of `{table}` was not made by Baton"));
    }
    for pragma in ["user_version", "application_id"] {
        let value =
            |it: &Connection| it.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (expected, actual) = (value(&fresh)?, value(connection)?);
        if expected != actual {
            found.add(format!("`{pragma}` of the file is {actual} instead of {expected}"));
        }
    }
    Ok(())
}

/// Opening the file has compared the text of every migration; this finds additional objects.
pub(super) fn check_migrations(
    connection: &Connection,
    found: &mut FoundProblems,
) -> rusqlite::Result<()> {
    let expected: Vec<_> = MIGRATIONS.iter().map(|it| it.row()).collect();
    let sql = "select number, name, hash, applied_at from schema_migrations order by number";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut n_known = 0;
    while let Some(row) = rows.next()? {
        let (number, name): (i64, String) = (row.get(0)?, row.get(1)?);
        let (hash, _applied_at): ([u8; 32], i64) = (row.get(2)?, row.get(3)?);
        if expected.contains(&(number, name.as_str(), hash)) {
            n_known += 1;
        } else {
            found.in_row(number, "it is not a migration of this Baton");
        }
    }
    if n_known < expected.len() {
        let n = expected.len() - n_known;
        found.add(format!("`schema_migrations`: {n} of {} are not there", expected.len()));
    }
    Ok(())
}

/// An empty database with the schema of this Baton.
fn fresh() -> rusqlite::Result<Connection> {
    let mut fresh = Connection::open_in_memory()?;
    if let Err(error) = migrate(&mut fresh, Path::new("memory"), MIGRATIONS) {
        unreachable!("the migrations of this Baton can be applied: {error}");
    }
    Ok(fresh)
}

fn objects(connection: &Connection) -> rusqlite::Result<BTreeMap<Name, Option<String>>> {
    let sql = "select type, name, tbl_name, sql from sqlite_schema";
    let read = |row: &Row<'_>| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?));
    connection.prepare(sql)?.query_map([], read)?.collect()
}

//! The outlines of stories' keys, to find keys that look alike.

use std::path::Path;

use baton_core::look_alike;
use baton_core::names::StoryKey;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::columns::parsed;
use crate::error::{OpenError, to_open};

pub(crate) const COLUMN: &str = "stories.outline";

/// More than a warning names.
const MOST: i64 = 8;

pub(crate) const LIKE: &str =
    "select key from stories where outline = ?1 and key <> ?2 order by key limit ?3";

/// Rebuilds the outlines of all stories, unless the present rule has made them.
pub(crate) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    if !is_up_to_date(connection).map_err(to_open(path))? {
        make_all(connection).map_err(to_open(path))?;
    }
    Ok(())
}

pub(crate) fn is_up_to_date(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "select rule from derivations where of_column = ?1";
    let rule: Option<String> = connection.query_row(sql, [COLUMN], |row| row.get(0)).optional()?;
    Ok(rule == Some(look_alike::rule()))
}

fn make_all(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let keys: Vec<String> = transaction
        .prepare("select key from stories")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    {
        let sql = "update stories set outline = ?2 where key = ?1";
        let mut update = transaction.prepare(sql)?;
        for key in keys {
            update.execute([&key, &look_alike::outline(&key)])?;
        }
    }
    let sql = "insert into derivations (of_column, rule) values (?1, ?2)
               on conflict (of_column) do update set rule = excluded.rule";
    transaction.execute(sql, [COLUMN, &look_alike::rule()])?;
    transaction.commit()
}

/// Keys that look like this one, without the key itself.
pub(crate) fn like(connection: &Connection, key: &StoryKey) -> rusqlite::Result<Vec<StoryKey>> {
    let outline = look_alike::outline(key.as_str());
    connection
        .prepare_cached(LIKE)?
        .query_map(params![outline, key.as_str(), MOST], |row| {
            parsed(row, "key", |it| StoryKey::parse(it).ok())
        })?
        .collect()
}

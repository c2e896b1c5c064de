//! Workflow files, by the hash of their text.

use baton_core::hash::Hash;
use baton_core::names::WorkflowName;
use baton_store::Definition;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::columns::{hash, parsed};

pub(crate) fn add(connection: &Connection, definition: &Definition) -> rusqlite::Result<()> {
    let sql = "insert into definitions (hash, name, text) values (?1, ?2, ?3)
               on conflict (hash) do nothing";
    let params = params![definition.hash.0, definition.name.as_str(), definition.text];
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

pub(crate) fn find(connection: &Connection, which: &Hash) -> rusqlite::Result<Option<Definition>> {
    let sql = "select hash, name, text from definitions where hash = ?1";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Definition {
            hash: hash(row, "hash")?,
            name: parsed(row, "name", |it| WorkflowName::parse(it).ok())?,
            text: row.get("text")?,
        })
    };
    connection.prepare_cached(sql)?.query_row([which.0], read).optional()
}

//! Workflow files, by the hash of their text.

use baton_core::hash::Hash;
use baton_core::names::WorkflowName;
use baton_store::Definition;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{execute, hash, parsed};
use crate::error::in_row;
use crate::statements::Statements;

pub(crate) fn add(statements: &impl Statements, definition: &Definition) -> rusqlite::Result<()> {
    let sql = "insert into definitions (hash, name, text) values (?1, ?2, ?3)
               on conflict (hash) do nothing";
    let Definition { hash, name, text } = definition;
    execute(statements, sql, params![hash.0, name.as_str(), text])
}

pub(crate) fn find(connection: &Connection, which: &Hash) -> rusqlite::Result<Option<Definition>> {
    let sql = "select rowid as row_number, hash, name, text from definitions where hash = ?1";
    connection.prepare_cached(sql)?.query_row([which.0], read).optional()
}

/// Reads a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Definition> {
    in_row(row, "definitions", "row_number", |row| {
        Ok(Definition {
            hash: hash(row, "hash")?,
            name: parsed(row, "name", |it| WorkflowName::parse(it).ok())?,
            text: row.get("text")?,
        })
    })
}

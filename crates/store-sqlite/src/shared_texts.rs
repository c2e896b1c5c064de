//! The texts that come from the files of agents and workflows, stored once for all runs.

use baton_core::content::{Content, ContentId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{content_id, execute};
use crate::error::in_row;
use crate::statements::Statements;

/// Inserts a text, unless it is there.
pub(crate) fn add(statements: &impl Statements, content: &Content) -> rusqlite::Result<()> {
    let sql = "insert into shared_texts (id, text) values (?1, ?2) on conflict (id) do nothing";
    execute(statements, sql, params![content.id.0.0, content.text])
}

pub(crate) fn find(connection: &Connection, id: ContentId) -> rusqlite::Result<Option<Content>> {
    let sql = "select rowid as row_number, id, text from shared_texts where id = ?1";
    connection.prepare_cached(sql)?.query_row([id.0.0], read).optional()
}

/// Reads a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Content> {
    in_row(row, "shared_texts", "row_number", |row| {
        // The id as it is stored: whether the text fits it is checked like that of every text.
        Ok(Content { id: content_id(row, "id")?, ..Content::shared(row.get::<_, String>("text")?) })
    })
}

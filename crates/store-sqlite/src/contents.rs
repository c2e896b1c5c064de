//! The texts of a run, by the id that the event log uses.

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::package::Format;
use baton_core::run::RunId;
use baton_store::{
    DROPPING_EVENTS, DroppedText, EXPIRING_EVENTS, StoredContent, TextOwner, dropped_texts,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{content_id, execute, hash, number, parsed};
use crate::error::{in_row, unreadable};
use crate::statements::Statements;
use crate::{events, shared_texts};

/// Inserts a text. Inserting it again changes nothing: its id is its hash. One that every run has
/// is stored once: it would be most of the rows here.
pub(crate) fn add(
    statements: &impl Statements,
    run_number: i64,
    content: &Content,
) -> rusqlite::Result<()> {
    if content.is_shared() {
        return shared_texts::add(statements, content);
    }
    let sql = "insert into contents (run_number, id, nonce, kind, format, hash, text)
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               on conflict (run_number, id) do nothing";
    let (kind, format, hash) = match content.kind {
        ContentKind::Package { format, hash } => ("package", Some(format.name()), Some(hash.0)),
        ContentKind::Words => ("words", None, None),
    };
    let params =
        params![run_number, content.id.0.0, content.nonce, kind, format, hash, content.text];
    execute(statements, sql, params)
}

pub(crate) fn find(
    connection: &Connection,
    run: RunId,
    ids: &[ContentId],
) -> rusqlite::Result<Vec<StoredContent>> {
    let sql = "select rowid as row_number, id, nonce, kind, format, hash, text from contents
               where run_number = (select number from runs where id = ?1) and id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let row = statement.query_row(params![run.0.as_bytes(), id.0.0], read).optional()?;
        let stored = match row {
            Some(content) => Some(StoredContent::new(content, TextOwner::Run)),
            None => {
                let shared = shared_texts::find(connection, *id)?;
                shared.map(|it| StoredContent::new(it, TextOwner::AllRuns))
            }
        };
        found.extend(stored);
    }
    Ok(found)
}

/// The texts of a run that are recorded as lost.
pub(crate) fn lost(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<ContentId>> {
    let sql = "select id from lost_texts
               where run_number = (select number from runs where id = ?1)";
    let read = |row: &Row<'_>| content_id(row, "id");
    connection.prepare_cached(sql)?.query_map([run.0.as_bytes()], read)?.collect()
}

/// The texts of all runs that are recorded as lost, by the number of the run.
pub(crate) fn all_lost(connection: &Connection) -> rusqlite::Result<Vec<(u64, ContentId)>> {
    let sql = "select run_number, id from lost_texts order by run_number, id";
    let read = |row: &Row<'_>| Ok((number(row, "run_number")?, content_id(row, "id")?));
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// Deletes texts so that no byte of them stays in the file: freed pages are overwritten.
pub(crate) fn drop_texts(
    statements: &impl Statements,
    run_number: i64,
    ids: &[ContentId],
) -> rusqlite::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let connection = statements.connection();
    connection.pragma_update(None, "secure_delete", true)?;
    let sql = "delete from contents where run_number = ?1 and id = ?2";
    let deleted =
        ids.iter().try_for_each(|id| execute(statements, sql, params![run_number, id.0.0]));
    connection.pragma_update(None, "secure_delete", false)?;
    deleted
}

/// The texts that events of a run say are dropped.
pub(crate) fn dropped(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<DroppedText>> {
    let dropping = events::named(connection, run, &DROPPING_EVENTS)?;
    if !dropping.iter().any(|it| it.name == "content.expired") {
        return Ok(dropped_texts(&dropping));
    }
    let names = [&DROPPING_EVENTS[..], &EXPIRING_EVENTS[..]];
    Ok(dropped_texts(&events::named(connection, run, &names.concat())?))
}

/// How many texts are the run's own.
pub(crate) fn count(connection: &Connection, run: RunId) -> rusqlite::Result<u64> {
    let sql = "select count(*) as n from contents
               where run_number = (select number from runs where id = ?1)";
    connection.prepare_cached(sql)?.query_row([run.0.as_bytes()], |row| number(row, "n"))
}

/// Reads a row that has its own number as `row_number`.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Content> {
    in_row(row, "contents", "row_number", |row| {
        let kind = match row.get_ref("kind")?.as_str() {
            Ok("package") => ContentKind::Package {
                format: parsed(row, "format", Format::parse)?,
                hash: hash(row, "hash")?,
            },
            Ok("words") => {
                for column in ["format", "hash"] {
                    if row.get_ref(column)? != ValueRef::Null {
                        return Err(unreadable(column));
                    }
                }
                ContentKind::Words
            }
            Ok(_) | Err(_) => return Err(unreadable("kind")),
        };
        Ok(Content {
            id: content_id(row, "id")?,
            nonce: row.get("nonce")?,
            kind,
            text: row.get("text")?,
        })
    })
}

//! Every text and every handoff row can be read. `baton_engine::verify_all` compares them with the
//! events of their run.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::{contents, handoffs, shared_texts};

const CONTENTS: &str = "rowid as row_number, id, nonce, kind, format, hash, text
    from contents not indexed";
const SHARED_TEXTS: &str = "rowid as row_number, id, text from shared_texts not indexed";
const HANDOFFS: &str = "*, zeroblob(16) as run_id, 'story' as story_key from handoffs not indexed";

pub(super) fn contents(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "contents", CONTENTS, found, |row, _, _| contents::read(row).map(|_| ()))
}

/// A text that is not named by any run may be here: the run that brought it may have been lost.
pub(super) fn shared_texts(
    connection: &Connection,
    found: &mut FoundProblems,
) -> rusqlite::Result<()> {
    scan::rows(connection, "shared_texts", SHARED_TEXTS, found, |row, number, found| {
        if !shared_texts::read(row)?.is_intact() {
            found.in_row(number, "the text is not the one that was written");
        }
        Ok(())
    })
}

pub(super) fn handoffs(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "handoffs", HANDOFFS, found, |row, _, _| handoffs::read(row).map(|_| ()))
}

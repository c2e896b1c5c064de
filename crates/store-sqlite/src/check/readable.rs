//! Every text and every handoff row can be read. `baton_engine::verify_all` compares them with the
//! events of their run.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::{contents, handoffs};

const CONTENTS: &str = "rowid as row_number, id, nonce, kind, format, hash, text
    from contents not indexed";
const HANDOFFS: &str = "*, zeroblob(16) as run_id, 'story' as story_key from handoffs not indexed";

pub(super) fn contents(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "contents", CONTENTS, found, |row, _, _| contents::read(row).map(|_| ()))
}

pub(super) fn handoffs(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "handoffs", HANDOFFS, found, |row, _, _| handoffs::read(row).map(|_| ()))
}

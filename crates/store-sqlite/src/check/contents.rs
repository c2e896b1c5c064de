//! Every text can be read. `baton_engine::verify_all` checks that it is the one an event names.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::contents;

const FROM: &str = "rowid as row_number, id, nonce, kind, format, hash, text
    from contents not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "contents", FROM, found, |row, _, _| contents::read(row).map(|_| ()))
}

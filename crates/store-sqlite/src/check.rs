//! Checks the file: the quick checks before opening are here, and everything that `baton verify`
//! checks is in [`full`].

mod definitions;
mod events;
mod found;
mod full;
mod numbers;
mod outbox;
mod outlines;
mod readable;
mod runs;
mod scan;
mod schema;
mod sealed;
mod stories;
mod timers;

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Damage, OpenError, to_open};

pub(crate) use full::{in_answered, in_file, in_full, in_stories};

/// Reading a larger file completely would delay the start too long.
const MOST_BYTES_AT_START: u64 = 32 << 20;

/// Checks the file before use: the header of any file, and all of a small one.
pub(crate) fn at_start(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let file = std::fs::metadata(path)
        .map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    // This reads the first page, which says how long the file must be.
    let sql = "select count(*) from sqlite_schema";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(to_open(path))?;
    if file.len() > MOST_BYTES_AT_START {
        return Ok(());
    }
    let found: String = connection
        .query_row("pragma quick_check(1)", [], |row| row.get(0))
        .map_err(to_open(path))?;
    if found != "ok" {
        let (path, damage) = (path.to_owned(), Damage::Pages);
        return Err(OpenError::Damaged { path, damage, source: Some(found.into()) });
    }
    Ok(())
}

//! How far each projector has read.

use baton_store::Position;
use baton_store::checksum::of_cursor;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::columns::{integer, number};

pub(crate) fn find(connection: &Connection, projector: &str) -> rusqlite::Result<Position> {
    let sql = "select position from cursors where projector = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok(Position(number(row, "position")?));
    let found = connection.prepare_cached(sql)?.query_row([projector], read).optional()?;
    Ok(found.unwrap_or(Position::START))
}

/// Moves a cursor that is still at `from`; false otherwise.
pub(crate) fn advance(
    connection: &Connection,
    projector: &str,
    from: Position,
    to: Position,
) -> rusqlite::Result<bool> {
    // Only a cursor that has never moved may be missing.
    let sql = if from == Position::START {
        "insert into cursors (projector, position, checksum) values (?1, ?3, ?4)
         on conflict (projector) do update set position = ?3, checksum = ?4 where position = ?2"
    } else {
        "update cursors set position = ?3, checksum = ?4 where projector = ?1 and position = ?2"
    };
    let sum = of_cursor(projector, integer(to.0));
    let params = params![projector, integer(from.0), integer(to.0), sum];
    Ok(connection.prepare_cached(sql)?.execute(params)? > 0)
}

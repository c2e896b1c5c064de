//! Projector cursors: unchanged since written, and not beyond the end of the log.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::{cursors, events};

const FROM: &str = "projector, position, checksum from cursors not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let last = events::last_position(connection)?;
    scan::rows(connection, "cursors", FROM, found, |row, number, found| {
        let (projector, position): (String, i64) = (row.get(1)?, row.get(2)?);
        let expected = cursors::checksum(&projector, position);
        if row.get::<_, Option<i64>>(3)? != Some(expected) {
            let what = "it is not as it was written; `baton archive rebuild` begins it anew";
            found.in_row(number, what);
        } else if u64::try_from(position).is_ok_and(|it| it > last.0) {
            found.in_row(number, &format!("it is at event {position}, and the last is {}", last.0));
        }
        Ok(())
    })
}

//! Idempotency records: no event repeats their contents, so they have a checksum. A deleted record
//! looks like one that expired after a day.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::idempotency;

const FROM: &str = "rowid as row_number, scope, key, request, answered_at, answer, checksum
    from answered not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "answered", FROM, found, |row, number, found| {
        let it = idempotency::read(row)?;
        let at = row.get("answered_at")?;
        let expected = idempotency::checksum(&it.scope, &it.key, &it.request.0, at, &it.answer);
        if row.get::<_, Option<i64>>("checksum")? != Some(expected) {
            found.in_row(number, "it is not as it was written");
        }
        Ok(())
    })
}

//! There is one identity, as it was written.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::identity;

const FROM: &str = "id, project, epoch, mark, checksum from identity not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut n_rows = 0;
    scan::rows(connection, "identity", FROM, found, |row, number, found| {
        n_rows += 1;
        let (project, epoch): ([u8; 16], String) = (row.get(2)?, row.get(3)?);
        let expected = identity::checksum(&project, &epoch, row.get(4)?);
        if row.get::<_, i64>(1)? != 1 || row.get::<_, Option<i64>>(5)? != Some(expected) {
            found.in_row(number, "it is not as it was written");
        }
        Ok(())
    })?;
    if n_rows != 1 {
        found.add(format!("`identity` has {n_rows} rows instead of one"));
    }
    Ok(())
}

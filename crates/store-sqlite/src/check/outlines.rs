//! Every story's outline matches its key.

use baton_core::look_alike;
use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::outlines;

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let sql = "select of_column from derivations where of_column <> ?1 order by of_column";
    let mut statement = connection.prepare(sql)?;
    for column in statement.query_map([outlines::COLUMN], |row| row.get::<_, String>(0))? {
        found.add(format!("`derivations` has `{}`, which Baton does not work out", column?));
    }
    // They are rebuilt once the file is opened for writing.
    if !outlines::is_up_to_date(connection)? {
        return Ok(());
    }
    let from = "key, outline from stories not indexed";
    scan::rows(connection, "stories", from, found, |row, _, found| {
        let (key, outline): (String, Option<String>) = (row.get("key")?, row.get("outline")?);
        if outline.as_deref() != Some(look_alike::outline(&key).as_str()) {
            found.add(format!("the story `{key}` has an outline that is not its key's"));
        }
        Ok(())
    })
}

//! Whether the file is whole.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{OpenError, to_open};

/// A larger file takes longer to read through than a start may.
const MOST_BYTES_AT_START: u64 = 32 << 20;

/// The least that SQLite writes: a page.
const LEAST_BYTES: u64 = 512;

/// Looks at the file before SQLite does, which takes what is left of a cut file for a new one and
/// throws its log away.
pub(crate) fn before_open(path: &Path) -> Result<(), OpenError> {
    let n_bytes = |path: &Path| std::fs::metadata(path).map_or(0, |it| it.len());
    let has_log = n_bytes(&path.with_extension("db-wal")) > 0;
    match n_bytes(path) {
        0 if has_log => Err(OpenError::Damaged { path: path.to_owned(), source: None }),
        1..LEAST_BYTES => Err(OpenError::Damaged { path: path.to_owned(), source: None }),
        0 | LEAST_BYTES.. => Ok(()),
    }
}

/// Looks at the file before it is used: the head of any file, and all of a small one.
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
        return Err(OpenError::Damaged { path: path.to_owned(), source: Some(found.into()) });
    }
    Ok(())
}

/// Columns that say again what a text says, so that it can be searched for: they must agree.
const COPIES: [(&str, &str); 2] = [
    (
        "select number from runs
         where case when json_valid(state) then
             status is not json_extract(state, '$.status')
             or story_key is not json_extract(state, '$.story')
             or workflow is not json_extract(state, '$.workflow')
             or baton is not (
                 case json_type(state, '$.branches[0].baton')
                     when 'text' then json_extract(state, '$.branches[0].baton')
                     else (select key from json_each(state, '$.branches[0].baton'))
                 end
             )
             else true end",
        "run",
    ),
    (
        "select position from events
         where case when json_valid(body) then name is not json_extract(body, '$.type')
             else true end",
        "event",
    ),
];

/// Everything that is wrong with the file, read from end to end.
pub(crate) fn in_full(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems: Vec<String> = connection
        .prepare("pragma integrity_check")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    problems.retain(|it| it != "ok");
    for (sql, what) in COPIES {
        let mut statement = connection.prepare(sql)?;
        let numbers = statement.query_map([], |row| row.get::<_, i64>(0))?;
        for number in numbers {
            problems.push(format!("{what} {} has a column that its text denies", number?));
        }
    }
    let mut statement = connection.prepare("pragma foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, number): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let number = number.unwrap_or_default();
        problems.push(format!("row {number} of `{table}` refers to what is not there"));
    }
    Ok(problems)
}

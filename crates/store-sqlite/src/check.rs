//! Whether the file is whole.

use std::path::Path;

use baton_core::run::Run;
use rusqlite::{Connection, Row};

use crate::columns::nearest_nanoseconds;
use crate::error::{OpenError, to_open};
use crate::{derived, runs};

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

/// Everything that is wrong with the file, read from end to end.
pub(crate) fn in_full(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems: Vec<String> = connection
        .prepare("pragma integrity_check")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    problems.retain(|it| it != "ok");
    in_runs(connection, &mut problems)?;
    in_events(connection, &mut problems)?;
    derived::check(connection, &mut problems)?;
    let mut statement = connection.prepare("pragma foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, number): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let number = number.unwrap_or_default();
        problems.push(format!("row {number} of `{table}` refers to what is not there"));
    }
    Ok(problems)
}

/// The columns of a run say again what its state says, so that it can be searched for: they agree.
fn in_runs(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "select number, story_key, workflow, status, baton, current_agent, started_at,
                   moved_at, state,
                   exists (select 1 from waiting where run_number = number) as is_waiting
               from runs";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get("number")?;
        match runs::state(row) {
            None => problems.push(format!("run {number} has a state that cannot be read")),
            Some(run) if !has_columns_of(row, &run)? => {
                problems.push(format!("run {number} has a column that its state denies"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn has_columns_of(row: &Row<'_>, run: &Run) -> rusqlite::Result<bool> {
    let text = |column| row.get::<_, Option<String>>(column);
    let time = |column| row.get::<_, i64>(column);
    Ok(text("story_key")?.as_deref() == Some(run.story.as_str())
        && text("workflow")?.as_deref() == Some(run.workflow.as_str())
        && text("status")?.as_deref() == Some(run.status.name())
        && text("baton")?.as_deref() == Some(run.baton().name())
        && text("current_agent")?.as_deref() == run.current_agent().map(|it| it.as_str())
        && row.get::<_, bool>("is_waiting")? == run.is_waiting()
        && time("started_at")? == nearest_nanoseconds(run.started_at)
        && time("moved_at")? == nearest_nanoseconds(run.moved_at))
}

fn in_events(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "select position from events
               where case when json_valid(body) then name is not json_extract(body, '$.type')
                   else true end";
    let mut statement = connection.prepare(sql)?;
    for position in statement.query_map([], |row| row.get::<_, i64>(0))? {
        problems.push(format!("event {} has a column that its text denies", position?));
    }
    Ok(())
}

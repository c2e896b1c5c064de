//! Tables and columns that only help to find things say what they derive from.

use rusqlite::Connection;

use crate::runs;

/// Adds what is wrong with them to `problems`.
pub(crate) fn check(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    in_blocked(connection, problems)?;
    in_due(connection, problems)?;
    in_stories(connection, problems)
}

fn in_blocked(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "select number, state,
                   exists (select 1 from blocked where run_number = number) as is_blocked
               from runs";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (number, is_blocked): (i64, bool) = (row.get("number")?, row.get("is_blocked")?);
        // A state that cannot be read is reported where runs are checked.
        if runs::state(row).is_some_and(|run| run.is_blocked() != is_blocked) {
            problems.push(format!("run {number} is listed as blocked or not against its state"));
        }
    }
    Ok(())
}

/// Whether the times are right only the workflows know (`baton_engine::verify_all`).
fn in_due(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "select run_number from due
               left join runs on runs.number = due.run_number
               where runs.status is null or runs.status not in ('open', 'paused')";
    let mut statement = connection.prepare(sql)?;
    for number in statement.query_map([], |row| row.get::<_, i64>(0))? {
        problems.push(format!("run {} is not open, and has to be looked at", number?));
    }
    Ok(())
}

fn in_stories(connection: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "select key from stories where run_status is not (
                   select status from runs where story_key = stories.key
                   order by number desc limit 1
               )";
    let mut statement = connection.prepare(sql)?;
    for key in statement.query_map([], |row| row.get::<_, String>(0))? {
        problems.push(format!("story `{}` does not say what its newest run has come to", key?));
    }
    Ok(())
}

//! A bare SQLite writer: the rows that the engine wrote, written again with prepared statements
//! and nothing else. No rules, no hashing, no encoding, no threads, no replies.
#![expect(clippy::disallowed_methods, reason = "it measures SQLite itself, beside Baton")]

use std::path::Path;

use anyhow::{Context as _, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// All rows of one command, in the order they were written.
pub(crate) struct Command(Vec<Statement>);

struct Statement {
    sql: &'static str,
    values: Vec<Value>,
}

const INSERT_RUN: &str = "insert into runs values (?,?,?,?,?,?,?,?,?,?,?,?)";
const UPDATE_RUN: &str = "update runs set version = ?, head = ?, status = ?, baton = ?, \
     current_agent = ?, moved_at = ?, state = ? where number = ? and version < ?";
const INSERT_HANDOFF: &str =
    "insert into handoffs values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
const UPDATE_HANDOFF: &str = "update handoffs set state = ?, outcome = ?, accepted_at = ?, \
     ended_at = ? where run_number = ? and no = ?";
const INSERT_EVENT: &str = "insert into events values (?,?,?,?,?,?,?,?)";
const INSERT_CONTENT: &str = "insert into contents values (?,?,?,?,?,?,?)";
const INSERT_STORY: &str = "insert into stories values (?,?,?,?,?,?,?,?,?)";

/// Most commands are enough to measure by.
const MOST_COMMANDS: usize = 200_000;

/// Reads what the engine wrote, and works out which command wrote what.
pub(crate) fn read(dir: &Path) -> Result<Vec<Command>> {
    let connection = Connection::open(dir.join("baton.db"))?;
    let mut commands: Vec<Command> = Vec::new();
    let mut last = None;
    let mut events = connection.prepare("select * from events order by position")?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..8).map(|it| row.get(it)).collect::<Result<_, _>>()?;
        let run: i64 = row.get("run_number")?;
        let at: i64 = row.get("happened_at")?;
        let name: String = row.get("name")?;
        let body: String = row.get("body")?;
        // One command's events have one run and one time.
        if last != Some((run, at)) {
            if commands.len() == MOST_COMMANDS {
                break;
            }
            commands.push(Command(vec![run_statement(&connection, run, name == "run.started")?]));
            last = Some((run, at));
        }
        let Command(statements) = commands.last_mut().context("no command")?;
        if name == "run.started" {
            statements.push(story_statement(&connection, run)?);
        }
        statements.push(Statement { sql: INSERT_EVENT, values });
        let no = number_in(&body);
        match (name.as_str(), no) {
            ("handoff.created", Some(no)) => {
                statements.extend(handoff_statements(&connection, run, no)?);
            }
            ("handoff.accepted" | "handoff.completed", Some(no)) => {
                statements.push(move_statement(&connection, run, no)?);
            }
            _ => {}
        }
    }
    Ok(commands)
}

/// Writes everything again, `group` commands to a commit. Returns how many commands it wrote.
pub(crate) fn write(dir: &Path, commands: &[Command], group: usize) -> Result<usize> {
    let store = baton_store_sqlite::SqliteStore::open(dir)?;
    drop(store);
    let connection = Connection::open(dir.join("baton.db"))?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 4000; \
         pragma foreign_keys = off; pragma cache_size = -65536;",
    )?;
    connection.set_prepared_statement_cache_capacity(32);
    for group in commands.chunks(group) {
        connection.execute_batch("begin immediate")?;
        for Command(statements) in group {
            for Statement { sql, values } in statements {
                connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
            }
        }
        connection.execute_batch("commit")?;
    }
    Ok(commands.len())
}

fn run_statement(connection: &Connection, run: i64, is_new: bool) -> Result<Statement> {
    let mut select = connection.prepare_cached("select * from runs where number = ?")?;
    let values: Vec<Value> =
        select.query_row([run], |row| (0..12).map(|it| row.get(it)).collect())?;
    if is_new {
        // So that the updates that follow find an older version.
        let mut values = values;
        values[2] = Value::Integer(0);
        return Ok(Statement { sql: INSERT_RUN, values });
    }
    let [number, _, version, head, _, _, status, baton, agent, _, moved_at, state] =
        <[Value; 12]>::try_from(values).map_err(|_| anyhow::anyhow!("runs has other columns"))?;
    let values =
        vec![version.clone(), head, status, baton, agent, moved_at, state, number, version];
    Ok(Statement { sql: UPDATE_RUN, values })
}

fn story_statement(connection: &Connection, run: i64) -> Result<Statement> {
    let sql = "select stories.* from stories join runs on story_key = key where number = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = select.query_row([run], |row| (0..9).map(|it| row.get(it)).collect())?;
    Ok(Statement { sql: INSERT_STORY, values })
}

/// The row of a new handoff, and the texts that came with it.
fn handoff_statements(connection: &Connection, run: i64, no: i64) -> Result<Vec<Statement>> {
    let sql = "select * from handoffs where run_number = ? and no = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values: Vec<Value> =
        select.query_row([run, no], |row| (0..23).map(|it| row.get(it)).collect())?;
    let sql = "select contents.* from contents join handoffs using (run_number) \
         where run_number = ? and no = ? and contents.id in (package, reason)";
    let mut select = connection.prepare_cached(sql)?;
    let contents = select.query_map([run, no], |row| (0..7).map(|it| row.get(it)).collect())?;
    let mut statements = vec![Statement { sql: INSERT_HANDOFF, values }];
    for values in contents {
        statements.push(Statement { sql: INSERT_CONTENT, values: values? });
    }
    Ok(statements)
}

fn move_statement(connection: &Connection, run: i64, no: i64) -> Result<Statement> {
    let sql = "select state, outcome, accepted_at, ended_at, run_number, no from handoffs \
         where run_number = ? and no = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = select.query_row([run, no], |row| (0..6).map(|it| row.get(it)).collect())?;
    Ok(Statement { sql: UPDATE_HANDOFF, values })
}

/// The `"handoff":N` of an event's body.
fn number_in(body: &str) -> Option<i64> {
    let rest = body.split("\"handoff\":").nth(1)?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

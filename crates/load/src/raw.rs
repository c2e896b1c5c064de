//! A bare SQLite writer: the rows that the engine wrote, written again with prepared statements
//! and nothing else. No rules, no hashing, no encoding, no threads, no replies.
#![expect(clippy::disallowed_methods, reason = "it measures SQLite itself, beside Baton")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use baton_core::event::{evolve, replay};
use baton_core::run::{Run, RunId};
use baton_wire::event;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

/// All rows of one command, in the order they were written.
pub(crate) struct RawCommand(Vec<Statement>);

struct Statement {
    sql: Cow<'static, str>,
    values: Vec<Value>,
}

impl Statement {
    /// A whole row, with as many columns as the table has.
    fn insert(table: &str, values: Vec<Value>) -> Self {
        let marks = vec!["?"; values.len()].join(",");
        Self { sql: format!("insert into {table} values ({marks})").into(), values }
    }

    fn update(sql: &'static str, values: Vec<Value>) -> Self {
        Self { sql: sql.into(), values }
    }
}

/// Every column of a row.
fn whole(row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
    (0..row.as_ref().column_count()).map(|it| row.get(it)).collect()
}

/// Most moves leave the status alone, and with it the indexes of open runs.
const UPDATE_RUN: &str = "update runs set version = ?, head = ?, baton = ?, current_agent = ?, \
     moved_at = ?, state = ? where number = ? and version < ?";
const END_RUN: &str = "update runs set version = ?, head = ?, baton = ?, current_agent = ?, \
     moved_at = ?, state = ?, status = ? where number = ? and version < ?";
const ACCEPT_HANDOFF: &str =
    "update handoffs set state = 'accepted', accepted_at = ? where run_number = ? and no = ?";
const END_HANDOFF: &str = "update handoffs set state = ?, outcome = ?, ended_at = ? \
     where run_number = ? and no = ?";
const END_STORY: &str = "update stories set run_status = ? where key = ?";
const DELETE_DUE: &str = "delete from due where run_number = ?";

/// Columns of a handoff that are unknown at its creation.
const UNKNOWN_AT_FIRST: [&str; 5] =
    ["outcome", "ended_reason", "acknowledgement", "accepted_at", "ended_at"];

/// Most commands are enough to measure by.
const MOST_COMMANDS: usize = 200_000;

/// One command while its events are read.
struct CommandReader {
    run: i64,
    at: i64,
    is_first: bool,
    head: Value,
    version: Value,
    statements: Vec<Statement>,
}

/// Reads what the engine wrote, and works out which command wrote what. A run's row is rebuilt as
/// of that command by replaying its events.
pub(crate) fn read(dir: &Path) -> Result<Vec<RawCommand>> {
    let connection = Connection::open(dir.join("baton.db"))?;
    let mut commands: Vec<RawCommand> = Vec::new();
    let mut runs: HashMap<i64, Run> = HashMap::new();
    let mut entries = outbox(&connection)?;
    let mut group: Option<CommandReader> = None;
    let mut events = connection.prepare("select * from events order by position")?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = whole(row)?;
        let (run, at): (i64, i64) = (row.get("run_number")?, row.get("happened_at")?);
        let (name, body): (String, String) = (row.get("name")?, row.get("body")?);
        // One command's events have one run and one time.
        if group.as_ref().is_none_or(|it| (it.run, it.at) != (run, at)) {
            if let Some(group) = group.take() {
                commands.push(group.into_command(&connection, &runs)?);
                // A run that is over is not asked for again.
                runs.retain(|number, it| *number != run || !it.is_finished());
            }
            if commands.len() == MOST_COMMANDS {
                return Ok(commands);
            }
            let (head, version) = (Value::Null, Value::Null);
            let mut statements = entries.remove(&(run, at)).unwrap_or_default();
            if commands.is_empty() {
                statements.extend(all_of(&connection, "definitions")?);
                statements.extend(all_of(&connection, "shared_texts")?);
            }
            group = Some(CommandReader { run, at, is_first: false, head, version, statements });
        }
        let group = group.as_mut().context("no command")?;
        apply(&connection, &mut runs, run, at, &body)?;
        group.is_first |= name == "run.started";
        (group.head, group.version) = (row.get("hash")?, row.get("version")?);
        if name == "run.started" {
            group.statements.extend(story_statements(&connection, run)?);
            group.statements.push(due_statement(&connection, run, at)?);
        }
        group.statements.push(Statement::insert("events", values));
        let no = number_in(&body);
        match (name.as_str(), no) {
            ("handoff.created", Some(no)) => {
                group.statements.extend(handoff_statements(&connection, run, no, &body)?);
            }
            ("handoff.accepted", Some(no)) => {
                group.statements.push(accept_statement(&connection, run, no)?);
            }
            ("handoff.completed", Some(no)) => {
                group.statements.push(end_statement(&connection, run, no)?);
            }
            _ => {}
        }
    }
    if let Some(group) = group {
        commands.push(group.into_command(&connection, &runs)?);
    }
    Ok(commands)
}

/// The run as it is once this event has happened.
fn apply(
    connection: &Connection,
    runs: &mut HashMap<i64, Run>,
    number: i64,
    at: i64,
    body: &str,
) -> Result<()> {
    let event = event::decode(body)?;
    let at = Timestamp::from_nanosecond(at.into())?;
    match runs.get_mut(&number) {
        Some(run) => evolve(run, &event, at),
        None => {
            let mut select = connection.prepare_cached("select id from runs where number = ?")?;
            let id: [u8; 16] = select.query_row([number], |row| row.get(0))?;
            let id = RunId(uuid::Uuid::from_bytes(id));
            let run = replay(id, [(event, at)]).context("a run without a beginning")?;
            runs.insert(number, run);
        }
    }
    Ok(())
}

impl CommandReader {
    fn into_command(self, connection: &Connection, runs: &HashMap<i64, Run>) -> Result<RawCommand> {
        let run = runs.get(&self.run).context("a run that was never begun")?;
        let agent = run.current_agent().map_or(Value::Null, |it| text(it.as_str()));
        let baton = text(run.baton().name());
        let (moved_at, state) = (Value::Integer(self.at), text(&event::encode_run(run)));
        let status = text(run.status.name());
        let number = Value::Integer(self.run);
        let version = self.version;
        let statement = if self.is_first {
            let sql = "select id, story_key, workflow, started_at from runs where number = ?";
            let mut select = connection.prepare_cached(sql)?;
            let known: Vec<Value> = select.query_row([self.run], whole)?;
            let [id, story, workflow, started_at] =
                <[Value; 4]>::try_from(known).map_err(|_| anyhow::anyhow!("four columns"))?;
            let values = vec![
                number, id, version, self.head, story, workflow, status, baton, agent, started_at,
                moved_at, state,
            ];
            Statement::insert("runs", values)
        } else if run.is_finished() {
            let expected = version.clone();
            let values =
                vec![version, self.head, baton, agent, moved_at, state, status, number, expected];
            Statement::update(END_RUN, values)
        } else {
            let expected = version.clone();
            let values = vec![version, self.head, baton, agent, moved_at, state, number, expected];
            Statement::update(UPDATE_RUN, values)
        };
        let mut statements = vec![statement];
        statements.extend(self.statements);
        if run.is_finished() {
            let values = vec![text(run.status.name()), text(run.story.as_str())];
            statements.push(Statement::update(END_STORY, values));
            statements.push(Statement::update(DELETE_DUE, vec![Value::Integer(self.run)]));
        }
        Ok(RawCommand(statements))
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// An empty database with Baton's schema and its settings.
pub(crate) fn open(dir: &Path) -> Result<Connection> {
    drop(baton_store_sqlite::SqliteStore::open(dir)?);
    let connection = Connection::open(dir.join("baton.db"))?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 16000; \
         pragma journal_size_limit = 67108864; pragma cache_size = -8192; \
         pragma temp_store = memory; pragma foreign_keys = on; pragma cell_size_check = on;",
    )?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Writes everything again, `group` commands to a commit.
pub(crate) fn write(connection: &Connection, commands: &[RawCommand], group: usize) -> Result<()> {
    for group in commands.chunks(group) {
        connection.execute_batch("begin immediate")?;
        for RawCommand(statements) in group {
            for Statement { sql, values } in statements {
                connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
            }
        }
        connection.execute_batch("commit")?;
    }
    Ok(())
}

/// The outbox entries, by the run and the time of their command.
fn outbox(connection: &Connection) -> Result<HashMap<(i64, i64), Vec<Statement>>> {
    let mut entries: HashMap<(i64, i64), Vec<Statement>> = HashMap::new();
    let mut select = connection.prepare("select * from outbox order by id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values = whole(row)?;
        let command = (row.get("run_number")?, row.get("added_at")?);
        entries.entry(command).or_default().push(Statement::insert("outbox", values));
    }
    Ok(entries)
}

/// The workflows of all runs, or the texts that they share: the first command of each run brings
/// them with it.
fn all_of(connection: &Connection, table: &'static str) -> Result<Vec<Statement>> {
    let mut select = connection.prepare(&format!("select * from {table}"))?;
    let values = select.query_map([], whole)?;
    let statement = |values| Statement::insert(table, values);
    Ok(values.map(|it| it.map(statement)).collect::<Result<_, _>>()?)
}

/// The story of a new run, and the link of its log.
fn story_statements(connection: &Connection, run: i64) -> Result<[Statement; 2]> {
    let sql = "select stories.* from stories join runs on story_key = key where number = ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut story: Vec<Value> = select.query_row([run], whole)?;
    story[select.column_index("run_status")?] = text("open");
    let sql = "select story_log.* from story_log join runs on story_key = key \
         where runs.number = ?";
    let mut select = connection.prepare_cached(sql)?;
    let link = select.query_row([run], whole)?;
    Ok([Statement::insert("stories", story), Statement::insert("story_log", link)])
}

/// When a new run is due. Of one that is over that is not known any more, and any time costs the
/// same.
fn due_statement(connection: &Connection, run: i64, at: i64) -> Result<Statement> {
    let mut select = connection.prepare_cached("select * from due where run_number = ?")?;
    let known = select.query_row([run], whole);
    let values = known
        .optional()?
        .unwrap_or_else(|| vec![Value::Integer(run), Value::Integer(at), Value::Integer(0)]);
    Ok(Statement::insert("due", values))
}

/// The row of a new handoff, and the texts that came with it.
fn handoff_statements(
    connection: &Connection,
    run: i64,
    no: i64,
    created: &str,
) -> Result<Vec<Statement>> {
    let sql = "select * from handoffs where run_number = ? and no = ?";
    let mut select = connection.prepare_cached(sql)?;
    let mut values: Vec<Value> = select.query_row([run, no], whole)?;
    // As at creation: not accepted yet.
    values[select.column_index("state")?] = text("pending");
    for column in UNKNOWN_AT_FIRST {
        values[select.column_index(column)?] = Value::Null;
    }
    // The event names its texts by their ids.
    let sql = "select * from contents where run_number = ? and instr(?, lower(hex(id))) > 0";
    let mut select = connection.prepare_cached(sql)?;
    let contents = select.query_map((run, created), whole)?;
    let mut statements = vec![Statement::insert("handoffs", values)];
    for values in contents {
        statements.push(Statement::insert("contents", values?));
    }
    Ok(statements)
}

fn accept_statement(connection: &Connection, run: i64, no: i64) -> Result<Statement> {
    let sql = "select accepted_at, run_number, no from handoffs where run_number = ? and no = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = select.query_row([run, no], whole)?;
    Ok(Statement::update(ACCEPT_HANDOFF, values))
}

fn end_statement(connection: &Connection, run: i64, no: i64) -> Result<Statement> {
    let sql = "select state, outcome, ended_at, run_number, no from handoffs \
         where run_number = ? and no = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = select.query_row([run, no], whole)?;
    Ok(Statement::update(END_HANDOFF, values))
}

/// The `"handoff":N` of an event's body.
fn number_in(body: &str) -> Option<i64> {
    let rest = body.split("\"handoff\":").nth(1)?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::{self, Go, Hand, Keys};

    /// Every row of a table, as text.
    fn rows(dir: &Path, table: &str) -> Vec<String> {
        let connection = Connection::open(dir.join("baton.db")).unwrap();
        let mut select =
            connection.prepare(&format!("select * from {table} order by 1, 2")).unwrap();
        let n_columns = select.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values: Vec<Value> =
                (0..n_columns).map(|it| row.get(it)).collect::<Result<_, _>>()?;
            Ok(format!("{values:?}"))
        };
        select.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[tokio::test]
    async fn the_raw_writer_writes_the_very_same_rows() {
        let (engine_dir, raw_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = crew::engine_over(crew::sqlite(engine_dir.path()).unwrap()).await.unwrap();
        let mut hand = Hand::new(engine.clone(), "c".to_owned(), Keys::None).unwrap();
        let mut n_commands = 0;
        for _ in 0..3 {
            hand.tell_story(|_| {
                n_commands += 1;
                // The last story is left in the middle.
                if n_commands == 2 * crew::PER_STORY + 4 { Go::Stop } else { Go::On }
            })
            .await
            .unwrap();
        }
        engine.shutdown().await;
        let commands = read(engine_dir.path()).unwrap();
        assert_eq!(commands.len(), n_commands);
        write(&open(raw_dir.path()).unwrap(), &commands, 4).unwrap();
        for table in [
            "runs",
            "handoffs",
            "events",
            "contents",
            "stories",
            "story_log",
            "outbox",
            "definitions",
            "shared_texts",
            "due",
        ] {
            let (theirs, ours) = (rows(engine_dir.path(), table), rows(raw_dir.path(), table));
            assert!(!theirs.is_empty());
            assert_eq!(ours, theirs, "{table}");
        }
    }
}

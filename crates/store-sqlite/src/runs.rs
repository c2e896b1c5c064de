//! Runs: updated only at the version that the decision was based on.

use std::cmp::Reverse;
use std::collections::HashSet;

use baton_core::names::StoryKey;
use baton_core::run::{Run, RunId, RunStatus};
use baton_store::{
    AppendError, OpenRunCounts, Order, RunFilter, RunRef, RunRow, StoreResult, Version,
};
use baton_wire::event::{decode_run, encode_run};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use crate::append::Prepared;
use crate::columns::{
    after, count_executed, execute, hash, integer, limit, nanoseconds, number, run_id, until,
};
use crate::error::{in_row, is_constraint, to_append, to_store, unreadable};
use crate::events;
use crate::statements::Statements;

/// Inserts a run; returns its number.
pub(crate) fn add(statements: &impl Statements, prepared: &Prepared) -> Result<i64, AppendError> {
    let run = &prepared.append.run;
    let sql = "insert into runs (
                   id, version, head, story_key, workflow, status, baton, current_agent,
                   started_at, moved_at, state
               ) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let params = params![
        run.id.0.as_bytes(),
        integer(prepared.version.0),
        prepared.head.0,
        run.story.as_str(),
        run.workflow.as_str(),
        run.status.name(),
        run.baton().name(),
        run.current_agent().map(|it| it.as_str()),
        prepared.started_at,
        prepared.moved_at,
        prepared.state,
    ];
    match statements.with(sql, |it| it.insert(params)) {
        Ok(number) => Ok(number),
        Err(error) if is_constraint(&error) => {
            Err(why_not(statements.connection(), run.id, &run.story))
        }
        Err(error) => Err(to_append(error)),
    }
}

/// Inserts a recovered run, in its state and under its number.
pub(crate) fn put(connection: &Connection, row: &RunRow) -> StoreResult<()> {
    let run = &row.run;
    let sql = "insert into runs (
                   number, id, version, head, story_key, workflow, status, baton, current_agent,
                   started_at, moved_at, state
               ) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let params = params![
        integer(row.number),
        run.id.0.as_bytes(),
        integer(row.version.0),
        row.head.0,
        run.story.as_str(),
        run.workflow.as_str(),
        run.status.name(),
        run.baton().name(),
        run.current_agent().map(|it| it.as_str()),
        nanoseconds(run.started_at)?,
        nanoseconds(run.moved_at)?,
        encode_run(run),
    ];
    execute(connection, sql, params).map_err(to_store)
}

/// Updates a run that is still at the expected version; returns its number.
pub(crate) fn change(
    statements: &impl Statements,
    prepared: &Prepared,
) -> Result<i64, AppendError> {
    let number = match prepared.append.number {
        Some(number) => Some(integer(number)),
        None => number_of(statements.connection(), prepared.append.run.id).map_err(to_append)?,
    };
    let number = number.ok_or(AppendError::Conflict)?;
    // Most moves keep the status. Setting it, even to the same value, would rewrite the indexes of
    // open runs.
    let same_status = "update runs
                       set version = ?3, head = ?4, baton = ?5, current_agent = ?6,
                           moved_at = ?7, state = ?8
                       where number = ?1 and id = ?10 and version = ?2 and status = ?9";
    let any_status = "update runs
                      set version = ?3, head = ?4, baton = ?5, current_agent = ?6,
                          moved_at = ?7, state = ?8, status = ?9
                      where number = ?1 and id = ?10 and version = ?2";
    for sql in [same_status, any_status] {
        if is_updated(statements, sql, number, prepared)? {
            return Ok(number);
        }
    }
    Err(AppendError::Conflict)
}

/// Cheaper than `returning number`, for which SQLite creates and drops a table each time.
fn number_of(connection: &Connection, id: RunId) -> rusqlite::Result<Option<i64>> {
    let sql = "select number from runs where id = ?1";
    connection.prepare_cached(sql)?.query_row([id.0.as_bytes()], |row| row.get(0)).optional()
}

fn is_updated(
    statements: &impl Statements,
    sql: &'static str,
    number: i64,
    prepared: &Prepared,
) -> Result<bool, AppendError> {
    let run = &prepared.append.run;
    let params = params![
        number,
        integer(prepared.append.expected.0),
        integer(prepared.version.0),
        prepared.head.0,
        run.baton().name(),
        run.current_agent().map(|it| it.as_str()),
        prepared.moved_at,
        prepared.state,
        run.status.name(),
        run.id.0.as_bytes(),
    ];
    match count_executed(statements, sql, params) {
        Ok(n_rows) => Ok(n_rows > 0),
        Err(error) if is_constraint(&error) => Err(AppendError::OpenRunExists(run.story.clone())),
        Err(error) => Err(to_append(error)),
    }
}

/// Which of the two unique constraints a new run violates.
fn why_not(connection: &Connection, id: RunId, story: &StoryKey) -> AppendError {
    match number_of(connection, id) {
        Ok(Some(_)) => AppendError::Conflict,
        Ok(None) => AppendError::OpenRunExists(story.clone()),
        Err(error) => to_append(error),
    }
}

pub(crate) fn find(connection: &Connection, which: &RunRef) -> rusqlite::Result<Option<RunRow>> {
    let (condition, value): (_, &dyn ToSql) = match which {
        RunRef::Id(id) => ("id = ?1", id.0.as_bytes()),
        RunRef::Number(number) => ("number = ?1", &integer(*number)),
        RunRef::OpenOf(story) => {
            ("story_key = ?1 and status in ('open', 'paused')", &story.as_str())
        }
        RunRef::LatestOf(story) => ("story_key = ?1 order by number desc limit 1", &story.as_str()),
    };
    let sql = format!("select number, id, version, head, state from runs where {condition}");
    let read = |row: &Row<'_>| read(connection, row);
    connection.prepare_cached(&sql)?.query_row([value], read).optional()
}

/// Read from the table's own tree, without decoding the rows.
pub(crate) fn numbers(
    connection: &Connection,
    after: u64,
    most: u32,
) -> rusqlite::Result<Vec<u64>> {
    let sql = "select number from runs not indexed where number > ?1 order by number limit ?2";
    let read = |row: &Row<'_>| number(row, "number");
    let params = params![integer(after), limit(most)];
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

pub(crate) fn list(connection: &Connection, filter: &RunFilter) -> rusqlite::Result<Vec<RunRow>> {
    let sql = list_sql(filter);
    let statuses: Vec<String> = filter.statuses.iter().map(|it| it.name().to_owned()).collect();
    let params = params![
        integer(filter.after),
        limit(filter.limit),
        filter.story.as_ref().map(|it| it.as_str()),
        crate::columns::list_text(&statuses),
        filter.workflow.as_ref().map(|it| it.as_str()),
        integer(filter.until),
    ];
    let read = |row: &Row<'_>| read(connection, row);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params, read)?;
    let mut rows: Vec<RunRow> = rows.collect::<rusqlite::Result<_>>()?;
    // The join may return the page in any order.
    match filter.order {
        Order::OldestFirst => rows.sort_unstable_by_key(|it| it.number),
        Order::NewestFirst => rows.sort_unstable_by_key(|it| Reverse(it.number)),
    }
    Ok(rows)
}

/// How much of the log is scanned for the runs that moved last.
const NEWEST_EVENTS: usize = 4096;

pub(crate) const NEWEST_FIRST: &str = "select run_number from events order by position desc";

pub(crate) fn moved_last(connection: &Connection, most: u32) -> rusqlite::Result<Vec<RunRow>> {
    let most = if most == 0 { usize::MAX } else { most as usize };
    let mut found: Vec<RunRow> = Vec::new();
    let mut seen = HashSet::new();
    let mut statement = connection.prepare_cached(NEWEST_FIRST)?;
    let mut rows = statement.query([])?;
    for _ in 0..NEWEST_EVENTS {
        let Some(row) = rows.next()?.filter(|_| found.len() < most) else { break };
        let number: i64 = row.get("run_number")?;
        if seen.insert(number) {
            let run = find(connection, &RunRef::Number(number.unsigned_abs()))?;
            found.extend(run.filter(|it| !it.run.is_finished()));
        }
    }
    if found.len() < most {
        let filter = RunFilter {
            statuses: vec![RunStatus::Open, RunStatus::Paused],
            order: Order::NewestFirst,
            limit: u32::try_from(most).unwrap_or(0),
            ..RunFilter::default()
        };
        let others = list(connection, &filter)?;
        found.extend(others.into_iter().filter(|it| !seen.contains(&integer(it.number))));
        found.truncate(most);
    }
    Ok(found)
}

/// Scans only the index: it contains the keys.
pub(crate) const OPEN_ENDING: &str = "select number from runs indexed by runs_open
     where status in ('open', 'paused') and substr(story_key, -length(?1)) = ?1
     order by number";

pub(crate) fn open_ending(
    connection: &Connection,
    suffix: &str,
    most: u32,
) -> rusqlite::Result<(Vec<RunRow>, u64)> {
    if suffix.is_empty() {
        let statuses = vec![RunStatus::Open, RunStatus::Paused];
        let filter = RunFilter { statuses, limit: most, ..RunFilter::default() };
        return Ok((list(connection, &filter)?, count_open(connection)?));
    }
    let mut statement = connection.prepare_cached(OPEN_ENDING)?;
    let numbers = statement.query_map([suffix], |row| number(row, "number"))?;
    let numbers: Vec<u64> = numbers.collect::<rusqlite::Result<_>>()?;
    let most = if most == 0 { usize::MAX } else { most as usize };
    let mut found = Vec::new();
    for number in numbers.iter().take(most) {
        found.extend(find(connection, &RunRef::Number(*number))?);
    }
    Ok((found, numbers.len() as u64))
}

pub(crate) const COUNT_OPEN: &str =
    "select count(*) as n from runs indexed by runs_open where status in ('open', 'paused')";

pub(crate) fn count_open(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached(COUNT_OPEN)?.query_row([], |row| number(row, "n"))
}

/// Read from the columns: the state says the same, but is far slower to decode. A run parked until
/// a time has a timer; one that is parked on its checks has an open handoff to the orchestrator, and
/// is at work; every other parked run waits for a person.
const COUNTS: &str = "with open_runs as (
         select status, baton,
             baton = 'parked' and exists (
                 select 1 from timers where run_number = runs.number and kind = 'wake'
             ) as is_held_back,
             baton = 'parked' and exists (
                 select 1 from handoffs indexed by handoffs_by_run
                 where run_number = runs.number and to_agent = 'orchestrator' and ended_at is null
             ) as is_checked
         from runs indexed by runs_open where status in ('open', 'paused')
     )
     select
         coalesce(sum(status = 'open'), 0) as n_open,
         coalesce(sum(status = 'paused'), 0) as n_paused,
         coalesce(sum(baton = 'offered' or (is_held_back and not is_checked)), 0) as n_offered,
         coalesce(sum(baton = 'held' or is_checked), 0) as n_held,
         coalesce(sum(baton = 'parked' and not is_held_back and not is_checked), 0) as n_waiting,
         coalesce(sum(baton = 'loose'), 0) as n_loose
     from open_runs";

pub(crate) fn counts(connection: &Connection) -> rusqlite::Result<OpenRunCounts> {
    connection.prepare_cached(COUNTS)?.query_row([], |row| {
        Ok(OpenRunCounts {
            n_open: number(row, "n_open")?,
            n_paused: number(row, "n_paused")?,
            n_offered: number(row, "n_offered")?,
            n_held: number(row, "n_held")?,
            n_waiting: number(row, "n_waiting")?,
            n_loose: number(row, "n_loose")?,
        })
    })
}

pub(crate) fn list_sql(filter: &RunFilter) -> String {
    let order = filter.order;
    if is_by_status(filter) {
        let (after, direction) = after(order, "number");
        let until = until(order, "number", "?6", filter.until);
        let conditions = conditions(filter);
        // Each part comes in index order, so they are merged and never sorted.
        let part = |status: RunStatus| {
            format!(
                "select number from runs indexed by runs_open
                 where status = '{}' and status in ('open', 'paused')
                     and {after} and {until} and {conditions}",
                status.name(),
            )
        };
        let statuses = [RunStatus::Open, RunStatus::Paused].into_iter();
        let parts: Vec<String> =
            statuses.filter(|it| filter.statuses.contains(it)).map(part).collect();
        let parts = parts.join(" union all ");
        return format!(
            "{COLUMNS} from ({parts} order by 1 {direction} limit ?2) as listed
             cross join runs on runs.number = listed.number"
        );
    }
    let (table, column) = if filter.only_blocked {
        // The list is short, and is read first.
        ("blocked cross join runs on runs.number = blocked.run_number", "run_number")
    } else if filter.only_waiting {
        ("waiting cross join runs on runs.number = waiting.run_number", "run_number")
    } else {
        ("runs", "number")
    };
    let (after, direction) = after(order, column);
    let until = until(order, column, "?6", filter.until);
    let conditions = conditions(filter);
    format!(
        "{COLUMNS} from {table}
         where {after} and {until} and {conditions} order by {column} {direction} limit ?2"
    )
}

/// Whether the filter names nothing but openness.
fn is_by_status(filter: &RunFilter) -> bool {
    let are_open = !filter.statuses.is_empty() && filter.statuses.iter().all(|it| it.is_open());
    are_open && filter.story.is_none() && !filter.only_blocked && !filter.only_waiting
}

/// Only the conditions that the filter has, so that SQLite can choose the index for them. An unused
/// parameter is null, or ignored.
fn conditions(filter: &RunFilter) -> String {
    let of_story = if filter.story.is_some() { "story_key = ?3" } else { "?3 is null" };
    let with_status = if filter.statuses.is_empty() || is_by_status(filter) {
        "?4 is not null"
    } else {
        "status in (select value from json_each(?4))"
    };
    let of_workflow = if filter.workflow.is_some() { "workflow = ?5" } else { "?5 is null" };
    [of_story, with_status, of_workflow].join(" and ")
}

const COLUMNS: &str = "select runs.number, id, version, head, state";

fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<RunRow> {
    in_row(row, "runs", "number", |row| {
        let (number, version) = (number(row, "number")?, Version(number(row, "version")?));
        let head = hash(row, "head")?;
        let run = match state(row) {
            Some(run) => run,
            // Another version of Baton wrote it, or it is damaged: replay the log instead.
            None => events::replayed(connection, run_id(row, "id")?, number, version, head)?
                .ok_or_else(|| unreadable("state"))?,
        };
        Ok(RunRow { number, version, head, run })
    })
}

/// Decodes the run from its row; `None` where this Baton cannot.
pub(crate) fn state(row: &Row<'_>) -> Option<Run> {
    decode_run(row.get_ref("state").ok()?.as_str().ok()?).ok()
}

//! Runs: updated only at the version that the decision was based on.

use std::collections::HashSet;

use baton_core::event::replay;
use baton_core::run::{Run, RunId, RunStatus};
use baton_store::{OpenRunCounts, Order, RunFilter, RunRef, RunRow, StoreResult, Version};
use baton_wire::event::{decode, decode_run};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::append::PreparedAppend;
use crate::columns::{Columns, direction, integer, limit, nanoseconds};
use crate::query::{Connections, SqlQuery};

/// Adds a run under the next number. All other parts of the statement hang on `moved`.
pub(crate) fn add<'a>(
    query: &mut SqlQuery<'a>,
    prepared: &'a PreparedAppend<'a>,
) -> StoreResult<()> {
    let run = &prepared.append.run;
    let values = [
        query.bind(run.id.0, Type::UUID),
        query.bind(integer(prepared.version.0), Type::INT8),
        query.bind(&prepared.head.0[..], Type::BYTEA),
        query.bind(run.story.as_str(), Type::TEXT),
        query.bind(run.workflow.as_str(), Type::TEXT),
        query.bind(run.status.name(), Type::TEXT),
        query.bind(run.baton().name(), Type::TEXT),
        query.bind(run.current_agent().map(|it| it.as_str()), Type::TEXT),
        query.bind(nanoseconds(run.started_at)?, Type::INT8),
        query.bind(nanoseconds(run.moved_at)?, Type::INT8),
        query.bind(prepared.state.as_str(), Type::TEXT),
    ];
    query.sql.push_str(&format!(
        "counted as (
             update counters set last = last + 1 where counted = 'runs' returning last
         ), moved as (
             insert into runs (
                 number, id, version, head, story_key, workflow, status, baton, current_agent,
                 started_at, moved_at, state
             ) select last, {} from counted returning number
         )",
        values.join(", ")
    ));
    Ok(())
}

/// Updates a run that is still at the expected version. All other parts of the statement hang on
/// `moved`, which is empty otherwise.
pub(crate) fn change<'a>(
    query: &mut SqlQuery<'a>,
    prepared: &'a PreparedAppend<'a>,
) -> StoreResult<()> {
    let run = &prepared.append.run;
    let id = query.bind(run.id.0, Type::UUID);
    let expected = query.bind(integer(prepared.append.expected.0), Type::INT8);
    let version = query.bind(integer(prepared.version.0), Type::INT8);
    let head = query.bind(&prepared.head.0[..], Type::BYTEA);
    let status = query.bind(run.status.name(), Type::TEXT);
    let baton = query.bind(run.baton().name(), Type::TEXT);
    let agent = query.bind(run.current_agent().map(|it| it.as_str()), Type::TEXT);
    let moved_at = query.bind(nanoseconds(run.moved_at)?, Type::INT8);
    let state = query.bind(prepared.state.as_str(), Type::TEXT);
    query.sql.push_str(&format!(
        "moved as (
             update runs
             set version = {version}, head = {head}, status = {status}, baton = {baton},
                 current_agent = {agent}, moved_at = {moved_at}, state = {state}
             where id = {id} and version = {expected}
             returning number
         )"
    ));
    Ok(())
}

const COLUMNS: &str = "select number, id, version, head, state from runs";
const IS_OPEN: &str = "status in ('open', 'paused')";

pub(crate) async fn find(connections: &Connections, which: &RunRef) -> StoreResult<Option<RunRow>> {
    let query = match which {
        RunRef::Id(id) => SqlQuery::new(format!("{COLUMNS} where id = $1")).with(id.0, Type::UUID),
        RunRef::Number(number) => {
            SqlQuery::new(format!("{COLUMNS} where number = $1")).with(integer(*number), Type::INT8)
        }
        RunRef::OpenOf(story) => {
            SqlQuery::new(format!("{COLUMNS} where story_key = $1 and {IS_OPEN}"))
                .with(story.as_str(), Type::TEXT)
        }
        RunRef::LatestOf(story) => {
            let sql = format!("{COLUMNS} where story_key = $1 order by number desc limit 1");
            SqlQuery::new(sql).with(story.as_str(), Type::TEXT)
        }
    };
    match connections.read_one(&query).await? {
        Some(row) => read(connections, &row).await.map(Some),
        None => Ok(None),
    }
}

pub(crate) async fn numbers(
    connections: &Connections,
    after: u64,
    most: u32,
) -> StoreResult<Vec<u64>> {
    let query = SqlQuery::new("select number from runs where number > $1 order by number limit $2")
        .with(integer(after), Type::INT8)
        .with(limit(most), Type::INT8);
    let rows = connections.read(&query).await?;
    rows.iter().map(|row| Columns::of(row, "runs", "number").number("number")).collect()
}

pub(crate) async fn list(
    connections: &Connections,
    filter: &RunFilter,
) -> StoreResult<Vec<RunRow>> {
    read_all(connections, &connections.read(&list_query(filter)).await?).await
}

/// Only the conditions that the filter has, so that the plan can use the index for them.
pub(crate) fn list_query(filter: &RunFilter) -> SqlQuery<'_> {
    let mut query = SqlQuery::new("");
    let (sort, after, until) = direction(filter.order);
    let mut conditions = vec!["true".to_owned()];
    if filter.after > 0 {
        let number = query.bind(integer(filter.after), Type::INT8);
        conditions.push(format!("number {after} {number}"));
    }
    if filter.until > 0 {
        let number = query.bind(integer(filter.until), Type::INT8);
        conditions.push(format!("number {until}= {number}"));
    }
    if let Some(story) = &filter.story {
        let story = query.bind(story.as_str(), Type::TEXT);
        conditions.push(format!("story_key = {story}"));
    }
    if let Some(workflow) = &filter.workflow {
        let workflow = query.bind(workflow.as_str(), Type::TEXT);
        conditions.push(format!("workflow = {workflow}"));
    }
    if !filter.statuses.is_empty() {
        let statuses: Vec<&str> = filter.statuses.iter().map(|it| it.name()).collect();
        let statuses = query.bind(statuses, Type::TEXT_ARRAY);
        conditions.push(format!("status = any({statuses})"));
        if filter.statuses.iter().all(|it| it.is_open()) {
            // As in the partial index, so that the plan can use it.
            conditions.push(IS_OPEN.to_owned());
        }
    }
    if filter.only_waiting {
        conditions.push("number in (select run_number from waiting)".to_owned());
    }
    if filter.only_blocked {
        conditions.push("number in (select run_number from blocked)".to_owned());
    }
    let most = query.bind(limit(filter.limit), Type::INT8);
    let conditions = conditions.join(" and ");
    query.sql = format!("{COLUMNS} where {conditions} order by number {sort} limit {most}");
    query
}

/// How much of the log is scanned for the runs that moved last.
const NEWEST_EVENTS: i64 = 4096;

pub(crate) async fn moved_last(connections: &Connections, most: u32) -> StoreResult<Vec<RunRow>> {
    let sql = format!(
        "with newest as (
             select run_number, position from events order by position desc limit $1
         ), moved as (
             select run_number, max(position) as position from newest group by run_number
         )
         select number, id, version, head, state
         from moved join runs on runs.number = moved.run_number
         where {IS_OPEN} order by moved.position desc limit $2"
    );
    let query = SqlQuery::new(sql).with(NEWEST_EVENTS, Type::INT8).with(limit(most), Type::INT8);
    let mut found = read_all(connections, &connections.read(&query).await?).await?;
    if most == 0 || found.len() < most as usize {
        let filter = RunFilter {
            statuses: vec![RunStatus::Open, RunStatus::Paused],
            order: Order::NewestFirst,
            limit: most,
            ..RunFilter::default()
        };
        let seen: HashSet<u64> = found.iter().map(|it| it.number).collect();
        let others = list(connections, &filter).await?;
        found.extend(others.into_iter().filter(|it| !seen.contains(&it.number)));
        if most > 0 {
            found.truncate(most as usize);
        }
    }
    Ok(found)
}

pub(crate) async fn open_ending(
    connections: &Connections,
    suffix: &str,
    most: u32,
) -> StoreResult<(Vec<RunRow>, u64)> {
    // `right` with the length of an empty text would be empty too: every key ends in it.
    let ends = format!("{IS_OPEN} and right(story_key, length($1)) = $1");
    let query = SqlQuery::new(format!("{COLUMNS} where {ends} order by number limit $2"))
        .with(suffix, Type::TEXT)
        .with(limit(most), Type::INT8);
    let found = read_all(connections, &connections.read(&query).await?).await?;
    let query = SqlQuery::new(format!("select count(*) as n from runs where {ends}"))
        .with(suffix, Type::TEXT);
    Ok((found, count(connections, &query).await?))
}

pub(crate) async fn count_open(connections: &Connections) -> StoreResult<u64> {
    count(connections, &SqlQuery::new(format!("select count(*) as n from runs where {IS_OPEN}")))
        .await
}

async fn count(connections: &Connections, query: &SqlQuery<'_>) -> StoreResult<u64> {
    let row = connections.read_one(query).await?;
    row.map_or(Ok(0), |row| Columns::of(&row, "runs", "n").number("n"))
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
                 select 1 from handoffs
                 where run_number = runs.number and to_agent = 'orchestrator' and ended_at is null
             ) as is_checked
         from runs where status in ('open', 'paused')
     )
     select
         count(*) filter (where status = 'open') as n_open,
         count(*) filter (where status = 'paused') as n_paused,
         count(*) filter (where baton = 'offered' or (is_held_back and not is_checked))
             as n_offered,
         count(*) filter (where baton = 'held' or is_checked) as n_held,
         count(*) filter (where baton = 'parked' and not is_held_back and not is_checked)
             as n_waiting,
         count(*) filter (where baton = 'loose') as n_loose
     from open_runs";

pub(crate) async fn counts(connections: &Connections) -> StoreResult<OpenRunCounts> {
    let Some(row) = connections.read_one(&SqlQuery::new(COUNTS)).await? else {
        return Ok(OpenRunCounts::default());
    };
    let row = Columns::of(&row, "runs", "n_open");
    Ok(OpenRunCounts {
        n_open: row.number("n_open")?,
        n_paused: row.number("n_paused")?,
        n_offered: row.number("n_offered")?,
        n_held: row.number("n_held")?,
        n_waiting: row.number("n_waiting")?,
        n_loose: row.number("n_loose")?,
    })
}

async fn read_all(connections: &Connections, rows: &[Row]) -> StoreResult<Vec<RunRow>> {
    let mut runs = Vec::with_capacity(rows.len());
    for row in rows {
        runs.push(read(connections, row).await?);
    }
    Ok(runs)
}

pub(crate) async fn read(connections: &Connections, row: &Row) -> StoreResult<RunRow> {
    let row = Columns::of(row, "runs", "number");
    let (number, version) = (row.number("number")?, Version(row.number("version")?));
    let head = row.hash("head")?;
    let run = match decode_run(row.get("state")?).ok() {
        Some(run) => run,
        // Another version of Baton wrote it, or it is damaged: replay the log instead.
        None => replayed(connections, row.run_id("id")?, number, version)
            .await?
            .filter(|(_, last)| *last == head)
            .map(|(run, _)| run)
            .ok_or_else(|| row.unreadable("state"))?,
    };
    Ok(RunRow { number, version, head, run })
}

/// Replays the events of a run; `None` where some are missing or cannot be read.
async fn replayed(
    connections: &Connections,
    run: RunId,
    number: u64,
    version: Version,
) -> StoreResult<Option<(Run, baton_core::hash::Hash)>> {
    let sql = "select position, happened_at, hash, body from events
               where run_number = $1 order by position";
    let query = SqlQuery::new(sql).with(integer(number), Type::INT8);
    let mut events = Vec::new();
    let mut last = None;
    for row in &connections.read(&query).await? {
        let row = Columns::of(row, "events", "position");
        let Ok(event) = decode(row.get("body")?) else { return Ok(None) };
        events.push((event, row.time("happened_at")?));
        last = Some(row.hash("hash")?);
    }
    let is_whole = events.len() as u64 == version.0;
    Ok(last.filter(|_| is_whole).and_then(|last| Some((replay(run, events)?, last))))
}

//! When runs have to be checked because of the time alone.

use baton_core::run::RunId;
use baton_store::checksum::of_due;
use baton_store::{DueChange, DueRow, LookAgain, RunSchedule, StoreError, StoreResult};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer, limit, nanoseconds, nearest_nanoseconds};
use crate::query::{Connections, SqlQuery};
use crate::timers;

pub(crate) fn change(query: &mut SqlQuery<'_>, run: RunId, change: DueChange) -> StoreResult<()> {
    match change {
        DueChange::Keep => {}
        DueChange::NoLaterThan(due) => {
            let due_at = nanoseconds(due)?;
            let sum = query.bind(of_due(run, due_at), Type::INT8);
            let due_at = query.bind(due_at, Type::INT8);
            query.sql.push_str(&format!(
                ", set_due as (
                     insert into due (run_number, due_at, checksum)
                     select number, {due_at}, {sum} from moved
                     on conflict (run_number) do update
                         set due_at = excluded.due_at, checksum = excluded.checksum
                         where excluded.due_at < due.due_at
                 )"
            ));
        }
        DueChange::Clear => query.sql.push_str(
            ", cleared_due as (delete from due using moved where due.run_number = moved.number)",
        ),
    }
    Ok(())
}

/// Sets when runs have to be checked again, all in one statement; returns how many had not moved
/// since.
pub(crate) async fn look_again(connections: &Connections, runs: &[LookAgain]) -> StoreResult<u64> {
    if runs.is_empty() {
        return if connections.is_closed() { Err(StoreError::Closed) } else { Ok(0) };
    }
    let due: Vec<Option<i64>> =
        runs.iter().map(|it| it.due.map(nanoseconds).transpose()).collect::<StoreResult<_>>()?;
    let ids: Vec<_> = runs.iter().map(|it| it.run.0).collect();
    let versions: Vec<i64> = runs.iter().map(|it| integer(it.version.0)).collect();
    let sums: Vec<Option<i64>> =
        runs.iter().zip(&due).map(|(it, due)| due.map(|due| of_due(it.run, due))).collect();
    let sql = "with looked_at as (
                   select due.run_number, new.due_at, new.checksum
                   from unnest($1, $2, $3, $4) as new (run, version, due_at, checksum)
                   join runs on runs.id = new.run and runs.version = new.version
                   join due on due.run_number = runs.number
                   order by due.run_number for update of due
               ), later as (
                   update due set due_at = looked_at.due_at, checksum = looked_at.checksum
                   from looked_at
                   where due.run_number = looked_at.run_number and looked_at.due_at is not null
                   returning 1
               ), never as (
                   delete from due using looked_at
                   where due.run_number = looked_at.run_number and looked_at.due_at is null
                   returning 1
               )
               select (select count(*) from later) + (select count(*) from never) as n";
    let query = SqlQuery::new(sql)
        .with(ids, Type::UUID_ARRAY)
        .with(versions, Type::INT8_ARRAY)
        .with(due, Type::INT8_ARRAY)
        .with(sums, Type::INT8_ARRAY);
    let rows = connections.rows(&query).await?;
    rows.first().map_or(Ok(0), |row| Columns::of(row, "due", "n").number("n"))
}

/// By time and number.
pub(crate) async fn list(
    connections: &Connections,
    due_by: Timestamp,
    after: Option<&DueRow>,
    most: u32,
) -> StoreResult<Vec<DueRow>> {
    let (after_time, after_number) = match after {
        Some(after) => (nearest_nanoseconds(after.due), integer(after.number)),
        None => (i64::MIN, 0),
    };
    let sql = "select runs.id as run_id, due.run_number, due.due_at
               from due join runs on runs.number = due.run_number
               where due.due_at <= $1 and (due.due_at, due.run_number) > ($2, $3)
               order by due.due_at, due.run_number limit $4";
    let query = SqlQuery::new(sql)
        .with(nearest_nanoseconds(due_by), Type::INT8)
        .with(after_time, Type::INT8)
        .with(after_number, Type::INT8)
        .with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

pub(crate) async fn schedule(connections: &Connections, run: RunId) -> StoreResult<RunSchedule> {
    let sql = "select runs.id as run_id, due.run_number, due.due_at
               from runs join due on due.run_number = runs.number where runs.id = $1";
    let due = connections.read_one(&SqlQuery::new(sql).with(run.0, Type::UUID)).await?;
    let due = due.map(|row| read(&row)).transpose()?;
    Ok(RunSchedule { timers: timers::of_run(connections, run).await?, due: due.map(|it| it.due) })
}

pub(crate) fn read(row: &Row) -> StoreResult<DueRow> {
    let row = Columns::of(row, "due", "run_number");
    Ok(DueRow {
        due: row.time("due_at")?,
        number: row.number("run_number")?,
        run: row.run_id("run_id")?,
    })
}

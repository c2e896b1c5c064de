//! When runs have to be checked because of the time alone.

use baton_core::run::RunId;
use baton_store::checksum::of_due;
use baton_store::{DueChange, DueRow, LookAgain, RunSchedule, StoreResult};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::checksum;
use crate::columns::{
    execute, integer, limit, nanoseconds, nearest_nanoseconds, number, run_id, time,
};
use crate::error::{in_row, to_store};
use crate::statements::Statements;
use crate::timers;

pub(crate) fn change(
    statements: &impl Statements,
    run: RunId,
    run_number: i64,
    change: DueChange,
) -> StoreResult<()> {
    let changed = match change {
        DueChange::Keep => return Ok(()),
        DueChange::NoLaterThan(due) => {
            let sql = "insert into due (run_number, due_at, checksum) values (?1, ?2, ?3)
                       on conflict (run_number) do update
                           set due_at = excluded.due_at, checksum = excluded.checksum
                           where excluded.due_at < due.due_at";
            let due_at = nanoseconds(due)?;
            execute(statements, sql, [run_number, due_at, of_due(run, due_at)])
        }
        DueChange::Clear => {
            execute(statements, "delete from due where run_number = ?1", [run_number])
        }
    };
    changed.map_err(to_store)
}

/// Sets when runs have to be checked again; returns how many had not moved since.
pub(crate) fn look_again(connection: &Connection, runs: &[LookAgain]) -> StoreResult<u64> {
    let of_run = "run_number = (select number from runs where id = ?1 and version = ?2)";
    let later = format!("update due set due_at = ?3, checksum = ?4 where {of_run}");
    let never = format!("delete from due where {of_run}");
    let mut n_rows = 0;
    for it in runs {
        let (id, version) = (it.run.0.as_bytes(), integer(it.version.0));
        let changed = match it.due {
            Some(due) => {
                let due_at = nanoseconds(due)?;
                let sum = of_due(it.run, due_at);
                let params = params![id, version, due_at, sum];
                connection.prepare_cached(&later).and_then(|mut it| it.execute(params))
            }
            None => {
                let params = params![id, version];
                connection.prepare_cached(&never).and_then(|mut it| it.execute(params))
            }
        };
        n_rows += changed.map_err(to_store)? as u64;
    }
    Ok(n_rows)
}

/// By time and number.
pub(crate) const LIST: &str = "select runs.id as run_id, due.run_number, due.due_at
     from due indexed by due_by_time cross join runs on runs.number = due.run_number
     where due.due_at <= ?1 and (due.due_at, due.run_number) > (?2, ?3)
     order by due.due_at, due.run_number limit ?4";

pub(crate) fn list(
    connection: &Connection,
    due_by: Timestamp,
    after: Option<&DueRow>,
    most: u32,
) -> rusqlite::Result<Vec<DueRow>> {
    let (after_time, after_number) = match after {
        Some(after) => (nearest_nanoseconds(after.due), integer(after.number)),
        None => (i64::MIN, 0),
    };
    let params = params![nearest_nanoseconds(due_by), after_time, after_number, limit(most)];
    connection.prepare_cached(LIST)?.query_map(params, read)?.collect()
}

pub(crate) fn schedule(connection: &Connection, run: RunId) -> rusqlite::Result<RunSchedule> {
    let sql = "select runs.id as run_id, due.run_number, due.due_at
               from runs join due on due.run_number = runs.number where runs.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let due = statement.query_row([run.0.as_bytes()], read).optional()?;
    Ok(RunSchedule { timers: timers::of_run(connection, run)?, due: due.map(|it| it.due) })
}

/// Adds checksums to the rows that a migration has created.
pub(crate) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select due.run_number, due.due_at, runs.id
                from due join runs on runs.number = due.run_number";
    let update = "update due set checksum = ?2 where run_number = ?1";
    checksum::fill_rows(connection, rows, update, |row, update| {
        let run = RunId(uuid::Uuid::from_bytes(row.get(2)?));
        update.execute([row.get(0)?, of_due(run, row.get(1)?)])
    })
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<DueRow> {
    in_row(row, "due", "run_number", |row| {
        Ok(DueRow {
            due: time(row, "due_at")?,
            number: number(row, "run_number")?,
            run: run_id(row, "run_id")?,
        })
    })
}

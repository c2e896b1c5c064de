//! Timers: what has to happen at a time, unless something else happens first.

use baton_core::run::{HandoffNo, RunId};
use baton_store::checksum::of_timer;
use baton_store::{LeaseRenewal, StoreResult, TimerChange, TimerKind, TimerRow};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::columns::{execute, limit, nanoseconds, nearest_nanoseconds, run_id, time};
use crate::error::{in_row, to_store, unreadable};
use crate::statements::Statements;

pub(crate) fn change(
    statements: &impl Statements,
    run: RunId,
    run_number: i64,
    change: &TimerChange,
) -> StoreResult<()> {
    let changed = match *change {
        TimerChange::Set { no, what, due } => {
            let (fence, seconds) = match what {
                TimerKind::Lease { fence, seconds } => (Some(fence), Some(seconds)),
                TimerKind::Wake => (None, None),
            };
            let sql = "insert or replace into timers (
                           run_number, no, kind, fence, seconds, due_at, checksum
                       ) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let due_at = nanoseconds(due)?;
            let sum = of_timer(run, no, fence, due_at);
            let params = params![run_number, no.0, what.name(), fence, seconds, due_at, sum];
            execute(statements, sql, params)
        }
        TimerChange::Clear { no } => {
            let sql = "delete from timers where run_number = ?1 and no = ?2";
            execute(statements, sql, params![run_number, no.0])
        }
    };
    changed.map_err(to_store)
}

/// Extends leases; returns how many matched handoff and fencing token.
pub(crate) fn put_off(connection: &Connection, leases: &[LeaseRenewal]) -> StoreResult<u64> {
    let sql = "update timers set due_at = ?4, checksum = ?5
               where run_number = (select number from runs where id = ?1)
                   and no = ?2 and fence = ?3";
    let mut statement = connection.prepare_cached(sql).map_err(to_store)?;
    let mut n_rows = 0;
    for it in leases {
        let due_at = nanoseconds(it.due)?;
        let sum = of_timer(it.run, it.no, Some(it.fence), due_at);
        let params = params![it.run.0.as_bytes(), it.no.0, it.fence, due_at, sum];
        n_rows += statement.execute(params).map_err(to_store)? as u64;
    }
    Ok(n_rows)
}

/// By time, run and handoff.
pub(crate) const LIST: &str = "select runs.id as run_id, timers.run_number, timers.no, timers.kind,
         timers.fence, timers.seconds, timers.due_at
     from timers indexed by timers_by_time cross join runs on runs.number = timers.run_number
     where timers.due_at <= ?1
     order by timers.due_at, timers.run_number, timers.no limit ?2";

pub(crate) fn list(
    connection: &Connection,
    due_by: Option<Timestamp>,
    most: u32,
) -> rusqlite::Result<Vec<TimerRow>> {
    let due_by = due_by.map_or(i64::MAX, nearest_nanoseconds);
    connection.prepare_cached(LIST)?.query_map(params![due_by, limit(most)], read)?.collect()
}

/// By handoff.
pub(crate) fn of_run(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<TimerRow>> {
    let sql = "select runs.id as run_id, timers.run_number, timers.no, timers.kind,
                   timers.fence, timers.seconds, timers.due_at
               from runs cross join timers on timers.run_number = runs.number
               where runs.id = ?1 order by timers.no";
    connection.prepare_cached(sql)?.query_map([run.0.as_bytes()], read)?.collect()
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<TimerRow> {
    in_row(row, "timers", "run_number", |row| {
        let kind: String = row.get("kind")?;
        let what = match kind.as_str() {
            "lease" => TimerKind::Lease { fence: row.get("fence")?, seconds: row.get("seconds")? },
            "wake" => TimerKind::Wake,
            _ => return Err(unreadable("kind")),
        };
        Ok(TimerRow {
            run: run_id(row, "run_id")?,
            no: HandoffNo(row.get("no")?),
            what,
            due: time(row, "due_at")?,
        })
    })
}

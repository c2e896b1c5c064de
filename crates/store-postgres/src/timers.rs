//! Timers: what has to happen at a time, unless something else happens first.

use baton_core::run::{HandoffNo, RunId};
use baton_store::checksum::of_timer;
use baton_store::{LeaseRenewal, StoreResult, TimerChange, TimerKind, TimerRow};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, limit, nanoseconds, nearest_nanoseconds, small};
use crate::query::{Connections, SqlQuery};

/// Sets and clears the timers of an append. A handoff has at most one, so the last change counts.
pub(crate) fn change(
    query: &mut SqlQuery<'_>,
    run: RunId,
    changes: &[TimerChange],
) -> StoreResult<()> {
    let is_last =
        |index: usize| changes[index + 1..].iter().all(|it| it.no() != changes[index].no());
    let last = changes.iter().enumerate().filter(|(index, _)| is_last(*index)).map(|(_, it)| *it);
    let mut cleared: Vec<i32> = Vec::new();
    let mut set = TimerColumns::default();
    for change in last {
        match change {
            TimerChange::Set { no, what, due } => set.add(run, no, what, due)?,
            TimerChange::Clear { no } => cleared.push(small(no.0)),
        }
    }
    if !cleared.is_empty() {
        let cleared = query.bind(cleared, Type::INT4_ARRAY);
        query.sql.push_str(&format!(
            ", cleared_timers as (
                 delete from timers using moved
                 where timers.run_number = moved.number and timers.no = any({cleared})
             )"
        ));
    }
    if !set.nos.is_empty() {
        let arrays = set.bind(query);
        query.sql.push_str(&format!(
            ", set_timers as (
                 insert into timers (run_number, no, kind, fence, seconds, due_at, checksum)
                 select moved.number, new.*
                 from moved, unnest({arrays}) as new (no, kind, fence, seconds, due_at, checksum)
                 on conflict (run_number, no) do update
                     set kind = excluded.kind, fence = excluded.fence,
                         seconds = excluded.seconds, due_at = excluded.due_at,
                         checksum = excluded.checksum
             )"
        ));
    }
    Ok(())
}

/// Timers to be written, column by column.
#[derive(Default)]
pub(crate) struct TimerColumns {
    nos: Vec<i32>,
    kinds: Vec<&'static str>,
    fences: Vec<Option<i32>>,
    seconds: Vec<Option<i32>>,
    due_at: Vec<i64>,
    checksums: Vec<i64>,
}

impl TimerColumns {
    pub(crate) fn add(
        &mut self,
        run: RunId,
        no: HandoffNo,
        what: TimerKind,
        due: Timestamp,
    ) -> StoreResult<()> {
        let (fence, seconds) = match what {
            TimerKind::Lease { fence, seconds } => (Some(fence), Some(seconds)),
            TimerKind::Wake => (None, None),
        };
        let due_at = nanoseconds(due)?;
        self.nos.push(small(no.0));
        self.kinds.push(what.name());
        self.fences.push(fence.map(small));
        self.seconds.push(seconds.map(small));
        self.due_at.push(due_at);
        self.checksums.push(of_timer(run, no, fence, due_at));
        Ok(())
    }

    pub(crate) fn bind(self, query: &mut SqlQuery<'_>) -> String {
        let arrays = [
            query.bind(self.nos, Type::INT4_ARRAY),
            query.bind(self.kinds, Type::TEXT_ARRAY),
            query.bind(self.fences, Type::INT4_ARRAY),
            query.bind(self.seconds, Type::INT4_ARRAY),
            query.bind(self.due_at, Type::INT8_ARRAY),
            query.bind(self.checksums, Type::INT8_ARRAY),
        ];
        arrays.join(", ")
    }
}

/// Extends leases, all in one statement; returns how many matched handoff and fencing token. A
/// lease is never moved back: heartbeats that reach two nodes may be written in any order.
pub(crate) async fn put_off(
    connections: &Connections,
    leases: &[LeaseRenewal],
) -> StoreResult<u64> {
    if leases.is_empty() {
        return if connections.is_closed() { Err(baton_store::StoreError::Closed) } else { Ok(0) };
    }
    let mut rows = Vec::with_capacity(leases.len());
    for it in leases {
        let due_at = nanoseconds(it.due)?;
        rows.push((it, due_at, of_timer(it.run, it.no, Some(it.fence), due_at)));
    }
    // Nodes that extend the same leases at once lock them in the same order; of several heartbeats
    // for one lease, the latest counts.
    rows.sort_unstable_by_key(|(it, due_at, _)| {
        (it.run, it.no, it.fence, std::cmp::Reverse(*due_at))
    });
    rows.dedup_by_key(|(it, ..)| (it.run, it.no, it.fence));
    let runs: Vec<_> = rows.iter().map(|(it, ..)| it.run.0).collect();
    let nos: Vec<i32> = rows.iter().map(|(it, ..)| small(it.no.0)).collect();
    let fences: Vec<i32> = rows.iter().map(|(it, ..)| small(it.fence)).collect();
    let due_at: Vec<i64> = rows.iter().map(|(_, it, _)| *it).collect();
    let sums: Vec<i64> = rows.iter().map(|(.., it)| *it).collect();
    let sql = "with heard as (
                   select timers.run_number, timers.no, new.due_at, new.checksum
                   from unnest($1, $2, $3, $4, $5) as new (run, no, fence, due_at, checksum)
                   join runs on runs.id = new.run
                   join timers on timers.run_number = runs.number and timers.no = new.no
                       and timers.fence = new.fence
                   order by timers.run_number, timers.no
                   for update of timers
               )
               update timers
               set due_at = greatest(timers.due_at, heard.due_at),
                   checksum = case when timers.due_at > heard.due_at
                       then timers.checksum else heard.checksum end
               from heard
               where timers.run_number = heard.run_number and timers.no = heard.no";
    let query = SqlQuery::new(sql)
        .with(runs, Type::UUID_ARRAY)
        .with(nos, Type::INT4_ARRAY)
        .with(fences, Type::INT4_ARRAY)
        .with(due_at, Type::INT8_ARRAY)
        .with(sums, Type::INT8_ARRAY);
    connections.execute(&query).await
}

const COLUMNS: &str = "select runs.id as run_id, timers.run_number, timers.no, timers.kind,
        timers.fence, timers.seconds, timers.due_at
    from timers join runs on runs.number = timers.run_number";

/// By time, run and handoff.
pub(crate) async fn list(
    connections: &Connections,
    due_by: Option<Timestamp>,
    most: u32,
) -> StoreResult<Vec<TimerRow>> {
    let due_by = due_by.map_or(i64::MAX, nearest_nanoseconds);
    let sql = format!(
        "{COLUMNS} where timers.due_at <= $1
         order by timers.due_at, timers.run_number, timers.no limit $2"
    );
    let query = SqlQuery::new(sql).with(due_by, Type::INT8).with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

/// By handoff.
pub(crate) async fn of_run(connections: &Connections, run: RunId) -> StoreResult<Vec<TimerRow>> {
    let query = SqlQuery::new(format!("{COLUMNS} where runs.id = $1 order by timers.no"))
        .with(run.0, Type::UUID);
    connections.read(&query).await?.iter().map(read).collect()
}

pub(crate) fn read(row: &Row) -> StoreResult<TimerRow> {
    let row = Columns::of(row, "timers", "run_number");
    let what = match row.get::<&str>("kind")? {
        "lease" => TimerKind::Lease { fence: row.small("fence")?, seconds: row.small("seconds")? },
        "wake" => TimerKind::Wake,
        _ => return Err(row.unreadable("kind")),
    };
    Ok(TimerRow {
        run: row.run_id("run_id")?,
        no: HandoffNo(row.small("no")?),
        what,
        due: row.time("due_at")?,
    })
}

//! Timers: no event records when a lease ends, so that has a checksum. `baton_engine::verify_all`
//! compares which timers exist with the runs.

use baton_store::TimerKind;
use baton_store::checksum::of_timer;
use rusqlite::Connection;

use super::found::FoundProblems;
use crate::error::damage;
use crate::timers;

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let sql = "select timers.run_number, timers.no, timers.kind, timers.fence, timers.seconds,
                   timers.due_at, timers.checksum, runs.id as run_id
               from timers join runs on runs.number = timers.run_number
               order by timers.run_number, timers.no";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match timers::read(row) {
            Ok(timer) => {
                let (fence, due_at) = (row.get("fence")?, row.get("due_at")?);
                let expected = of_timer(timer.run, timer.no, fence, due_at);
                let is_lease = matches!(timer.what, TimerKind::Lease { .. });
                let has_seconds = row.get::<_, Option<i64>>("seconds")?.is_some();
                if row.get::<_, Option<i64>>("checksum")? != Some(expected)
                    || is_lease != has_seconds
                {
                    let number: i64 = row.get("run_number")?;
                    let no = timer.no;
                    found.add(format!(
                        "run {number}: the timer of {no} in `timers` is not as it was written"
                    ));
                }
            }
            Err(error) => found.add(damage(&error)),
        }
    }
    Ok(())
}

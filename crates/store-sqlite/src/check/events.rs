//! Every event can be read, its name matches its body, and log order is the order in which runs and
//! handoffs got their numbers. Where many processes wrote at once, which is the part that was moved here
//! from PostgreSQL, numbers and positions are given apart: there each has its row, in any order.

use rusqlite::{Connection, OptionalExtension as _, Statement};

use super::found::FoundProblems;
use super::scan;
use crate::events;
use crate::lost_numbers::{self, Gap};

const FROM: &str = "position, run_number, version, happened_at, name, done_by, hash, body,
    zeroblob(16) as run_id,
    case when json_valid(body) then json_extract(body, '$.type') end as body_name,
    case when json_valid(body) then json_extract(body, '$.handoff') end as no
    from events not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let lost_runs = lost_numbers::of_table(connection, "runs")?;
    let mut last_run = 0_i64;
    let mut next_handoff: Statement<'_> =
        connection.prepare("select run_number, no from handoffs not indexed order by number")?;
    let mut handoffs = next_handoff.query([])?;
    let mut has_row =
        connection.prepare("select 1 from handoffs where run_number = ?1 and no = ?2")?;
    let shared = SharedPart::of(&lost_numbers::of_table(connection, "events")?);
    let mut is_in_order = true;
    scan::rows(connection, "events", FROM, found, |row, number, found| {
        let event = events::read(row)?;
        let body_name: Option<String> = row.get("body_name")?;
        if body_name.as_deref() != Some(event.name.as_str()) {
            found.in_row(number, "its name is not that of its body");
        }
        let run_number: i64 = row.get("run_number")?;
        if !is_in_order {
            return Ok(());
        }
        let is_shared = shared.as_ref().is_some_and(|it| (it.first..=it.last).contains(&number));
        if body_name.as_deref() == Some("run.started") && is_shared {
            last_run = last_run.max(run_number);
        } else if body_name.as_deref() == Some("run.started") {
            last_run += 1;
            // Rows recorded as lost in a recovery are skipped.
            if let Some((_, last)) = lost_runs.iter().find(|(first, _)| *first == last_run) {
                last_run = last.saturating_add(1);
            }
            if run_number != last_run {
                let what = format!("it starts run {run_number} where run {last_run} was started");
                found.in_row(number, &what);
                is_in_order = false;
            }
        } else if body_name.as_deref() == Some("handoff.created") {
            let made = match handoffs.next()? {
                Some(row) => Some((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
                None => None,
            };
            let no: i64 = row.get("no")?;
            let is_made = match is_shared {
                true => has_row.query_row([run_number, no], |_| Ok(())).optional()?.is_some(),
                false => made == Some((run_number, no)),
            };
            if !is_made {
                let what = "the handoff that it made does not have the number of its turn";
                found.in_row(number, what);
                is_in_order = false;
            }
        }
        Ok(())
    })
}

/// The positions that PostgreSQL gave, as far as the gaps between them tell.
struct SharedPart {
    first: i64,
    last: i64,
}

/// How many positions a transaction has there, and the least that are left out where its part begins.
const POSITIONS: i64 = 4096;

impl SharedPart {
    fn of(gaps: &[Gap]) -> Option<Self> {
        let (first, _) = gaps.iter().find(|(first, last)| last - first >= POSITIONS - 2)?;
        let (_, last) = gaps.last()?;
        Some(Self { first: *first, last: last.saturating_add(POSITIONS) })
    }
}

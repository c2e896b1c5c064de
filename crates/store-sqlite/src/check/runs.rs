//! The columns of a run repeat parts of its state, for searching: they must agree.

use baton_core::run::Run;
use baton_wire::event::encode_run;
use rusqlite::{Connection, Row};

use super::found::FoundProblems;
use super::scan;
use crate::columns::nearest_nanoseconds;
use crate::runs;

const FROM: &str = "number, id, version, head, story_key, workflow, status, baton, current_agent,
    started_at, moved_at, state,
    exists (select 1 from waiting where run_number = number) as is_waiting,
    exists (select 1 from blocked where run_number = number) as is_blocked
    from runs not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "runs", FROM, found, |row, number, found| {
        let Some(run) = runs::state(row) else {
            found.add(format!("run {number} has a state that cannot be read"));
            return Ok(());
        };
        for column in denied(row, &run)? {
            found.add(format!("run {number}: `{column}` differs from its state"));
        }
        // A value that decodes equally but is encoded differently was not written by Baton.
        if row.get_ref("state")?.as_str().ok() != Some(encode_run(&run).as_str()) {
            found.add(format!("run {number} has a state that Baton does not write so"));
        }
        Ok(())
    })
}

/// The columns that contradict the state.
fn denied(row: &Row<'_>, run: &Run) -> rusqlite::Result<Vec<&'static str>> {
    let text = |column: &'static str, replayed: Option<&str>| {
        let is_told = row.get::<_, Option<String>>(column)?.as_deref() == replayed;
        Ok::<_, rusqlite::Error>((column, is_told))
    };
    let time = |column: &'static str, replayed| {
        Ok::<_, rusqlite::Error>((
            column,
            row.get::<_, i64>(column)? == nearest_nanoseconds(replayed),
        ))
    };
    let columns = [
        ("id", row.get::<_, [u8; 16]>("id")? == *run.id.0.as_bytes()),
        text("story_key", Some(run.story.as_str()))?,
        text("workflow", Some(run.workflow.as_str()))?,
        text("status", Some(run.status.name()))?,
        text("baton", Some(run.baton().name()))?,
        text("current_agent", run.current_agent().map(|it| it.as_str()))?,
        time("started_at", run.started_at)?,
        time("moved_at", run.moved_at)?,
        ("waiting", row.get::<_, bool>("is_waiting")? == run.is_waiting()),
        ("blocked", row.get::<_, bool>("is_blocked")? == run.is_blocked()),
    ];
    Ok(columns.into_iter().filter(|(_, is_told)| !is_told).map(|(column, _)| column).collect())
}

//! Every handoff row can be read. `baton_engine::verify_all` compares it with the events of its
//! run.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::handoffs;

const FROM: &str = "*, zeroblob(16) as run_id, 'story' as story_key from handoffs not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "handoffs", FROM, found, |row, _, _| handoffs::read(row).map(|_| ()))
}

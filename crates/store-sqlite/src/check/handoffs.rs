//! Every row of a handoff can be read. What it says is compared with the events of its run by
//! `baton_engine::verify_all`.

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::handoffs;

const FROM: &str = "*, zeroblob(16) as run_id, 'story' as story_key from handoffs not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    scan::rows(connection, "handoffs", FROM, found, |row, _, _| handoffs::read(row).map(|_| ()))
}

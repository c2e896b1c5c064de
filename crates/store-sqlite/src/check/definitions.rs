//! Every stored workflow can be read, and a run is pinned to it. `baton_engine::verify_all` checks
//! that its text is the one that the run began with.

use std::collections::BTreeMap;

use baton_core::hash::Hash;
use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::definitions;

const FROM: &str = "rowid as row_number, hash, name, text from definitions not indexed";
const PINS: &str = "case when json_valid(state) then json_extract(state, '$.pin') end
    from runs not indexed";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    let mut unused: BTreeMap<Hash, i64> = BTreeMap::new();
    scan::rows(connection, "definitions", FROM, found, |row, number, _| {
        unused.insert(definitions::read(row)?.hash, number);
        Ok(())
    })?;
    let mut n_unknown = 0;
    scan::rows(connection, "runs", PINS, found, |row, _, _| {
        let pin: Option<String> = row.get(1)?;
        match pin.and_then(|it| Hash::parse(&it)) {
            Some(pin) => _ = unused.remove(&pin),
            None => n_unknown += 1,
        }
        Ok(())
    })?;
    // An unreadable run may be pinned to any of them.
    if n_unknown == 0 {
        for number in unused.into_values() {
            found.in_row(number, "no run began with this workflow");
        }
    }
    Ok(())
}

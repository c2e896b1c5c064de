//! A page of the log that is damaged and was not written again: what stood on it is never said to be
//! there because the rest verifies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use baton_recover::{RESULT, RecoveryMethod};
use baton_store_sqlite::UnprovenTable;
use rusqlite::Connection;

use crate::damages::{FRAME, FRAME_HEADER, LOG_HEADER, change, frames};
use crate::wreckage::{DATABASE, LOG, Wreckage, recovered};

/// Tables of which `verify` cannot notice that a row is missing, or that follow from the runs.
const TABLES: [&str; 5] = ["answered", "outbox", "timers", "cursors", "waiting"];

/// The rows of these tables, but for what is made anew: numbers that mean nothing, and the ends of
/// leases.
fn rows(database: &Path) -> BTreeSet<String> {
    let connection = Connection::open(database).unwrap();
    let mut rows = BTreeSet::new();
    for sql in [
        "select 'answer ' || scope || key || hex(request) || answered_at || answer from answered",
        "select 'promise ' || run_number || about || added_at from outbox",
        "select 'timer ' || run_number || no || kind || fence || seconds from timers",
        "select 'waiting ' || run_number from waiting",
    ] {
        let mut statement = connection.prepare(sql).unwrap();
        let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.extend(found.map(Result::unwrap));
    }
    rows
}

/// The table of each page that belongs to one of [`TABLES`], indexes included.
fn owners(database: &Path) -> BTreeMap<u32, String> {
    let connection = Connection::open(database).unwrap();
    let sql = "select pageno, tbl_name from dbstat join sqlite_schema using (name)";
    let mut statement = connection.prepare(sql).unwrap();
    let pages = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
    pages.map(Result::unwrap).filter(|(_, table)| TABLES.contains(&table.as_str())).collect()
}

#[tokio::test]
async fn an_image_with_a_page_that_may_be_older_is_not_called_complete() {
    let wreckage = Wreckage::with_answers().await;
    // SQLite puts the log into this copy of it.
    let whole = wreckage.copied();
    let (expected, owners) =
        (rows(&whole.path().join(DATABASE)), owners(&whole.path().join(DATABASE)));
    let pages = frames(&std::fs::read(wreckage.dir.path().join(LOG)).unwrap());
    let mut n_tried: BTreeMap<&str, u32> = BTreeMap::new();
    for (page, table) in &owners {
        // Only its last version: an earlier one is replaced.
        let Some(n) = pages.iter().rposition(|it| it == page) else { continue };
        *n_tried.entry(table).or_default() += 1;
        let copied = wreckage.copied();
        let at = LOG_HEADER + n * FRAME + FRAME_HEADER + 4000;
        change(copied.path(), LOG, |it| it[at] ^= 4);
        let it = recovered(copied.path()).await;
        let what = format!("page {page} of `{table}`: {:#?}", it.report.lines());
        let found = rows(&it.dir.path().join(RESULT).join(DATABASE));
        let missing: Vec<&String> = expected.difference(&found).collect();
        let is_only_answers = missing.iter().all(|it| it.starts_with("answer"));
        assert!(is_only_answers, "what follows from the runs is made again: {missing:?}, {what}");
        assert!(missing.is_empty() || !it.report.is_complete(), "{missing:?}, {what}");
        let is_unproven = it.report.unproven.contains(&UnprovenTable::Answers);
        assert_eq!(is_unproven, table == "answered", "{what}");
    }
    for table in ["answered", "outbox", "timers"] {
        assert!(n_tried.contains_key(table), "{n_tried:?}");
    }
}

#[tokio::test]
async fn a_log_whose_end_is_lost_leaves_no_complete_image() {
    let wreckage = Wreckage::with_answers().await;
    let n_frames = frames(&std::fs::read(wreckage.dir.path().join(LOG)).unwrap()).len();
    // The last frame ends a transaction. Whether it was acknowledged, nothing tells.
    let copied = wreckage.copied();
    let at = LOG_HEADER + (n_frames - 1) * FRAME + FRAME_HEADER + 100;
    change(copied.path(), LOG, |it| it[at] ^= 4);
    let it = recovered(copied.path()).await;
    assert_eq!(it.report.method, RecoveryMethod::Rows, "{:#?}", it.report.lines());
    assert!(!it.report.is_complete(), "{:#?}", it.report.lines());
}

//! One damage after the other. Whatever it is, what is said to be complete is complete, and what
//! is not is named.

use std::collections::BTreeSet;
use std::path::Path;

use baton_files::Dir;
use baton_recover::RecoveryMethod;
use baton_store_sqlite::LastMark;

use crate::wreckage::{
    DATABASE, LOG, MARK, Newest, Recovered, Wreckage, copy, is_all_there, numbered_freely,
    recovered,
};

const PAGE: usize = 4096;
pub(crate) const LOG_HEADER: usize = 32;
pub(crate) const FRAME_HEADER: usize = 24;
pub(crate) const FRAME: usize = FRAME_HEADER + PAGE;

/// Damages a copy, recovers, and checks that the report is honest.
async fn after(wreckage: &Wreckage, what: &str, damage: impl FnOnce(&Path)) -> Recovered {
    let copied = wreckage.copied();
    damage(copied.path());
    let it = recovered(copied.path()).await;
    let is_equal = numbered_freely(&it.told) == numbered_freely(&wreckage.told);
    let is_all_named = is_all_there(&it) == is_equal && (is_equal || !it.report.is_complete());
    assert!(is_all_named, "{what}: {:#?}", it.report.lines());
    it
}

pub(crate) fn change(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = dir.join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
}

fn read(wreckage: &Wreckage, name: &str) -> Vec<u8> {
    std::fs::read(wreckage.dir.path().join(name)).unwrap()
}

/// The numbers of the pages in the frames of a log.
pub(crate) fn frames(log: &[u8]) -> Vec<u32> {
    let page = |frame: &[u8]| u32::from_be_bytes(frame[..4].try_into().unwrap());
    log[LOG_HEADER..].chunks_exact(FRAME).map(page).collect()
}

fn assert_whole(it: &Recovered, what: &str) {
    assert!(it.report.is_complete(), "{what}: {:#?}", it.report.lines());
}

/// The database alone is whole, and no mark is as young as the log was.
#[tokio::test]
async fn a_log_of_which_nothing_can_be_told_leaves_the_rest_unproven() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let noise = |bytes: &mut [u8]| {
        let mut seed: u32 = 7;
        for byte in bytes {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = seed.to_be_bytes()[0];
        }
    };
    for (what, from, is_noise) in
        [("zeros", 0, false), ("noise", 0, true), ("noise behind the header", LOG_HEADER, true)]
    {
        let copied = wreckage.copied();
        std::fs::remove_file(copied.path().join(MARK)).unwrap();
        change(copied.path(), LOG, |log| {
            if is_noise { noise(&mut log[from..]) } else { log[from..].fill(0) }
        });
        let it = recovered(copied.path()).await;
        assert!(it.report.has_unknown_log, "{what}");
        assert!(!it.report.is_complete(), "{what}: {:#?}", it.report.lines());
    }
}

#[tokio::test]
async fn what_is_not_damaged_is_brought_back_as_it_is() {
    for newest in [Newest::InTheLog, Newest::InTheDatabase] {
        let wreckage = Wreckage::make(newest).await;
        let it = after(&wreckage, "nothing", |_| {}).await;
        assert_whole(&it, "nothing");
        assert!(matches!(it.report.method, RecoveryMethod::Image(_)));
    }
}

#[tokio::test]
async fn one_bit_of_the_log_costs_at_most_one_page() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let pages = frames(&read(&wreckage, LOG));
    assert!(pages.len() > 40, "{} frames", pages.len());
    let mut n_whole = 0;
    for (n, page) in pages.iter().enumerate().step_by(31) {
        let at = LOG_HEADER + n * FRAME + FRAME_HEADER + 2000;
        let what = format!("a bit of frame {n}, page {page}");
        let it = after(&wreckage, &what, |dir| change(dir, LOG, |it| it[at] ^= 4)).await;
        let is_rewritten = pages[n + 1..].contains(page);
        if is_rewritten {
            assert_whole(&it, &what);
        }
        n_whole += u32::from(it.report.is_complete());
    }
    assert!(n_whole > 0);
}

#[tokio::test]
async fn nothing_is_lost_with_the_head_of_the_log_or_of_a_frame() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let n_frames = frames(&read(&wreckage, LOG)).len();
    for at in [0, 4, 9, 17, 21, 26] {
        let what = format!("byte {at} of the header");
        let it = after(&wreckage, &what, |dir| change(dir, LOG, |it| it[at] ^= 1)).await;
        assert_whole(&it, &what);
    }
    // The salts and the checksum of a frame say nothing that the next one does not.
    for n in [1, n_frames / 2] {
        // So do the number of its page and the end of a transaction, which its checksum gives away.
        for at in [1, 3, 6, 8, 13, 16, 23] {
            let what = format!("byte {at} of frame {n}");
            let at = LOG_HEADER + n * FRAME + at;
            let it = after(&wreckage, &what, |dir| change(dir, LOG, |it| it[at] ^= 1)).await;
            assert_whole(&it, &what);
        }
    }
}

/// The mark does not say that the log was moved: that follows from pages that were moved later.
#[tokio::test]
async fn a_log_that_is_in_the_database_already_may_be_damaged_anywhere() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let moved = wreckage.copied();
    let connection = rusqlite::Connection::open(moved.path().join(DATABASE)).unwrap();
    connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())).unwrap();
    std::fs::copy(moved.path().join(DATABASE), wreckage.dir.path().join(DATABASE)).unwrap();
    drop(connection);
    let pages = frames(&read(&wreckage, LOG));
    // Above a page that only the last transaction added, no page was moved that proves it. SQLite
    // logs a transaction by page: it begins with the first one.
    let last = pages.iter().rposition(|page| *page == 1).unwrap();
    let highest = pages[..last].iter().max().unwrap();
    for (n, page) in pages.iter().enumerate().step_by(53).filter(|(_, page)| *page < highest) {
        let what = format!("frame {n}, page {page}");
        let at = LOG_HEADER + n * FRAME + FRAME_HEADER + 1234;
        let it = after(&wreckage, &what, |dir| change(dir, LOG, |it| it[at] ^= 1)).await;
        assert_whole(&it, &what);
        assert!(matches!(it.report.method, RecoveryMethod::Image(_)), "{what}");
    }
}

/// How many events SQLite finds: in the database, and in the transactions of the log that end before
/// it does.
fn n_events_of_sqlite(dir: &Path) -> u64 {
    let opened = tempfile::tempdir().unwrap();
    copy(dir, opened.path());
    let connection = rusqlite::Connection::open(opened.path().join(DATABASE)).unwrap();
    let n_events: i64 =
        connection.query_row("select count(*) from events", [], |row| row.get(0)).unwrap();
    n_events.unsigned_abs()
}

#[tokio::test]
async fn of_a_log_that_is_cut_everything_before_the_cut_is_brought_back() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let length = read(&wreckage, LOG).len();
    let mut n_in_cut = BTreeSet::new();
    for tenth in 0..=10 {
        let to = length * tenth / 10;
        let copied = wreckage.copied();
        change(copied.path(), LOG, |it| it.truncate(to));
        let it = recovered(copied.path()).await;
        let found = it.report.saved.n_events;
        let n_committed = n_events_of_sqlite(copied.path());
        assert!(found >= n_committed, "{found} of {n_committed} events, a log of {to} bytes");
        n_in_cut.insert(n_committed);
        // That something is missing of which the mark does not know yet cannot be noticed.
        let mark = LastMark::read(&Dir::open(copied.path()).unwrap()).unwrap().unwrap();
        let is_known = mark.position.0 > it.report.saved.last_position;
        assert!(!it.report.is_complete() || !is_known, "a log of {to} bytes");
    }
    assert!(n_in_cut.len() > 5 && !n_in_cut.contains(&0), "{n_in_cut:?}");
    assert_eq!(recovered(wreckage.dir.path()).await.told, wreckage.told);
}

#[tokio::test]
async fn a_page_that_only_leads_to_others_costs_nothing() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let database = read(&wreckage, DATABASE);
    let mut n_tried = [0; 4];
    for (n, page) in database.chunks_exact(PAGE).enumerate() {
        // Inner pages and leaves of indexes; the first one leads to all others.
        let kind = match (n, page[0]) {
            (0, _) => 0,
            (_, 0x05) => 1,
            (_, 0x02) => 2,
            (_, 0x0a) => 3,
            (_, _) => continue,
        };
        n_tried[kind] += 1;
        if n_tried[kind] > 8 {
            continue;
        }
        let what = format!("page {} ({:#04x})", n + 1, page[0]);
        let it = after(&wreckage, &what, |dir| zero(dir, n)).await;
        // Without the first, SQLite reads nothing of what no run proves.
        assert!(n == 0 || it.report.is_complete(), "{what}: {:#?}", it.report.lines());
        assert!(is_all_there(&it), "{what}: {:#?}", it.report.lines());
    }
    assert!(n_tried[0] == 1 && n_tried[1] > 0 && n_tried[3] > 0, "{n_tried:?}");
}

#[tokio::test]
async fn a_page_of_rows_costs_what_stood_on_it_and_no_more() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    let database = read(&wreckage, DATABASE);
    let (mut n_whole, mut n_tried) = (0, 0);
    for (n, page) in database.chunks_exact(PAGE).enumerate().skip(1) {
        let is_of_rows = page[0] == 0x0d || (page[0] == 0 && page.iter().any(|it| *it != 0));
        if !is_of_rows || n % 7 != 0 {
            continue;
        }
        n_tried += 1;
        let it = after(&wreckage, &format!("page {}", n + 1), |dir| zero(dir, n)).await;
        n_whole += u32::from(it.report.is_complete());
        // A text that is lost costs no event.
        if page[0] == 0 {
            assert!(it.report.missing.is_empty(), "{:#?}", it.report.lines());
        }
    }
    assert!(n_whole > 0 && n_whole < n_tried, "{n_whole} of {n_tried}");
}

fn zero(dir: &Path, page: usize) {
    change(dir, DATABASE, |it| it[page * PAGE..(page + 1) * PAGE].fill(0));
}

#[tokio::test]
async fn a_database_that_is_gone_leaves_what_the_log_has() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let remove =
        |name: &'static str| move |dir: &Path| std::fs::remove_file(dir.join(name)).unwrap();
    let it = after(&wreckage, "no database", remove(DATABASE)).await;
    assert!(it.report.saved.n_events > 0, "{:#?}", it.report.lines());
    let copied = wreckage.copied();
    remove(LOG)(copied.path());
    let it = recovered(copied.path()).await;
    assert!(it.report.saved.n_runs >= 6, "{:#?}", it.report.lines());
}

#[tokio::test]
async fn half_of_a_database_and_its_log_still_tell_what_they_have() {
    let wreckage = Wreckage::make(Newest::InTheLog).await;
    let half = |it: &mut Vec<u8>| it.truncate(it.len() / 2);
    let it = after(&wreckage, "half a database", |dir| change(dir, DATABASE, half)).await;
    assert!(it.report.saved.n_events > 0);
    let both = |dir: &Path| {
        change(dir, DATABASE, half);
        change(dir, LOG, |it| it[LOG_HEADER + 3 * FRAME + 500] ^= 1);
    };
    after(&wreckage, "half a database and a damaged log", both).await;
}

#[tokio::test]
async fn an_older_copy_is_brought_back_and_what_is_missing_is_counted() {
    let [older, newer] =
        [Wreckage::make(Newest::InTheLog).await, Wreckage::make(Newest::InTheDatabase).await];
    let it = after(&newer, "an older copy", |dir| {
        std::fs::copy(older.dir.path().join(DATABASE), dir.join(DATABASE)).unwrap();
    })
    .await;
    assert!(it.report.n_unknown_events > 0, "{:#?}", it.report.lines());
}

#[tokio::test]
async fn where_there_is_nothing_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let job = baton_recover::RecoverJob {
        from: &baton_files::Dir::open(dir.path()).unwrap(),
        scratch: &baton_files::Dir::open(scratch.path()).unwrap(),
        definitions: Vec::new(),
        archive: None,
        archived: None,
        is_mark_expected: false,
        now: jiff::Timestamp::UNIX_EPOCH,
    };
    let report = baton_recover::recover(&job).await.unwrap();
    assert!(report.method == RecoveryMethod::Nothing && !report.is_complete());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

/// The name of a workflow is in its text, and the hash of a package follows from it.
#[tokio::test]
async fn a_column_that_follows_from_a_proven_text_is_made_again() {
    let wreckage = Wreckage::make(Newest::InTheDatabase).await;
    for sql in [
        "update contents set hash = zeroblob(32) where kind = 'package'",
        "update definitions set name = 'another'",
    ] {
        let it = after(&wreckage, sql, |dir| {
            let connection = rusqlite::Connection::open(dir.join(DATABASE)).unwrap();
            assert!(connection.execute(sql, []).unwrap() > 0);
        })
        .await;
        assert_whole(&it, sql);
    }
}

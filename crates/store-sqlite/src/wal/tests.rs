use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::*;

/// A log of three transactions, as a killed process leaves it.
fn three_transactions(dir: &Path) -> Vec<u8> {
    let path = dir.join("t.db");
    let connection = crate::connect::writing(&path).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.execute_batch("create table t (x)").unwrap();
    for n in 0..2 {
        connection.execute("insert into t values (?1)", [format!("{n}").repeat(9000)]).unwrap();
    }
    drop(connection);
    fs::read(dir.join("t.db-wal")).unwrap()
}

fn read(bytes: &[u8]) -> Wal {
    Wal::read(bytes, bytes.len() as u64, |_| {}).unwrap()
}

#[track_caller]
fn frames(bytes: &[u8]) -> WalFrames {
    match read(bytes) {
        Wal::Frames(frames) => frames,
        other @ (Wal::Empty | Wal::HeaderBroken { .. }) => panic!("{other:?}"),
    }
}

#[test]
fn a_log_that_sqlite_wrote_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = three_transactions(dir.path());
    let mut transactions = Vec::new();
    Wal::read(&bytes[..], bytes.len() as u64, |pages| transactions.push(pages.to_vec())).unwrap();
    assert_eq!(transactions.len(), 3);
    let n_frames = (bytes.len() - WAL_HEADER) / (FRAME_HEADER + 4096);
    assert_eq!(transactions.concat().len(), n_frames);
    let found = frames(&bytes);
    let connection: Connection = crate::connect::writing(&dir.path().join("t.db")).unwrap();
    let n_pages: u32 = connection.query_row("pragma page_count", [], |row| row.get(0)).unwrap();
    let expected = WalFrames {
        header: found.header,
        n_whole: n_frames as u64,
        n_committed: n_frames as u64,
        n_pages: Some(n_pages),
        stranded: None,
    };
    assert_eq!(found, expected);
}

#[test]
fn a_flipped_bit_strands_every_frame_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let whole = three_transactions(dir.path());
    let frame = FRAME_HEADER + 4096;
    let n_frames = (whole.len() - WAL_HEADER) / frame;
    let ends_one = |n: &usize| be(&whole, WAL_HEADER + n * frame + 4).unwrap() > 0;
    for n in 0..n_frames {
        // In the page number, the salts, the checksum and the page.
        for at in [3, 9, 17, FRAME_HEADER + 1000] {
            let mut bytes = whole.clone();
            bytes[WAL_HEADER + n * frame + at] ^= 4;
            let found = frames(&bytes);
            assert_eq!(found.n_whole, n as u64, "frame {n}, byte {at}");
            // Behind the last frame there is nothing: an interrupted write looks the same.
            let expected = (n + 1..n_frames).find(ends_one).map(|it| it as u64);
            assert_eq!(found.stranded, expected, "frame {n}, byte {at}");
        }
    }
}

#[test]
fn a_log_that_is_cut_anywhere_ends_with_its_last_whole_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let whole = three_transactions(dir.path());
    let frame = FRAME_HEADER + 4096;
    let ends_one = |n: &usize| be(&whole, WAL_HEADER + n * frame + 4).unwrap() > 0;
    let mut seen = BTreeSet::new();
    for length in (WAL_HEADER..whole.len()).step_by(997) {
        let found = frames(&whole[..length]);
        let n_whole = (length - WAL_HEADER) / frame;
        let n_committed = (0..n_whole).rev().find(ends_one).map_or(0, |last| last + 1);
        let expected = (n_whole as u64, n_committed as u64, None);
        assert_eq!((found.n_whole, found.n_committed, found.stranded), expected, "{length} bytes");
        seen.insert(n_committed);
    }
    assert_eq!(seen.len(), 3, "cut in each of the transactions: {seen:?}");
}

#[test]
fn a_broken_header_is_told_from_an_empty_log() {
    let dir = tempfile::tempdir().unwrap();
    let whole = three_transactions(dir.path());
    assert_eq!(read(b""), Wal::Empty);
    for at in 0..WAL_HEADER {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert_eq!(read(&bytes), Wal::HeaderBroken { n_bytes: whole.len() as u64 }, "byte {at}");
        assert_eq!(read(&whole[..at.max(1)]), Wal::HeaderBroken { n_bytes: at.max(1) as u64 });
    }
}

#[test]
fn frames_of_the_log_before_are_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let connection = crate::connect::writing(&path).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.execute_batch("create table t (x)").unwrap();
    connection.execute("insert into t values (?1)", ["x".repeat(90_000)]).unwrap();
    connection.query_row("pragma wal_checkpoint(restart)", [], |_| Ok(())).unwrap();
    connection.execute("insert into t values (1)", []).unwrap();
    let bytes = fs::read(dir.path().join("t.db-wal")).unwrap();
    let found = frames(&bytes);
    assert!(found.n_committed > 0);
    assert!((found.n_whole as usize) < (bytes.len() - WAL_HEADER) / (FRAME_HEADER + 4096));
    assert_eq!(found.stranded, None);
}

#[test]
fn random_bytes_are_never_a_log() {
    let mut seed = 7_u64;
    for n_bytes in 0..300 {
        let bytes: Vec<u8> = (0..n_bytes)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed.to_be_bytes()[0]
            })
            .collect();
        let expected =
            if n_bytes == 0 { Wal::Empty } else { Wal::HeaderBroken { n_bytes: n_bytes as u64 } };
        assert_eq!(read(&bytes), expected);
    }
}

/// A failed commit leaves its frames, and a shorter one overwrites only some of them.
#[test]
fn what_a_failed_transaction_left_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let whole = three_transactions(dir.path());
    let frame = FRAME_HEADER + 4096;
    let n_frames = (whole.len() - WAL_HEADER) / frame;
    let ends_one = |n: usize| be(&whole, WAL_HEADER + n * frame + 4).unwrap() > 0;
    let last = (0..n_frames - 1).rev().find(|n| ends_one(*n)).unwrap();
    // The last transaction without its commit frame, and with another first frame.
    let mut bytes = whole[..WAL_HEADER + (n_frames - 1) * frame].to_vec();
    bytes[WAL_HEADER + (last + 1) * frame + 100] ^= 1;
    let found = frames(&bytes);
    assert_eq!((found.n_whole, found.stranded), (last as u64 + 1, None));
}

//! Checksums of rows that no event covers: they reveal changes made by a disk or another program.
//! They are no seal: a program that knows this file can recompute them.

use baton_core::run::{HandoffNo, RunId};
use rusqlite::{Connection, Row, Statement, params};
use sha2::{Digest as _, Sha256};

use crate::{cursors, idempotency, identity, story_log, timers};

/// One value of a row. Each is hashed with its type and its length, so that nothing can move from
/// one column to the next.
#[derive(Clone, Copy)]
pub(crate) enum ChecksumPart<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    Integer(i64),
    Null,
}

impl<'a> ChecksumPart<'a> {
    pub(crate) fn maybe_text(text: Option<&'a str>) -> Self {
        text.map_or(ChecksumPart::Null, ChecksumPart::Text)
    }
}

pub(crate) fn digest(parts: &[ChecksumPart<'_>]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        let integer;
        let (kind, bytes): (u8, &[u8]) = match part {
            ChecksumPart::Null => (0, &[]),
            ChecksumPart::Integer(it) => {
                integer = it.to_be_bytes();
                (1, &integer)
            }
            ChecksumPart::Text(it) => (2, it.as_bytes()),
            ChecksumPart::Bytes(it) => (3, it),
        };
        digest.update([kind]);
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    }
    digest.finalize().into()
}

/// Short, for the column of a row: eight bytes of the digest.
pub(crate) fn checksum(parts: &[ChecksumPart<'_>]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = digest(parts);
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Adds checksums to the rows of an older Baton, and starts the log of its stories.
pub(crate) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    fill_answered(connection)?;
    fill_cursors(connection)?;
    fill_timers(connection)?;
    identity::seal(connection)?;
    story_log::fill(connection)
}

fn fill_answered(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select rowid, scope, key, request, answered_at, answer from answered";
    let update = "update answered set checksum = ?2 where rowid = ?1";
    fill_rows(connection, rows, update, |row, update| {
        let (scope, key): (String, String) = (row.get(1)?, row.get(2)?);
        let (request, answer): ([u8; 32], String) = (row.get(3)?, row.get(5)?);
        let sum = idempotency::checksum(&scope, &key, &request, row.get(4)?, &answer);
        update.execute([row.get(0)?, sum])
    })
}

fn fill_cursors(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select rowid, projector, position from cursors";
    let update = "update cursors set checksum = ?2 where rowid = ?1";
    fill_rows(connection, rows, update, |row, update| {
        let sum = cursors::checksum(&row.get::<_, String>(1)?, row.get(2)?);
        update.execute([row.get(0)?, sum])
    })
}

fn fill_timers(connection: &Connection) -> rusqlite::Result<()> {
    let rows = "select timers.run_number, timers.no, timers.fence, timers.due_at, runs.id
                from timers join runs on runs.number = timers.run_number";
    let update = "update timers set checksum = ?3 where run_number = ?1 and no = ?2";
    fill_rows(connection, rows, update, |row, update| {
        let (run_number, no): (i64, u32) = (row.get(0)?, row.get(1)?);
        let run = RunId(uuid::Uuid::from_bytes(row.get(4)?));
        let sum = timers::checksum(run, HandoffNo(no), row.get(2)?, row.get(3)?);
        update.execute(params![run_number, no, sum])
    })
}

/// Calls `fill` with each of `rows` and the statement that writes its checksum.
pub(crate) fn fill_rows(
    connection: &Connection,
    rows: &str,
    update: &str,
    mut fill: impl FnMut(&Row<'_>, &mut Statement<'_>) -> rusqlite::Result<usize>,
) -> rusqlite::Result<()> {
    let mut update = connection.prepare(update)?;
    let mut statement = connection.prepare(rows)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        fill(row, &mut update)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_move_from_one_part_to_the_next() {
        let different = [
            &[ChecksumPart::Text("ab"), ChecksumPart::Text("c")][..],
            &[ChecksumPart::Text("a"), ChecksumPart::Text("bc")],
            &[ChecksumPart::Text("abc")],
            &[ChecksumPart::Bytes(b"abc")],
            &[ChecksumPart::Text("abc"), ChecksumPart::Null],
            &[ChecksumPart::Text("abc"), ChecksumPart::Text("")],
            &[ChecksumPart::Integer(0)],
            &[ChecksumPart::Null],
            &[],
        ];
        for (i, a) in different.iter().enumerate() {
            for b in &different[i + 1..] {
                assert_ne!(checksum(a), checksum(b));
            }
        }
    }
}

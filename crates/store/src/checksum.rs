//! Checksums of rows that no event covers: they reveal changes made by a disk or another program.
//!
//! They are no seal: a program that knows this file can recompute them. Both SQL backends write the
//! same ones, so that a store can be moved from one to the other.

use baton_core::run::{HandoffNo, RunId};
use sha2::{Digest as _, Sha256};

/// One value of a row. Each is hashed with its type and its length, so that nothing can move from
/// one column to the next.
#[derive(Clone, Copy)]
pub enum ChecksumPart<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    Integer(i64),
    Null,
}

impl<'a> ChecksumPart<'a> {
    pub fn maybe_text(text: Option<&'a str>) -> Self {
        text.map_or(ChecksumPart::Null, ChecksumPart::Text)
    }
}

/// What is hashed of some values: their types, lengths and bytes.
pub fn framed(parts: &[ChecksumPart<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        let integer;
        let (kind, value): (u8, &[u8]) = match part {
            ChecksumPart::Null => (0, &[]),
            ChecksumPart::Integer(it) => {
                integer = it.to_be_bytes();
                (1, &integer)
            }
            ChecksumPart::Text(it) => (2, it.as_bytes()),
            ChecksumPart::Bytes(it) => (3, it),
        };
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_be_bytes());
        bytes.extend(value);
    }
    bytes
}

pub fn digest(parts: &[ChecksumPart<'_>]) -> [u8; 32] {
    Sha256::digest(framed(parts)).into()
}

/// Short, for the column of a row: eight bytes of the digest.
pub fn checksum(parts: &[ChecksumPart<'_>]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = digest(parts);
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Of a timer: the columns that a heartbeat changes. All others follow from the run, and are
/// compared with it.
pub fn of_timer(run: RunId, no: HandoffNo, fence: Option<u32>, due_at: i64) -> i64 {
    let fence = fence.map_or(ChecksumPart::Null, |it| ChecksumPart::Integer(it.into()));
    let (run, no) = (ChecksumPart::Bytes(run.0.as_bytes()), ChecksumPart::Integer(no.0.into()));
    checksum(&[run, no, fence, ChecksumPart::Integer(due_at)])
}

/// Of the time at which a run is due: it is early rather than exact, so only a checksum shows what
/// was written.
pub fn of_due(run: RunId, due_at: i64) -> i64 {
    checksum(&[ChecksumPart::Bytes(run.0.as_bytes()), ChecksumPart::Integer(due_at)])
}

/// Of an idempotency record.
pub fn of_answered(scope: &str, key: &str, request: &[u8], at: i64, answer: &str) -> i64 {
    checksum(&[
        ChecksumPart::Text(scope),
        ChecksumPart::Text(key),
        ChecksumPart::Bytes(request),
        ChecksumPart::Integer(at),
        ChecksumPart::Text(answer),
    ])
}

/// Of a projector's cursor.
pub fn of_cursor(projector: &str, position: i64) -> i64 {
    checksum(&[ChecksumPart::Text(projector), ChecksumPart::Integer(position)])
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
